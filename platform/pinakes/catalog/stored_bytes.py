"""Whether a stored file has the bytes that were stored: they are read."""

from __future__ import annotations

from pinakes.archive_store.port import ArchiveStore
from pinakes.counts import count_of
from pinakes.errors import InputRefused
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts


def how_bytes_differ(
    archive: ArchiveStore,
    name: str,
    facts: FileFacts | GenerationFacts | None,
    *,
    quick: bool = False,
) -> str | None:
    """How the bytes of a generation differ from those that were stored; `quick`: by size only."""
    if facts is None:
        return "nothing says which bytes were stored"
    size = archive.size(name)
    if size is None:
        return "it is missing"
    if size != facts.size:
        return f"it has {count_of(size, 'byte')}, stored were {facts.size:,}"
    try:
        if not quick and archive.checksum(name) != facts.sha256:
            return "its SHA-256 differs from the one that was stored"
    except InputRefused as refusal:
        return refusal.message
    return None
