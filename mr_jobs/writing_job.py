"""Jobs whose tasks write archive files, which the driver publishes in a folder.

    TO/.landing/TOKEN/_written/MARK/NAME     what tasks have written, whole and verified
    TO/NAME                                  renamed by the driver when the job has ended

TOKEN depends on the job and its inputs, so that the same call deletes what a dead driver has left,
and continues: files already published are found equal, and kept.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple
from urllib.parse import quote, unquote
from uuid import uuid4

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, ArchiveReader, ArchiveStore, AsideFile
from pinakes.config import Configuration
from pinakes.errors import ConfigError, InputRefused, PinakesError
from pinakes.mr_jobs.archive_job import WRITTEN, ArchiveJob
from pinakes.mr_jobs.driver.orphans import end_orphans, tag_words
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.profile import open_folder

_MARK_BYTES = 8


class WritingJob(ArchiveJob):
    """See the module."""

    WRITES_FILES = True

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--to", help="the folder where the files are to be, in ASCII: others as %%XX"
        )

    @classmethod
    def target_of_line(cls, line: bytes) -> str | None:
        """The name in the folder of the file of an output line; None where none was written."""
        return PurePosixPath(json.loads(line)["file"]).name

    def output_of(self, name: str, written: ArchiveStore) -> TaskOutput:
        """Where the new file of an input goes; `written` is what the task writes."""
        # A JVM passes on only arguments in its locale.
        place = unquote(self.options.to, errors="surrogateescape")
        return TaskOutput(
            folder=self.task.folder(place), place=place, out=written, inside=mark_of(name)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutput:
    """`rewrite.new_file.NewFiles` of a task.

    `folder`, named `place`, is where the file is to be; it is published in `out`, below `inside`,
    from where the driver takes it.
    """

    folder: ArchiveReader
    place: str
    out: ArchiveStore
    inside: str

    def named(self, name: str) -> str:
        return f"{self.place.rstrip('/')}/{name}"

    def has(self, name: str) -> bool:
        return self.folder.size(name) is not None

    def open(self, name: str) -> BinaryIO:
        return self.folder.open(name)

    @contextmanager
    def create_aside(self, name: str) -> Iterator[_TaskFile]:
        """Two attempts at one file do not meet."""
        with self.out.create_aside(uuid4().hex) as aside:
            yield _TaskFile(aside, f"{self.inside}/{name}")


class _TaskFile(NamedTuple):
    """`rewrite.new_file.NewFile` of a task."""

    aside: AsideFile
    name: str

    @property
    def file(self) -> BinaryIO:
        return self.aside.file

    def open(self) -> BinaryIO:
        self.aside.crc32()  # it is on disk, and may be read
        return self.aside.open()

    def publish(self) -> None:
        self.aside.publish(self.name)


def mark_of(name: str) -> str:
    """A unique folder name for the output of an input, so that no two write one file."""
    return blake2b(name.encode("utf-8", "surrogateescape"), digest_size=_MARK_BYTES).hexdigest()


def run_writing_job(
    request: JobRequest,
    to: str,
    runner: str,
    configuration: Configuration,
    out: BinaryIO,
    *,
    on_percent: Callable[[float], None] = lambda percent: None,
) -> JobReport:
    """Run it, publish the files of its tasks, then write its lines to `out`.

    Raises:
        ConfigError: tasks of this runner cannot write there, or two inputs would be written
            under one name; nothing was published then.
        StoreUnavailable, PinakesError: as `run_job`, or as the folder.
    """
    require_place(to, runner)
    _require_different(request.names)
    with open_folder(to, configuration) as folder, TemporaryFile() as lines:
        place = quote(to, safe="/:", errors="surrogateescape")
        options = (*request.options, "--to", place)
        token = token_of((request.job.__name__, *options, "", *request.names))
        clear_left(folder, token, runner, configuration)
        output = folder.folder_aside(token)
        options = (*tags(token, runner), *options)
        request = replace(request, output=output, options=options)
        report = run_job(request, runner, configuration, lines, on_percent=on_percent)
        with open_folder(f"{output}/{WRITTEN}", configuration) as written:
            names = [stored.name for stored in written.list()]
            _refuse_clashes(names)
            for name in names:
                try:
                    _publish(folder, written, token, name)
                except InputRefused as problem:
                    report.findings.append(problem)
        clear_aside(folder, token)
        lines.seek(0)
        _require_there(folder, filter(None, map(request.job.target_of_line, lines)))
        lines.seek(0)
        copyfileobj(lines, out)
    return report


def tags(token: str, runner: str) -> tuple[str, ...]:
    """Tags by which a job is found in YARN."""
    return tag_words(token) if runner == "hadoop" else ()


def clear_left(folder: ArchiveStore, token: str, runner: str, configuration: Configuration) -> None:
    """End jobs that a dead driver of the same call has left running, and delete its files."""
    if runner == "hadoop":
        end_orphans(token, configuration)
    folder.delete(f"{ASIDE}/{token}")


def clear_aside(folder: ArchiveStore, token: str) -> None:
    """Delete what the tasks of a job have left; on a disk the folder of asides, too, if nothing
    else is in it."""
    folder.delete(f"{ASIDE}/{token}")
    if isinstance(folder, LocalArchiveStore):
        with suppress(OSError):
            (folder.folder / ASIDE).rmdir()


def _publish(folder: ArchiveStore, written: ArchiveStore, token: str, name: str) -> None:
    _, _, target = name.partition("/")
    try:
        folder.publish_from(token, f"{WRITTEN}/{name}", target)
    except InputRefused:
        # Published since the task checked: by another run of this call, or another file.
        if folder.size(target) is None or folder.checksum(target) != written.checksum(name):
            raise


def _require_there(folder: ArchiveStore, names: Iterable[str]) -> None:
    there = {name for name, _ in folder.list()}
    missing = [name for name in names if name not in there]
    if missing:
        raise PinakesError(
            f"{len(missing):,} files reported by tasks do not exist", file=missing[0]
        )


def require_place(to: str, runner: str) -> None:
    """Raise ConfigError if the tasks of a runner cannot write to a folder."""
    if (runner == "hadoop") != to.startswith("hdfs://"):
        raise ConfigError(
            "files go to hdfs://… with --runner hadoop, whose tasks are on any host, and to a path "
            "with the other runners"
        )


def _require_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError("this input is given twice", file=twice)


def _refuse_clashes(names: Iterable[str]) -> None:
    marks = defaultdict(list)
    for name in names:
        mark, _, target = name.partition("/")
        marks[target].append(mark)
    clashes = sorted(target for target, of in marks.items() if len(of) > 1)
    if clashes:
        raise ConfigError(
            f"two inputs would have the same output name, nothing was written: {'; '.join(clashes)}"
        )


def token_of(words: Iterable[str]) -> str:
    """A name for a call, the same for the same words."""
    state = blake2b(digest_size=16)
    for word in words:
        state.update(f"{word}\n".encode("utf-8", "surrogateescape"))
    return state.hexdigest()
