"""Files that an act writes aside for a file it has claimed: names, clearing, publishing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pinakes.archive_store.port import ASIDE, ArchiveStore, AsideFile
from pinakes.catalog.file_records import sidecar_of
from pinakes.catalog.file_rows import Held
from pinakes.catalog.sidecar import sidecar_name

COPY, REWRITTEN, SIDECAR, KEPT = "copy", "rewritten", "sidecar", "kept"


def aside_token(claim_token: str, part: str) -> str:
    """The token for `create_aside`: the claim's token and the kind of file."""
    return f"{claim_token}.{part}"


def dead_asides(held: Held) -> list[str]:
    """The names that acts that died holding this file's claim may have been writing."""
    return [
        f"{ASIDE}/{aside_token(token, part)}"
        for token in held.claim.dead
        for part in (COPY, REWRITTEN, SIDECAR)
    ]


def clear_dead_asides(archive: ArchiveStore, held: Held) -> Held:
    """Delete what acts that died holding this file's claim were writing.

    The claim that is returned names them no longer, and so the stored one once it is renewed or
    released.
    """
    for name in dead_asides(held):
        archive.delete(name)
    return replace(held, claim=replace(held.claim, dead=()))


def publish_pair(
    archive: ArchiveStore,
    copy: AsideFile,
    sidecar: AsideFile,
    name: str,
    *,
    sha256: str,
    at: Callable[[str], None],
) -> bool:
    """Publish a file and its sidecar, the sidecar first: a published file always has one.

    A file of that name and SHA-256 is kept: an act that died has published it.  False where
    another file has the name.

    Raises MalformedRecord where what has the sidecar's name is no sidecar: it may be another file.
    """
    if archive.size(sidecar_name(name)) is not None:
        sidecar_of(archive, name)
    archive.delete(sidecar_name(name))
    sidecar.publish(sidecar_name(name))
    at("sidecar published")
    if archive.size(name) is None:
        copy.publish(name)
    elif archive.checksum(name) != sha256:
        return False
    at("published")
    return True
