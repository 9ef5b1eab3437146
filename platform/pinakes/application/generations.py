"""Old generations of a collection: which there are, and dropping them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from pinakes import SOFTWARE
from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.unknown_files import require_collection_known
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.mending import Mender
from pinakes.dedupe.run.old_generations import (
    DroppedGeneration,
    OldGeneration,
    OldGenerations,
    drop_each,
)
from pinakes.dedupe.run.remaining import Remaining
from pinakes.errors import PinakesError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.profile import Stores

VERB = "generations"


@dataclass(frozen=True, slots=True, kw_only=True)
class DropReport:
    """What dropping did, or would do; `problems` are why others are kept.

    `files_mended` are those of which a new generation was written from an old one, which alone
    held `records_mended` whole.
    """

    dropped: tuple[DroppedGeneration, ...]
    files_mended: int
    records_mended: int
    problems: tuple[PinakesError, ...]


def list_generations(
    stores: Stores, collection: str, *, crawl: str | None = None
) -> Iterator[OldGeneration]:
    """Those that are there, by file and number.  Raises ConfigError for an unknown crawl."""
    collection = _collection_of(stores, collection, crawl)
    yield from old_generations(stores, Actor(), 0).listed(_entries(stores, collection, crawl))


def drop_generations(
    stores: Stores,
    collection: str,
    *,
    crawl: str | None = None,
    grace_ms: int,
    on_dropped: Callable[[DroppedGeneration], None] = lambda dropped: None,
    plan: bool = False,
) -> DropReport:
    """Delete those that were replaced for `grace_ms`, once what they hold was read elsewhere.

    What an old generation alone holds whole is put into a new one of its file first.  With `plan`
    nothing is changed.  Killed anywhere, the same call goes on.

    Raises:
        ConfigError: an unknown crawl.
        Conflict: another act works on the collection, or did not finish.
        DigestMismatch: the catalogue does not know a file, or has lost a crawl.
    """
    collection = _collection_of(stores, collection, crawl)
    dropped: list[DroppedGeneration] = []

    def noted(one: DroppedGeneration) -> None:
        dropped.append(one)
        on_dropped(one)

    actor = Actor()
    remaining = Remaining(stores.rows, stores.archive)
    old = old_generations(stores, actor, grace_ms, noted)
    if plan:
        entries = _entries(stores, collection, crawl)
        problems = list(drop_each(partial(old.drop, remaining, dry_run=True), entries))
        return DropReport(
            dropped=tuple(dropped), files_mended=0, records_mended=0, problems=tuple(problems)
        )
    require_collection_known(stores.rows, stores.archive, collection, crawl=crawl)
    with Act.begin(stores.rows, stores.archive, actor, VERB, collection) as act:
        act.note(software=SOFTWARE, arguments=(crawl or "", str(grace_ms)))
        mender = Mender(act, remaining)
        # Read under the lease: another act may have moved files before.
        kept = _kept(act, _entries(stores, collection, crawl))
        problems = list(drop_each(partial(old.drop, remaining, mend=mender.mend), kept))
    return DropReport(
        dropped=tuple(dropped),
        files_mended=mender.files,
        records_mended=mender.records,
        problems=tuple(problems),
    )


def _kept(act: Act, entries: list[FileEntry]) -> Iterator[FileEntry]:
    for entry in entries:
        act.keep()
        yield entry


def _collection_of(stores: Stores, collection: str, crawl: str | None) -> str:
    return collection if crawl is None else require_crawl(stores.rows, crawl).facts.collection


def _entries(stores: Stores, collection: str, crawl: str | None) -> list[FileEntry]:
    entries = Collection(stores.rows, stores.archive, collection).entries
    return [entry for name, entry in sorted(entries.items()) if crawl in (None, crawl_of(name))]


def old_generations(
    stores: Stores,
    actor: Actor,
    grace_ms: int,
    on_dropped: Callable[[DroppedGeneration], None] = lambda dropped: None,
) -> OldGenerations:
    """Those of a store that may go, once they were replaced for `grace_ms`."""
    return OldGenerations(
        rows=stores.rows,
        archive=stores.archive,
        actor=actor,
        grace_ms=grace_ms,
        on_dropped=on_dropped,
    )
