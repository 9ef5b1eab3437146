"""What an act writes aside for a file that it has claimed, named by the claim's token."""

from __future__ import annotations

from pinakes.archive_store.port import ASIDE, ArchiveStore

from .file_rows import Held

COPY, REWRITTEN, SIDECAR = "copy", "rewritten", "sidecar"


def aside_token(claim_token: str, part: str) -> str:
    """The token for `create_aside`."""
    return f"{claim_token}.{part}"


def clear_dead_asides(archive: ArchiveStore, held: Held) -> None:
    """Delete what an act that died with this file's claim was writing."""
    if held.dead_token is not None:
        for part in (COPY, REWRITTEN, SIDECAR):
            archive.delete(f"{ASIDE}/{aside_token(held.dead_token, part)}")
