"""Deduplicate archive files from Python: what `pinakes dedupe PATH ... -o OUT` does.

Exported as `pinakes.dedupe_files`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.files_run import FilesRequest, FilesRun
from pinakes.dedupe.run.store_run import COMPARE
from pinakes.dedupe.validate.file_pairs import Discrepancy, Witnesses
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.external_sort import SortSpace

from .paths import AnyPath, Paths, archive_files_of


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


def dedupe_files(
    paths: Paths,
    output: AnyPath | None,
    *,
    compare: str = "bytes",
    sample_bytes: float = 0.001,
    seed: str = "",
    min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
    temp_dir: AnyPath | None = None,
) -> DedupeResult:
    """Write archive files anew into a folder, duplicates as revisits, and validate them.

    `paths` are files (also URLs), and folders and packages of them.  With None for `output`
    nothing is written, and the counts are what would be saved.  The options are those of the
    verb: `compare` with "sha256" takes equal SHA-256 for equal but for a sample (`sample_bytes`,
    `seed`); records that would save less than `min_saving_bytes` stay full.  Killed anywhere,
    the same call ends the work.

    Raises:
        ConfigError: there is no archive file, two would be written under one name, or an option
            is wrong.
    """
    if compare not in COMPARE or not 0 <= sample_bytes <= 1:
        raise ConfigError(
            f"compare is {compare!r} and sample_bytes {sample_bytes!r}: give one of "
            f"{', '.join(COMPARE)}, and a part of the whole, from 0 to 1"
        )
    problems: list[PinakesError] = []
    names = archive_files_of(paths, problems)
    folder = None if output is None else Path(output)
    request = FilesRequest(
        names=names,
        compare=compare != "none",
        trust=Trust(sample=sample_bytes, seed=seed) if compare == "sha256" else None,
        min_saving_bytes=min_saving_bytes,
        now=datetime.now(timezone.utc),
        space=SortSpace(folder=None if temp_dir is None else Path(temp_dir)),
    )
    discrepancies = None
    with FilesRun(request, problems.append) as run:
        run.decide()
        files = tuple(
            DedupedFile(
                file=done.name,
                size=done.size,
                revisits=done.refs.records,
                saved_bytes=done.refs.saved_bytes,
                left_full=dict(done.refs.left_full),
            )
            for done in run.write(folder)
        )
        if folder is not None and files:
            with WarcioReader() as warcio:
                validation = run.validate(folder, witnesses=Witnesses(second_reader=warcio))
            discrepancies = tuple(validation.open_discrepancies)
    return DedupeResult(
        files=files,
        size=sum(file.size for file in files),
        revisits=sum(file.revisits for file in files),
        saved_bytes=sum(file.saved_bytes for file in files),
        left_full=sum((Counter(file.left_full) for file in files), Counter()),
        discrepancies=discrepancies,
        problems=tuple(problems),
    )
