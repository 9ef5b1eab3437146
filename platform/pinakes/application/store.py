"""A store from Python: what it holds, and what can be done with it.

Exported as `pinakes.open_store`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path

from pinakes.backup.restoring import RestoreReport
from pinakes.config import Configuration, load_configuration
from pinakes.dedupe.run.old_generations import OldGeneration
from pinakes.dedupe.run.plan import Plan
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeProgress, DedupeRequest
from pinakes.dedupe.run.store_run import COMPARE
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES
from pinakes.deletion.requests import (
    PROMOTE,
    REFERENCES,
    WITHDRAW,
    DeletionReport,
    WithdrawalReport,
    WithdrawalRequest,
)
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.profile import create_stores, open_stores
from pinakes.rewrite.recompress_file import Recompression
from pinakes.warc.file_progress import Advance, no_advance

from .backups import restore
from .checking import StoreFinding, check_store
from .deduping import DedupeRun, dedupe, forecast, settled
from .deleting import remove_crawl, withdraw_captures
from .generations import DropReport, drop_generations, list_generations
from .inputs import AnyPath
from .recompressing import LEVEL, CompressionChoice, CrawlsToRecompress
from .status import StoreStatus, read_status
from .store_exchange import StoreExchange


class Store(StoreExchange):
    """An open store; get one from `open_store`."""

    def dedupe(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        compare: str = "bytes",
        sample_bytes: float = 0.001,
        seed: str = "",
        min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
        min_file_saving: float = 0.01,
        drop_old: timedelta | None = None,
        jobs: int = 1,
        watched: Callable[[], AbstractContextManager[DedupeProgress]] = lambda: nullcontext(
            UNWATCHED
        ),
    ) -> list[DedupeRun]:
        """Write duplicates as revisits, as `pinakes dedupe` does: of a crawl, against all before
        it, or of all crawls of a collection.

        The options are those of the verb.  With `drop_old` the generations that were replaced so
        long ago are deleted, once what they hold was read elsewhere.  `jobs` are processes, which
        import `__main__` again.  `watched` gives what is called in each run with the step that is
        under way (`begin`) and how many bytes of it are done (`advance`).  Killed anywhere, the
        next call completes what was begun: then there are two runs.

        Raises:
            ConfigError: an unknown crawl or way to compare.
            Conflict: another act works on the collection, or did not finish.
            DigestMismatch: all crawls are asked for, and the catalogue has lost some.
            StoreUnavailable: the disk is full, or a file cannot be read.
        """
        _require_one_of("compare", compare, COMPARE)
        request = DedupeRequest(
            collection=collection,
            crawl=crawl,
            compare=compare != "none",
            sample_bytes=sample_bytes if compare == "sha256" else None,
            seed=seed,
            min_saving_bytes=min_saving_bytes,
            min_file_saving=min_file_saving,
        )
        grace_ms = None if drop_old is None else drop_old // timedelta(milliseconds=1)
        return dedupe(
            self._stores,
            settled(self._stores, request),
            grace_ms=grace_ms,
            jobs=jobs,
            watched=watched,
        )

    def plan_dedupe(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
        min_file_saving: float = 0.01,
        sample: float = 1.0,
        decided_on: Callable[[ManifestLine], None] | None = None,
    ) -> Plan:
        """What `dedupe` would save, as `pinakes dedupe --plan` forecasts it; writes nothing.

        From this part of the contents, with a 95% interval.  `decided_on` is called with a line
        for each capture, which says what it would refer to, or why it stays full.  `Raises` as
        `dedupe`.
        """
        request = DedupeRequest(
            collection=collection,
            crawl=crawl,
            min_saving_bytes=min_saving_bytes,
            min_file_saving=min_file_saving,
        )
        request = settled(self._stores, request)
        return forecast(self._stores, request, fraction=sample, decided_on=decided_on)

    def generations(
        self, crawl: str | None = None, *, collection: str = "default"
    ) -> Iterator[OldGeneration]:
        """The old generations that are there, as `pinakes generations` lists them.

        Raises ConfigError for an unknown crawl.
        """
        return list_generations(self._stores, collection, crawl=crawl)

    def drop_generations(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        grace: timedelta = timedelta(days=1),
        plan: bool = False,
    ) -> DropReport:
        """Delete those that were replaced so long ago, once what they hold was read elsewhere.

        What an old generation alone holds whole is put into a new one of its file first, and the
        old one stays.  With `plan` nothing is changed.  Killed anywhere, the same call goes on.

        Raises:
            ConfigError: an unknown crawl.
            Conflict: another act works on the collection, or did not finish.
            DigestMismatch: the catalogue does not know a file, or has lost a crawl.
        """
        return drop_generations(
            self._stores,
            collection,
            crawl=crawl,
            grace_ms=grace // timedelta(milliseconds=1),
            plan=plan,
        )

    def recompress(
        self,
        crawl: str,
        *,
        level: int | None = LEVEL,
        plain: bool = False,
        dictionary: bytes | None = None,
        again: bool = False,
        min_file_saving: float = 0.01,
        threads: int = 1,
        plan: bool = False,
        advance: Advance = no_advance,
    ) -> Iterator[Recompression | PinakesError]:
        """Write the files of a crawl or collection in another compression, as `pinakes zstd` does.

        In Zstandard, with the dictionary given, or that its collection keeps; with None for `level`
        in gzip, or uncompressed where `plain`.  Yields the result of each file, or why it stays as
        it is; draw them all.  `again`, `min_file_saving`: as the options of the verb.  With `plan`
        nothing is written, and large files are judged by a sample.  `advance` is called with how
        many more bytes are done.  Killed anywhere, the same call goes on.

        Raises:
            ConfigError: an unknown crawl, or a level or dictionary that cannot be used.
            Conflict: another act works on the collection, or did not finish.
            StoreUnavailable: the disk is full, or a server away; call it again.
        """
        to = CompressionChoice(level=level, dictionary=dictionary, plain=plain)
        for _, result in CrawlsToRecompress(self._stores, [crawl], to).recompress(
            plan=plan,
            again=again,
            min_saving=0 if level is None else min_file_saving,
            threads=threads,
            advance=advance,
        ):
            yield result

    def status(self, *, duplicates: bool = True) -> StoreStatus:
        """What the store has, what is at work, and what needs care, as `pinakes status` says it.

        Without `duplicates` those that `dedupe` would write are not counted, and no sidecar is
        read.
        """
        return read_status(self._stores, self._configuration, duplicates=duplicates)

    def check(
        self, *, quick: bool = False, full: bool = False, seed: int = 0, repair: bool = False
    ) -> Iterator[StoreFinding]:
        """Yield what does not agree in the store, as `pinakes fsck` does; lazy.

        `quick` reads no archive file, `full` every record; else a sample by `seed` is read.  With
        `repair` each is mended before it is yielded, where it can be.
        """
        return check_store(self._stores, quick=quick, full=full, seed=seed, repair=repair)

    def remove(
        self, crawl: str, *, references: str = "refuse", plan: bool = False
    ) -> DeletionReport:
        """Delete a crawl, open or committed, as `pinakes crawl remove` does.

        `references`: `refuse`, `promote` or `force`, as for the verb.  With `plan` nothing is
        changed, and the report says what would be.  Where its `references` prevent it, nothing is
        either.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: the crawl does not exist, or is going otherwise.
            Conflict: another act works on its collection, or did not finish.
        """
        _require_one_of("references", references, REFERENCES)
        return remove_crawl(self._stores, crawl, references, plan=plan)

    def purge(
        self, crawl: str, *, references: str = "refuse", plan: bool = False
    ) -> DeletionReport:
        """The old name of `remove`."""
        return self.remove(crawl, references=references, plan=plan)

    def withdraw(
        self,
        targets: Iterable[str],
        *,
        reason: str,
        by: str,
        references: str = "promote",
        plan: bool = False,
    ) -> list[WithdrawalReport]:
        """Take captures down, as `pinakes withdraw` does: a report for each collection.

        `targets` are keys of captures, digests of bodies, or URLs; `reason` and `by` (who asks)
        are kept in the store.  `references`: `promote` or `withdraw`, as for the verb.  With `plan`
        nothing is changed.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: no reason is given, or a digest is malformed.
            InputRefused: nothing is known by one of the targets.
            Conflict: another act works on a collection, or a backup holds files of the store.
        """
        _require_one_of("references", references, (PROMOTE, WITHDRAW))
        if not (plan or (reason.strip() and by.strip())):
            raise ConfigError("say why, and who asks for it: both are kept in the store")
        request = WithdrawalRequest(
            targets=tuple(targets), reason=reason, by=by, references=references
        )
        return list(withdraw_captures(self._stores, request, plan=plan))


@contextmanager
def open_store(folder: AnyPath, *, create: bool = False) -> Iterator[Store]:
    """Open the embedded store in a folder; with `create`, make it there if there is none.

    Raises:
        ConfigError: there is none.
        SchemaError: it was made by another version.
    """
    configuration = _embedded(folder)
    if create:
        create_stores(configuration)
    with open_stores(configuration) as stores:
        yield Store(stores, configuration)


def restore_backup(
    backup: AnyPath, folder: AnyPath, *, advance: Advance = no_advance
) -> RestoreReport:
    """Make an embedded store in a folder, where there is none, of what a backup holds.

    `advance` counts files.  Killed anywhere, the same call goes on.

    Raises:
        ConfigError: there is no complete backup, or the store is not empty.
        SchemaError: the backup was made by a newer Pinakes.
        DigestMismatch: a file of the backup is not what was written.
    """
    return restore(_embedded(folder), os.fspath(backup), advance=advance)


def _embedded(folder: AnyPath) -> Configuration:
    return load_configuration(
        options={"profile": "embedded", "store": os.fspath(folder)},
        environment={},
        folder=Path("/"),
    )


def _require_one_of(name: str, value: str, values: Iterable[str]) -> None:
    if value not in values:
        raise ConfigError(f"{name} is {value!r}, and should be one of {', '.join(values)}")
