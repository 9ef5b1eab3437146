"""Which records may be replaced: those of which the proof on raw bytes can tell what became."""

from __future__ import annotations

from pinakes.dedupe.validate.raw_units import COMPRESSIONS
from pinakes.errors import InputRefused
from pinakes.warc.compression.members import compression_at, why_not_written
from pinakes.warc.compression.port import Compression
from pinakes.warc.source import Source


def why_left(source: Source, compression: Compression | None) -> str:
    """Why a record that is compressed so, or not, stays as it is; nothing where it need not."""
    if compression is not None and compression.NAME not in COMPRESSIONS:
        return f"in {compression.NAME}"
    return why_not_written(source, compression)


def require_provable(source: Source, offset: int) -> None:
    """Raise InputRefused where the record at `offset` stays as it is."""
    why = why_left(source, compression_at(source, offset))
    if why:
        raise InputRefused(f"not rewritten: {why}", file=source.name, offset=offset)
