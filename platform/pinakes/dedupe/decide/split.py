"""`split`: parts of a manifest that can be resolved and processed one without the others.

A digest's lines stay together.  What a part cannot know by itself, whether a capture
clashes with one of another digest and whether a revisit elsewhere refers to it, goes with
the lines as `marks=`; so that the parts, processed, are what the whole would have been.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

from pinakes.errors import ConfigError
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
from pinakes.index.manifest import ManifestLine

from .flags import flag_lines
from .policy import format_marks, scope_of


def part_of(line: ManifestLine, parts: int) -> int:
    """The part, from 0, that a line goes to: always the same for one digest."""
    return crc32(line.digest.encode("utf-8", "surrogateescape")) % parts


def split_lines(
    lines: Iterable[ManifestLine], parts: int, *, space: SortSpace = DEFAULT_SPACE
) -> Iterator[tuple[int, ManifestLine]]:
    """Yield every line, flagged, with the number of its part; in the order given.

    Reads all lines before the first is yielded.

    Raises:
        ConfigError: for fewer parts than one.
    """
    if parts < 1:
        raise ConfigError("a manifest is split into one part at least")
    return _split(lines, parts, space)


def _split(
    lines: Iterable[ManifestLine], parts: int, space: SortSpace
) -> Iterator[tuple[int, ManifestLine]]:
    for line, flags in flag_lines(lines, space=space):
        flagged = line._replace(marks=format_marks(flags, scope_of(line.marks))) if flags else line
        yield part_of(line, parts), flagged
