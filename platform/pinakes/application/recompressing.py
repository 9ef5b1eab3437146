"""Archive files in another compression: files into a folder, or crawls' next generations."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pinakes.acts.actor import Actor
from pinakes.archive_store.located import is_at, local_path, output_name, size_at
from pinakes.catalog.crawl_rows import crawls_named
from pinakes.catalog.file_rows import scan_entries
from pinakes.errors import ONE_FILE_ONLY, ConfigError, PinakesError, StoreUnavailable
from pinakes.profile import Stores
from pinakes.recompression.forms import IN_GZIP, UNCOMPRESSED, StoredForm, in_zstd, in_zstd_as_kept
from pinakes.recompression.stored import StoredRecompressor, TasksOf
from pinakes.rewrite.recompress import MemberForm
from pinakes.rewrite.recompress_file import Recompression, plan_file, recompress_file
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.file_names import is_remote
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.warc.source import Source
from pinakes.workers import Died, Workers, in_order

from .events import Begin
from .inputs import refuse_clashes

LEVEL = 9
"""docs/zstd.md says why."""
_WAIT_S = 0.5
Result = Recompression | PinakesError
"""Of a file; or why it was not written."""
_Task = tuple[int, str]


class CompressionChoice(NamedTuple):
    """Zstandard of a level, with a dictionary or none; without a level gzip, or `plain`.

    Plain values, so that a process can be given it.
    """

    level: int | None = LEVEL
    dictionary: bytes | None = None
    plain: bool = False

    def form(self) -> StoredForm:
        """`Raises` ConfigError for a level or dictionary that cannot be used."""
        if self.level is None:
            return UNCOMPRESSED if self.plain else IN_GZIP
        if self.dictionary is None:
            return in_zstd(self.level, None)
        return in_zstd(
            self.level, dictionary_in(Source(BytesIO(self.dictionary), name="dictionary"))
        )


# --- files


def without_clashes(names: Sequence[str], folder: Path | None, form: MemberForm) -> list[str]:
    """The inputs, but for what an earlier run has made of another of them in the same folder.

    `folder` is that of the output, a path or a URL; None: no input is in it.
    Raises ConfigError where two inputs would be written under one name.
    """
    by_target: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_target[form.name(output_name(name))].append(name)
    for target, of_one in by_target.items():
        others = [name for name in of_one if folder is None or not _is_at(name, folder / target)]
        of_one[:] = others or of_one
    refuse_clashes(by_target)
    kept = set(chain.from_iterable(by_target.values()))
    return [name for name in names if name in kept]


def _is_at(place: str, path: Path) -> bool:
    return not is_remote(place) and os.path.realpath(local_path(place)) == os.path.realpath(path)


def recompress_files(
    names: Sequence[str],
    folder: Path,
    to: CompressionChoice,
    *,
    jobs: int = 1,
    plan: bool = False,
    dry_run: bool = False,
    min_saving: float = 0,
    begin: Begin,
) -> Generator[tuple[str, Result], None, None]:
    """Each file with its result, in order; to be closed.

    A process does one file at a time, so that they share nothing; where there are more `jobs` than
    files, each compresses by several threads.  `plan`: by a sample of large files, writing none.

    Raises:
        StoreUnavailable: the disk is full, or a process has died; run again.
    """
    processes = min(jobs, len(names))
    write = partial(_write, folder, plan, dry_run, min_saving)
    if processes < 2:
        form, advance = to.form().form, begin()
        for name in names:
            yield name, write(name, form, jobs, advance)
        return
    # The largest are begun first, so that no process is left alone with one at the end.
    sizes = [size_at(name) or 0 for name in names]
    order = sorted(range(len(names)), key=lambda number: (-sizes[number], number))
    tasks = [(number, names[number]) for number in order]
    work = partial(_working, write, to, jobs // processes)
    with Workers[_Task, Result](processes, work) as workers:
        advance = begin()

        def report() -> None:
            advance(workers.advanced())

        answers = workers.answered(tasks, timeout_s=_WAIT_S, wait=report)
        results = in_order((number, _done(name, answer)) for (number, name), answer in answers)
        yield from zip(names, results, strict=True)
        report()


def _done(name: str, answer: Result | Died) -> Result:
    if isinstance(answer, Died):
        raise StoreUnavailable(
            "the process that was at work on it has died: run the command again", file=name
        )
    return answer


@contextmanager
def _working(
    write: Callable[[str, MemberForm, int, Advance], Result],
    to: CompressionChoice,
    threads: int,
    advance: Advance,
) -> Iterator[Callable[[_Task], Result]]:
    form = to.form().form
    yield lambda task: write(task[1], form, threads, advance)


def _write(
    folder: Path,
    plan: bool,
    dry_run: bool,
    min_saving: float,
    name: str,
    form: MemberForm,
    threads: int,
    advance: Advance,
) -> Result:
    work = plan_file if plan else partial(recompress_file, dry_run=dry_run)
    try:
        return work(name, folder, form, min_saving=min_saving, threads=threads, advance=advance)
    except ONE_FILE_ONLY as problem:
        return problem


# --- crawls of a store


class CrawlsToRecompress:
    """Crawls, also those of collections, by collection; and the form that each collection gets."""

    def __init__(self, stores: Stores, names: Sequence[str], to: CompressionChoice) -> None:
        """Zstandard is with the dictionary that a collection keeps, unless one is given.

        Raises ConfigError for what is neither a crawl nor a collection, or both.
        """
        self._stores = stores
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name in names:
            some = crawls_named(stores.rows, name)
            if not some:
                hint = "; for files give -o DIR" if is_at(name) else ""
                raise ConfigError(f"{name}: no crawl or collection of this name{hint}")
            for crawl in some:
                found[crawl.facts.collection].add(crawl.crawl)
        self.crawls = {collection: sorted(found[collection]) for collection in sorted(found)}
        self.forms: dict[str, StoredForm] = {}
        for collection in self.crawls:
            if to.level is None or to.dictionary is not None:
                self.forms[collection] = to.form()
            else:
                self.forms[collection] = in_zstd_as_kept(stores.archive, collection, to.level)

    @property
    def size(self) -> int:
        """The bytes of all their files, as they landed."""
        return sum(
            entry.facts.size
            for crawl in chain.from_iterable(self.crawls.values())
            for entry in scan_entries(self._stores.rows, crawl)
            if entry.facts is not None
        )

    def recompress(
        self,
        *,
        plan: bool = False,
        of_all: bool = False,
        again: bool = False,
        min_saving: float = 0,
        threads: int = 1,
        tasks_of: TasksOf | None = None,
        advance: Advance = no_advance,
    ) -> Iterator[tuple[str, Result]]:
        """The result of each file, with its collection; draw them all.

        `plan` changes nothing; the rest, and what it raises, are as of `StoredRecompressor`.
        """
        work = StoredRecompressor(
            self._stores.rows,
            self._stores.archive,
            Actor(),
            again=again,
            min_saving=min_saving,
            threads=threads,
            tasks_of=tasks_of,
            advance=advance,
        )
        for collection, crawls in self.crawls.items():
            form = self.forms[collection]
            results = (
                work.plan(crawls, form, of_all=of_all)
                if plan
                else work.recompress(collection, crawls, form)
            )
            for result in results:
                yield collection, result
