"""Manifests that other tools wrote, or `--plain`: what they lack, from the archive files.

Such lines say which records are meant, not who may take part, nor how long a body is, and
a foreign one does not encode `%`.  Their files are read again from front to back, and each
line becomes what `pinakes manifest` would have written of the record at its offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import ConfigError, InputRefused, MalformedRecord, PinakesError
from pinakes.index.eligibility import UNREADABLE
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes, place_of
from pinakes.index.scan import iter_manifest
from pinakes.warc.digest import SIZES_BYTES
from pinakes.warc.reader import iter_records


def is_foreign(line: ManifestLine) -> bool:
    """Whether a line has the columns alone: all of ours say how long the body is, or more."""
    return line.size is None and line.type is None and line.skip is None


class ForeignLines:
    """Completes foreign lines; `problems` names those whose record was not found."""

    def __init__(self, files: ArchiveFiles, *, now: datetime, space: SortSpace) -> None:
        self._files = files
        self._now = now
        self._space = space
        self.problems: list[PinakesError] = []

    def completed(self, lines: Iterable[ManifestLine]) -> Iterator[ManifestLine]:
        """Yield every line, our own as they are and first, in no order.

        Memory: the lines of one file.
        A line without its record is left out of merging (`skip=unreadable`).
        """
        foreign = Spool[ManifestLine](space=self._space, item_bytes=estimate_line_bytes)
        with foreign:
            for line in lines:
                if is_foreign(line):
                    foreign.append(line)
                else:
                    yield line
            if not foreign:
                return
            ordered = sort_outside_memory(
                foreign, key=place_of, space=self._space, item_bytes=estimate_line_bytes
            )
            for (name, digest), group in groupby(ordered, key=_file_and_algorithm):
                yield from self._of_one_file(name, digest, group)

    def _of_one_file(
        self, name: str, algorithm: str, lines: Iterator[ManifestLine]
    ) -> Iterator[ManifestLine]:
        if algorithm not in SIZES_BYTES:
            raise ConfigError(f"{algorithm!r} is no digest known here", file=name)
        reason = "no capture begins here"
        wanted = {line.offset: line for line in lines}
        try:
            with self._files.opened(name) as source:
                records = iter_records(source, digests=(algorithm,))
                for found in iter_manifest(records, file=name, algorithm=algorithm, now=self._now):
                    if wanted.pop(found.offset, None) is not None:
                        yield found
        except InputRefused as refusal:
            reason = refusal.message
        for line in wanted.values():
            self.problems.append(MalformedRecord(reason, file=line.file, offset=line.offset))
            yield line._replace(skip=UNREADABLE)


def _file_and_algorithm(line: ManifestLine) -> tuple[str, str]:
    return line.file, line.digest.partition(":")[0].lower()
