"""What a crawl's revisits need of other crawls, and what becomes of each where it stands alone.

refers to                               in the WACZ file        in one that stands alone
a full record of the crawl              as it is                as it is
a record of another crawl               as it is, named         full, with the body of that
a revisit of the crawl that refers      as it is                as it is: that becomes full
  to another crawl
a revisit of the crawl that does not    as it is                full, with the body of that
nothing in the store                    as it is, counted       refused
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import CaptureRow, get_captures
from pinakes.catalog.file_rows import FileEntry, read_entries
from pinakes.catalog.page_lists import package_of
from pinakes.catalog.payloads import have_one_body
from pinakes.catalog.required_files import RequiredFile
from pinakes.catalog.requirements import Referring, iter_referring
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.wacz_rows import read_wacz_file
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.file_names import base_name

from .contents import facts_now

_BATCH = 500
_NAMED = 3


class JudgedRevisit(NamedTuple):
    """A revisit; `body` is the capture whose body it gets where the crawl stands alone, None: it
    stays; `needs` are the archive files of other crawls that it needs otherwise.  Where it may mean
    several bodies, it is not certain that this is the one."""

    row: SidecarRow
    is_resolved: bool
    body: CaptureRow | None = None
    needs: tuple[str, ...] = ()
    is_certain: bool = True


@dataclass(slots=True)
class Dependencies:
    """References out of a crawl: by archive file of another crawl, and to nothing in the store.

    `examples` are the first of the latter.  `restored` counts those that would be made full.
    """

    needs: Counter[str] = field(default_factory=Counter)
    restored: int = 0
    unresolved: int = 0
    examples: list[UnresolvedReference] = field(default_factory=list)


def read_dependencies(
    store: RowStore, archive: ArchiveReader, entries: Iterable[FileEntry]
) -> Dependencies:
    """What the revisits of these files need.  Reads their sidecars, and rows.

    Memory: the names of the files that are needed.
    """
    found = Dependencies()
    for entry in entries:
        for judged in judge_revisits(store, archive, entry):
            found.needs.update(judged.needs)
            found.restored += judged.body is not None
            if not judged.is_resolved:
                found.unresolved += 1
                if len(found.examples) < _NAMED:
                    found.examples.append(unresolved(entry, judged.row))
    return found


def unresolved(entry: FileEntry, row: SidecarRow) -> UnresolvedReference:
    """What is wrong with a revisit that refers to nothing."""
    return UnresolvedReference(
        "this revisit refers to nothing that is in the store",
        file=entry.stored_name,
        offset=row.offset,
    )


def judge_revisits(
    store: RowStore, archive: ArchiveReader, entry: FileEntry
) -> Iterator[JudgedRevisit]:
    """Yield every revisit of a stored file, in order.  Cost: that of `iter_referring`."""
    crawl = crawl_of(entry.archive_file)
    referring = iter_referring(store, archive, entry)
    while batch := list(islice(referring, _BATCH)):
        marks = {_marked(capture) or b"" for one in batch for capture in one.targets}
        originals = get_captures(store, sorted(marks - {b""}))
        yield from (judge(one, originals, crawl) for one in batch)


def judge(referring: Referring, originals: Mapping[bytes, CaptureRow], crawl: str) -> JudgedRevisit:
    """What becomes of a revisit; `originals` are those of targets that are revisits of ours."""
    row, targets = referring.row, referring.targets
    if not targets:
        return JudgedRevisit(row, is_resolved=False)
    target = targets[0]
    is_own = _is_of(target, crawl)
    if row.is_replaced:
        body = target
    elif any(_is_of(one, crawl) and not one.is_duplicate for one in targets):
        return JudgedRevisit(row, is_resolved=True)
    else:
        found = originals.get(_marked(target) or b"") if target.is_duplicate else target
        if found is None:
            return JudgedRevisit(row, is_resolved=False)
        body = found
        if is_own and not _is_of(body, crawl):
            return JudgedRevisit(row, is_resolved=True)
        if is_own:
            return JudgedRevisit(row, is_resolved=True, body=body)
    if is_own:
        return JudgedRevisit(row, is_resolved=True)
    files = dict.fromkeys((target.facts.archive_file, body.facts.archive_file))
    needs = tuple(name for name in files if crawl_of(name) != crawl)
    is_certain = row.is_replaced or have_one_body(targets)
    return JudgedRevisit(row, is_resolved=True, body=body, needs=needs, is_certain=is_certain)


def _is_of(capture: CaptureRow, crawl: str) -> bool:
    return crawl_of(capture.facts.archive_file) == crawl


def _marked(capture: CaptureRow) -> bytes | None:
    """The original of a revisit of ours, by the mark of its capture."""
    mark = capture.dedupe
    if not capture.is_duplicate or mark is None or mark.refers_to_key is None:
        return None
    return mark.refers_to_key.encode("ascii")


def requires_of(
    store: RowStore, collection: str, needs: Iterable[str], missing: Sequence[RequiredFile]
) -> list[dict[str, object]]:
    """`relation.requires` for these archive files, by crawl and name, and then what WACZ files of
    the crawl require that the store does not have, as they say it.

    A file that landed with a WACZ file is named by that, which holds its originals even if it has
    changed here since; another one by its own name and SHA-256, as it is now.  Round trips: one or
    two for each file.
    """
    requires: dict[tuple[str, str], dict[str, object]] = {}
    members: dict[tuple[str, str], list[dict[str, object]]] = defaultdict(list)
    for name, entry in sorted(read_entries(store, sorted(needs)).items()):
        crawl, _, path = name.partition("/")
        package = package_of(path)
        wacz = read_wacz_file(store, collection, crawl, package) if package else None
        if wacz is not None and wacz.captures is not None and package is not None and entry.facts:
            facts = {"filename": package, "hash": wacz.sha256, "size": wacz.size}
            resource = {"path": path[len(package) + 1 :], "hash": f"sha256:{entry.facts.sha256}"}
            members[crawl, package].append({**resource, "bytes": entry.facts.size})
        else:
            now, _ = facts_now(store, entry)
            package = None
            facts = {
                "filename": base_name(entry.current.outside_name),
                "hash": now.sha256,
                "size": now.size,
            }
        requires[crawl, package or path] = {**facts, "crawlId": crawl}
    known = [
        {**requires[key], "resources": members[key]} if key in members else requires[key]
        for key in sorted(requires)
    ]
    # Several WACZ files of a crawl may say the same.
    said = {json.dumps(dict(one.entry), sort_keys=True): dict(one.entry) for one in missing}
    return [*known, *said.values()]
