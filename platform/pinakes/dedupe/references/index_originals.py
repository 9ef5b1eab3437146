"""Originals by way of an index (CDX or CDXJ), where their files need not be read through."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import REVISIT_MIME
from pinakes.index.cdxj import CdxLine, parse_cdx, parse_cdxj
from pinakes.warc.digest import parse_digest

from .originals import Originals, Place, Wanted
from .outcomes import INDEXED
from .resolution import Resolution

_BASE32_SHA1_CHARACTERS = 32


def read_index(path: Path) -> Iterator[CdxLine]:
    """The lines of a CDX or CDXJ file, whichever it is.

    Raises:
        InputRefused: where it cannot be read.
        MalformedRecord: for a line that is neither.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            first = next((text for text in lines if text.strip()), "")
            texts = chain((first,), lines) if first else iter(())
            if first.rstrip().endswith("}"):
                numbered = enumerate(texts, 1)
                yield from (parse_cdxj(text, number=n) for n, text in numbered if text.strip())
            else:
                yield from parse_cdx(texts)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=str(path)) from error


def note_indexed(path: Path, originals: Originals) -> None:
    """Note the wanted full records that an index knows; proven when they are read."""
    for line, wanted, place in _iter_full(path):
        originals.note_place(wanted, place)
        digest = parse_digest(_labelled(line.digest) or "")
        if digest is not None:
            originals.note_digest(str(digest), wanted, place)


def iter_indexed(path: Path) -> Iterator[tuple[Wanted, Place]]:
    """The full records of an index, and where they are said to be."""
    return ((wanted, place) for _, wanted, place in _iter_full(path))


def _iter_full(path: Path) -> Iterator[tuple[CdxLine, Wanted, Place]]:
    for line in read_index(path):
        if line.mime == REVISIT_MIME or None in (line.url, line.filename, line.offset):
            continue
        place = Place(line.filename or "", line.offset or 0, 0, None, None)
        yield line, Wanted(line.url or "", line.timestamp[:14]), place


def add_indexed(path: Path, resolution: Resolution) -> None:
    """Make the full records of an index known to a resolution."""
    for line in read_index(path):
        if line.mime != REVISIT_MIME and line.url is not None:
            second, digest = line.timestamp[:14], _labelled(line.digest)
            resolution.add_indexed(line.url, second, digest, proof=INDEXED)


def _labelled(digest: str | None) -> str | None:
    bare = digest is not None and ":" not in digest and len(digest) == _BASE32_SHA1_CHARACTERS
    return f"sha1:{digest}" if bare else digest
