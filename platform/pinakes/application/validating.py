"""Rewritten archive files compared with those before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from pinakes import __version__
from pinakes.archive_store.local.whole_files import written_aside
from pinakes.archive_store.located import open_place
from pinakes.dedupe.references.further_originals import add_indexed_originals, add_originals
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.validate.file_pairs import DISCREPANCIES, Discrepancy, Observers
from pinakes.dedupe.validate.folders import Validation, archive_folder, validate_folders
from pinakes.dedupe.validate.receipt import format_receipt
from pinakes.dedupe.validate.replay_sample import ReplaySample, ask_replay
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.errors import InputRefused
from pinakes.warc.file_progress import Advance

from .events import OnProblem
from .file_places import FilePlaces, find_originals, open_files
from .inputs import total_size


def size_before(folder: Path) -> int:
    """The bytes of the archive files of a folder."""
    old = archive_folder(folder)
    return total_size(str(old.root / name) for name in old.archives.values())


def validate(
    before: Path,
    after: Path,
    *,
    accepted: Sequence[dict[str, str]],
    originals: FilePlaces,
    index: Path | None,
    replay: str | None,
    on_problem: OnProblem,
    advance: Advance,
) -> Validation:
    """Compare two folders, with warcio as a second reader.

    Originals that are in neither are in `originals`, and are read through unless a CDX or CDXJ
    (`index`) names them.  `replay`: a sample of revisits is asked of a replay tool there.
    `on_problem` gets what cannot be read of originals: references to it are found dangling.
    """

    def add_further(resolution: Resolution) -> None:
        if index is not None:
            with open_files(originals) as files:
                add_indexed_originals(index, files, resolution, on_problem)
            return
        for place in find_originals(originals, ()):
            try:
                with open_place(place) as source:
                    add_originals(source, resolution)
            except InputRefused as problem:
                on_problem(problem)

    sample = ReplaySample() if replay is not None else None
    with WarcioReader() as warcio:
        result = validate_folders(
            before,
            after,
            accepted=accepted,
            observers=Observers(second_reader=warcio, sampler=sample),
            advance=advance,
            add_further=add_further,
        )
    if sample is not None and replay is not None:
        result.replayed = len(list(sample))
        for asked, problem in ask_replay(replay, sample):
            message = f"{DISCREPANCIES['replay']}: {problem}: {asked.target_uri}"
            file = str(Path(asked.file).relative_to(after))
            result.comparison.discrepancies.append(
                Discrepancy("replay", file, asked.ordinal, asked.offset, message)
            )
    return result


def write_receipt(path: Path, result: Validation) -> None:
    """Write what was found; `Raises` as `written_aside`."""
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with written_aside(path) as file:
        file.write(f"{format_receipt(result, made=made, version=__version__)}\n".encode())
