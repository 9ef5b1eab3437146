"""Files in another compression for `pinakes zstd`: one after the other here, or by processes.

A process does one file at a time, so that they share nothing; where there are more of them asked
for than files, each compresses by several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from pinakes.archive_store.located import size_at
from pinakes.cli.frame.output import Console
from pinakes.errors import ONE_FILE_ONLY, PinakesError, StoreUnavailable
from pinakes.rewrite.recompress import GZIP, PLAIN, MemberForm, zstd_form
from pinakes.rewrite.recompress_file import Recompression, plan_file, recompress_file
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.file_progress import Advance
from pinakes.warc.source import Source
from pinakes.workers import Died, Workers

_WAIT_S = 0.5
Result = Recompression | PinakesError
"""Of a file; or why it was not written."""
_Task = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRequest:
    """What is to be done with each file; of plain words, so that a process can be given it.

    `level` None: gzip, or with `plain` no compression.
    """

    folder: Path
    level: int | None
    dictionary: bytes | None = None
    plain: bool = False
    jobs: int = 1
    plan: bool = False
    dry_run: bool = False
    min_saving: float = 0

    def form(self) -> MemberForm:
        """`Raises` ConfigError for a level or dictionary that cannot be used."""
        if self.level is None:
            return PLAIN if self.plain else GZIP
        if self.dictionary is None:
            return zstd_form(self.level)
        source = Source(BytesIO(self.dictionary), name="dictionary")
        return zstd_form(self.level, dictionary_in(source))


def write_files(
    names: Sequence[str], request: FilesRequest, form: MemberForm, console: Console
) -> Generator[tuple[str, Result], None, None]:
    """Each file with its result, in order; `form` is that of the request.  To be closed.

    Raises:
        StoreUnavailable: the disk is full, or a process has died; run again.
    """
    sizes = [size_at(name) or 0 for name in names]
    processes = min(request.jobs, len(names))
    if processes > 1:
        yield from _by_processes(names, sizes, request, processes, console)
        return
    with console.progress("zstd", total=sum(sizes)) as progress:
        for name in names:
            yield name, _result(name, request, form, request.jobs, progress.advance)


def _by_processes(
    names: Sequence[str],
    sizes: Sequence[int],
    request: FilesRequest,
    processes: int,
    console: Console,
) -> Iterator[tuple[str, Result]]:
    """The largest files are begun first, so that no process is left alone with one at the end."""
    order = sorted(range(len(names)), key=lambda number: (-sizes[number], number))
    tasks = [(number, names[number]) for number in order]
    done: dict[int, Result] = {}
    due = 0
    workers: Workers[_Task, Result] = Workers(
        processes, partial(_working, request, request.jobs // processes)
    )
    with workers, console.progress("zstd", total=sum(sizes)) as progress:

        def tell() -> None:
            progress.advance(workers.advanced())

        for (number, name), answer in workers.answered(tasks, timeout_s=_WAIT_S, wait=tell):
            if isinstance(answer, Died):
                raise StoreUnavailable(
                    "the process that was at work on it has died: run the command again", file=name
                )
            done[number] = answer
            while due in done:
                yield names[due], done.pop(due)
                due += 1
        tell()


@contextmanager
def _working(
    request: FilesRequest, threads: int, advance: Advance
) -> Iterator[Callable[[_Task], Result]]:
    form = request.form()

    def work(task: _Task) -> Result:
        return _result(task[1], request, form, threads, advance)

    yield work


def _result(
    name: str, request: FilesRequest, form: MemberForm, threads: int, advance: Advance
) -> Result:
    try:
        if request.plan:
            return plan_file(
                name,
                request.folder,
                form,
                min_saving=request.min_saving,
                threads=threads,
                advance=advance,
            )
        return recompress_file(
            name,
            request.folder,
            form,
            dry_run=request.dry_run,
            min_saving=request.min_saving,
            threads=threads,
            advance=advance,
        )
    except ONE_FILE_ONLY as problem:
        return problem
