"""What an act writes aside for a file that it has claimed, named by the claim's token."""

from __future__ import annotations

from pinakes.archive_store.port import ASIDE, ArchiveStore

from .file_rows import Held

COPY, REWRITTEN, SIDECAR = "copy", "rewritten", "sidecar"


def aside_token(claim_token: str, part: str) -> str:
    """The token for `create_aside`."""
    return f"{claim_token}.{part}"


def clear_dead_asides(archive: ArchiveStore, held: Held) -> None:
    """Delete what the acts that died with this file's claim were writing."""
    for token in held.claim.dead:
        for part in (COPY, REWRITTEN, SIDECAR):
            archive.delete(f"{ASIDE}/{aside_token(token, part)}")
