"""Commit a crawl: no more files join it, and it is deleted by `remove`, not `cancel`.

    nothing is landing ─▶ crawl `committed` ─▶ counted: reports that never landed, revisits that
    refer to nothing ─▶ noted ─▶ reports deleted

The state is the commit.  What comes after it is found and noted once, by the first process;
killed anywhere, the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.crawl_rows import (
    COMMITTED,
    OPEN,
    TABLE,
    CrawlEntry,
    change_crawl_state,
    require_crawl,
)
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.reported import (
    delete_scope,
    reports_at,
    scan_not_landed,
    scan_scopes_of,
)
from pinakes.catalog.requirements import scan_unresolved
from pinakes.catalog.sidecar import SidecarRow
from pinakes.errors import ConfigError, Conflict
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import encode_crawl_key
from pinakes.hbase_schema.seen_cells import CommitFindings
from pinakes.hbase_schema.seen_keys import SeenScope
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore

LISTED = 1000
"""At most so many revisits that refer to nothing are listed."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A revisit by a crawler that refers to nothing in the store."""

    capture: str
    target_uri: str
    date: str


@dataclass(slots=True)
class Commit:
    """The result: `is_new` unless the crawl was committed already.

    `unresolved` lists the first of the revisits that `findings` counts, where they were counted
    now.
    """

    crawl: str
    is_new: bool
    findings: CommitFindings
    unresolved: list[Unresolved] = field(default_factory=list)


def commit_crawl(
    rows: RowStore,
    archive: ArchiveReader,
    crawl: str,
    actor: Actor,
    *,
    dry_run: bool = False,
    at: Callable[[str], None] = lambda step: None,
) -> Commit:
    """Make an open crawl committed, and say what it left open.

    A landing that began before the commit and ends after it is part of the crawl.  Reads the
    sidecars of files with revisits by crawlers.

    Raises:
        ConfigError: the crawl does not exist, or was taken out.
        Conflict: some of its files are landing, or did not finish; the message names them.
    """
    entry = require_crawl(rows, crawl)
    if entry.state not in (OPEN, COMMITTED):
        raise ConfigError(f"the crawl {crawl} is {entry.state}: only open crawls can be committed")
    is_new = entry.state == OPEN
    if is_new:
        _require_landed(rows, crawl)
    if is_new and not dry_run:
        mine = actor.new_act("commit")
        act = change_crawl_state(rows, crawl, (OPEN,), COMMITTED, act=mine)
        is_new = act == mine
        at("committed")
        entry = replace(entry, state=COMMITTED, act=act)
    scopes = list(scan_scopes_of(rows, entry.facts.collection, crawl))
    now = require_crawl(rows, crawl)
    if now.act != entry.act:
        # Taken out since then, and perhaps begun again: then those reports are not of this crawl.
        raise Conflict(f"another process has changed the crawl {crawl}")
    entry = now
    if entry.is_settled and entry.findings is not None:
        done = Commit(crawl, is_new, entry.findings)
    else:
        done = _count(rows, archive, entry, scopes)
        done.is_new = is_new
    if dry_run:
        return done
    if not entry.is_settled:
        done = _note(rows, done, entry.findings)
        at("noted")
    for scope in scopes:
        delete_scope(rows, scope)
        at("deleted")
    return done


def _require_landed(rows: RowStore, crawl: str) -> None:
    under_way = [
        file.archive_file
        for file in scan_entries(rows, crawl)
        if file.state is not None and (file.state.is_landing or file.state.is_leaving)
    ]
    if under_way:
        more = f", and {len(under_way) - 3} more" if len(under_way) > 3 else ""
        raise Conflict(
            f"files of the crawl {crawl} did not finish landing: {', '.join(under_way[:3])}{more}; "
            "ingest them again, or run `pinakes fsck --repair`"
        )


def _count(
    rows: RowStore, archive: ArchiveReader, entry: CrawlEntry, scopes: Sequence[SeenScope]
) -> Commit:
    """What the crawl leaves open, as it is now."""
    landed = never_landed = unresolved = to_reported = 0
    for scope in scopes:
        for known, missing in scan_not_landed(rows, scope):
            landed += known
            never_landed += len(missing)
    listed: list[Unresolved] = []
    for found in scan_unresolved(rows, archive, entry.crawl):
        unresolved += len(found)
        to_reported += _count_reported(rows, scopes, found)
        listed += [_listed(row) for row in found[: LISTED - len(listed)]]
    findings = CommitFindings(
        act=entry.act,
        landed=landed,
        never_landed=never_landed,
        unresolved=unresolved,
        to_reported=to_reported,
    )
    return Commit(entry.crawl, entry.state == OPEN, findings, listed)


def _count_reported(
    rows: RowStore, scopes: Sequence[SeenScope], found: Sequence[SidecarRow]
) -> int:
    """How many of these revisits name the URL and second of a capture that was reported."""
    named = [
        (at, second)
        for row in found
        if (second := second_of(row.refers_date or ""))
        for at in [encode_urlkey(urlkey(row.refers_uri or row.target_uri or ""))]
    ]
    there = {
        at
        for scope in scopes
        for at, some in reports_at(rows, scope, dict.fromkeys(named)).items()
        if some
    }
    return sum(at in there for at in named)


def _listed(row: SidecarRow) -> Unresolved:
    key = (row.row_key or b"").decode("ascii")
    return Unresolved(key, row.refers_uri or row.target_uri or "", row.refers_date or "")


def _note(rows: RowStore, done: Commit, before: CommitFindings | None) -> Commit:
    """Note what was found, if no process has."""
    key = encode_crawl_key(done.crawl)
    was = encode_cell(before) if before is not None else None
    value = encode_cell(done.findings)
    if rows.check_and_put(TABLE, key, CommitFindings.COLUMN, expected=was, value=value):
        return done
    entry = require_crawl(rows, done.crawl)
    if entry.findings is None or entry.findings.act != done.findings.act:
        raise Conflict(f"the crawl {done.crawl} is {entry.state}: another process has changed it")
    return Commit(done.crawl, done.is_new, entry.findings)
