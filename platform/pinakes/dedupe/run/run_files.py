"""What a run has worked out so far, in a folder of its own.

    STORE/runs/RUN/generations.json     the stored file of each file that was decided on
    STORE/runs/RUN/decided.manifest     every duplicate, with its original: by file, offset
    STORE/runs/RUN/original.keys        the row key of each line's original, line by line
    STORE/runs/RUN/wave.json            what tasks have written, and is not all committed
    STORE/runs/RUN/validation.jsonl     why what tasks have written is not committed
    STORE/runs/RUN/report.json          what was done

A file here is whole or not there; a run that is taken up again goes on from what it finds.
Of a run that has ended the report is kept, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from pinakes.acts.waves import NotedWave
from pinakes.archive_store.local.whole_files import written_aside
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.index.manifest import ManifestLine, format_line, parse_line

DECIDED = "decided.manifest"
ORIGINAL_KEYS = "original.keys"
GENERATIONS = "generations.json"
REPORT = "report.json"
COUNTS = "counts.json"
WAVE = "wave.json"
VALIDATION = "validation.jsonl"
_SUM = "sha256"
"""Of all else in a file of JSON that a run goes on from."""


class RunFiles:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_decided(self) -> bool:
        """Whether the decisions are all there."""
        return (self.folder / DECIDED).exists()

    @property
    def is_pinned(self) -> bool:
        """Whether the originals' row keys are all there: they are pinned before."""
        return (self.folder / ORIGINAL_KEYS).exists()

    def write_decided(self, lines: Iterable[ManifestLine], counts: Mapping[str, object]) -> None:
        """Keep the duplicates among these lines; `counts` may fill while they are drawn."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # Keys are those of the lines next to them.
        (self.folder / ORIGINAL_KEYS).unlink(missing_ok=True)
        with written_aside(self.folder / DECIDED) as file:
            _write_summed(
                file,
                (
                    f"{format_line(line)}\n".encode("utf-8", "surrogateescape")
                    for line in lines
                    if line.is_duplicate
                ),
            )
            self.write_json(COUNTS, counts)

    def read_decided(self) -> Iterator[ManifestLine]:
        """The duplicates, by file and offset.

        Raises:
            DigestMismatch: before the first of them, where they are not as they were written.
        """
        for number, line in enumerate(self._lines(DECIDED), 1):
            yield parse_line(line.decode("utf-8", "surrogateescape"), number=number)

    def write_original_keys(self, keys: Iterable[bytes]) -> None:
        """Keep the row key of each decided line's original, in the order of the lines."""
        path = self.folder / ORIGINAL_KEYS
        with written_aside(path, replace=True) as file:
            _write_summed(file, (key + b"\n" for key in keys))

    def by_file(self) -> Iterator[tuple[str, list[tuple[ManifestLine, bytes]]]]:
        """The duplicates of each file that has any, each with its original's row key.

        Memory: those of one file.  Raises as `read_decided`.
        """
        pairs = zip(self.read_decided(), self._lines(ORIGINAL_KEYS), strict=True)
        for name, group in groupby(pairs, key=lambda pair: pair[0].file):
            yield name, list(group)

    def _lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file that holds its sum, without it; read twice, the first time whole."""
        path, state, last = self.folder / name, hashlib.sha256(), b""
        with path.open("rb") as file:
            for line in file:
                state.update(last)
                last = line
        if last != _sum_line(state.hexdigest()):
            raise _not_as_written(path)
        with path.open("rb") as file:
            yield from (line.rstrip(b"\n") for line in file if line != last)

    def generations(self) -> dict[str, str]:
        """The stored file of each file that was decided on."""
        return {
            # Earlier versions noted a number.
            name: generation_file(name, noted) if isinstance(noted, int) else str(noted)
            for name, noted in self.read_json(GENERATIONS).items()
        }

    def old_generations(self) -> dict[str, str]:
        """The same, but of those as they landed."""
        return {name: stored for name, stored in self.generations().items() if stored != name}

    def write_validation(self, discrepancies: Iterable[Mapping[str, object]]) -> int:
        """Keep what validation found wrong; how much that is."""
        path = self.folder / VALIDATION
        count = 0
        with path.open("w", encoding="utf-8") as file:
            for discrepancy in discrepancies:
                file.write(json.dumps(discrepancy) + "\n")
                count += 1
        return count

    def note_wave(self, wave: NotedWave) -> None:
        """Keep in mind that tasks have written a wave."""
        self.write_json(WAVE, wave._asdict())

    def read_wave(self) -> NotedWave | None:
        """The wave that was noted; None where there is none."""
        noted = self.read_json(WAVE)
        sizes = noted.get("sizes")
        if not isinstance(sizes, dict):
            return None
        # Earlier versions noted a wave when it was found right.
        return NotedWave(str(noted["wave"]), sizes, is_valid=bool(noted.get("is_valid", True)))

    def forget_wave(self) -> None:
        """Its files are committed, or named as not, or it is not to be committed."""
        (self.folder / WAVE).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete all files of the run but its report; may be repeated."""
        for path in self.working_files():
            path.unlink(missing_ok=True)

    def working_files(self) -> list[Path]:
        """All files but the report."""
        return [path for path in sorted(self.folder.iterdir()) if path.name != REPORT]

    def write_json(self, name: str, content: Mapping[str, object]) -> None:
        """Keep a report; one that is there is replaced."""
        self.folder.mkdir(parents=True, exist_ok=True)
        plain: dict[str, object] = json.loads(json.dumps(content))
        noted = {**plain, _SUM: _sum_of(plain)}
        with written_aside(self.folder / name, replace=True) as file:
            file.write(f"{json.dumps(noted, indent=1)}\n".encode())

    def read_json(self, name: str) -> dict[str, object]:
        """A report, or nothing where there is none.

        Raises:
            DigestMismatch: it is not as it was written.
        """
        path = self.folder / name
        if not path.exists():
            return {}
        try:
            content: dict[str, object] = json.loads(path.read_bytes())
            is_whole = content.pop(_SUM, None) == _sum_of(content)
        except (ValueError, AttributeError):
            is_whole = False
        if not is_whole:
            raise _not_as_written(path)
        return content


def _write_summed(file: BinaryIO, lines: Iterable[bytes]) -> None:
    """Write lines, and a last one with the SHA-256 of all before it."""
    state = hashlib.sha256()
    for line in lines:
        state.update(line)
        file.write(line)
    file.write(_sum_line(state.hexdigest()))


def _sum_line(sha256: str) -> bytes:
    return f"# sha256 {sha256}\n".encode("ascii")


def _not_as_written(path: Path) -> DigestMismatch:
    return DigestMismatch(
        "damaged: these notes are not as they were written; move their folder away, and the same "
        "call goes on without them",
        file=str(path),
    )


def _sum_of(content: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def clear_ended_runs(folder: Path, has_ended: Callable[[str], bool]) -> None:
    """Clear the runs below a folder that have ended: this one, and what one that died left."""
    for path in sorted(folder.glob("dedupe-*")):
        files = RunFiles(path)
        if path.is_dir() and files.working_files() and has_ended(path.name):
            files.clear()
