"""The names of a landed file: how it and its sidecar come to lie where readers look."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.archive_store.port import ArchiveStore, AsideFile
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import InputRefused

from .landed import Landed


def publish_pair(
    archive: ArchiveStore,
    copy: AsideFile,
    sidecar: AsideFile,
    landed: Landed,
    *,
    at: Callable[[str], None],
) -> None:
    """Give both their names, the sidecar first: a file that is there has one.

    What a landing that died has published is kept if it is the same file.

    Raises:
        InputRefused: other bytes lie under that name, of which the catalogue knows nothing.
    """
    name = landed.archive_file
    aside_name = sidecar_name(name)
    if archive.size(aside_name) is not None:
        archive.delete(aside_name)
    sidecar.publish(aside_name)
    at("published sidecar")
    if archive.size(name) is None:
        copy.publish(name)
    elif archive.checksum(name) != landed.sha256:
        raise InputRefused(
            "a file of that name, which the catalogue does not know, lies in the "
            "store: `pinakes fsck` says what it is",
            file=name,
        )
    at("published file")
