"""Deduplicate archive files from Python: what `pinakes dedupe PATH ... -o OUT` does.

Exported as `pinakes.dedupe_files`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.files_run import FilesRequest, FilesRun
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeProgress
from pinakes.dedupe.run.store_run import COMPARE
from pinakes.dedupe.validate.file_pairs import Discrepancy, Observers
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.external_sort import SortSpace

from .events import Others
from .inputs import AnyPath, Paths, archive_files_of, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupedFile:
    """What became of one file; `left_full` counts duplicates that stayed full, by reason."""

    file: str
    size: int
    revisits: int
    saved_bytes: int
    left_full: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeResult:
    """What became of all of them.

    `discrepancies` is what validation found, None where nothing was written; `problems` are
    files and stretches that could not be read, and took no part.
    """

    files: tuple[DedupedFile, ...] = field(repr=False)
    size: int
    revisits: int
    saved_bytes: int
    left_full: Mapping[str, int]
    discrepancies: tuple[Discrepancy, ...] | None
    problems: tuple[PinakesError, ...]

    @property
    def validated(self) -> bool | None:
        """Whether each record is as before, or a revisit that resolves to the same bytes.

        None where nothing was written.  Where it is False, do not use the files.
        """
        return None if self.discrepancies is None else not self.discrepancies


FilesEvent = DedupedFile | ProcessCount | Others | PinakesError
"""What is reported: what was decided, then each file; errors are of what took no part."""


def dedupe_files(
    paths: Paths,
    output: AnyPath | None,
    *,
    compare: str = "bytes",
    sample_bytes: float = 0.001,
    seed: str = "",
    min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
    temp_dir: AnyPath | None = None,
    on_event: Callable[[FilesEvent], None] = lambda event: None,
    progress: DedupeProgress = UNWATCHED,
) -> DedupeResult:
    """Rewrite archive files into a folder, duplicates as revisits, and validate them.

    `paths` are files (also URLs), and folders and packages of them.  With None for `output`
    nothing is written, and the counts are what would be saved.  The options are those of the
    verb: `compare` with "sha256" takes equal SHA-256 for equal but for a sample (`sample_bytes`,
    `seed`); records that would save less than `min_saving_bytes` stay full.  `on_event` is
    called with what was decided, each file and each problem, `progress` with steps and bytes
    that are done.
    Killed anywhere, the same call ends the work.

    Raises:
        ConfigError: there is no archive file, two would be written under one name, or an option
            is wrong.
    """
    if compare not in COMPARE or not 0 <= sample_bytes <= 1:
        raise ConfigError(
            f"compare is {compare!r} and sample_bytes {sample_bytes!r}: give one of "
            f"{', '.join(COMPARE)}, and a part of the whole, from 0 to 1"
        )
    request = FilesRequest(
        names=names_of(paths),
        compare=compare != "none",
        trust=Trust(sample=sample_bytes, seed=seed) if compare == "sha256" else None,
        min_saving_bytes=min_saving_bytes,
        now=datetime.now(timezone.utc),
        space=SortSpace(folder=None if temp_dir is None else Path(temp_dir)),
    )
    problems: list[PinakesError] = []

    def keep(event: FilesEvent) -> None:
        if isinstance(event, PinakesError):
            problems.append(event)
        on_event(event)

    done = dedupe_given(request, None if output is None else Path(output), keep, progress)
    return replace(done, problems=tuple(problems))


def dedupe_given(
    request: FilesRequest,
    output: Path | None,
    on_event: Callable[[FilesEvent], None],
    progress: DedupeProgress = UNWATCHED,
) -> DedupeResult:
    """The same of what is asked for, which may name folders; problems are only reported."""
    request = replace(request, names=archive_files_of(request.names, on_event))
    files: list[DedupedFile] = []
    discrepancies = None
    with FilesRun(request, on_event) as run:
        run.decide(progress)
        on_event(run.decisions.processed)
        for done in run.write(output, progress):
            file = DedupedFile(
                file=done.name,
                size=done.size,
                revisits=done.refs.records,
                saved_bytes=done.refs.saved_bytes,
                left_full=dict(done.refs.left_full),
            )
            files.append(file)
            on_event(file)
        if output is not None and files:
            with WarcioReader() as warcio:
                observers = Observers(second_reader=warcio)
                validation = run.validate(output, observers=observers, progress=progress)
            discrepancies = tuple(validation.open_discrepancies)
    return DedupeResult(
        files=tuple(files),
        size=sum(file.size for file in files),
        revisits=sum(file.revisits for file in files),
        saved_bytes=sum(file.saved_bytes for file in files),
        left_full=sum((Counter(file.left_full) for file in files), Counter()),
        discrepancies=discrepancies,
        problems=(),
    )
