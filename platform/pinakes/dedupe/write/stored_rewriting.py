"""A file written anew with replacements, wherever archive files are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import InputRefused
from pinakes.rewrite.replace import Replacement, copy_source_with_replacements
from pinakes.warc.source import Source

from .rewriting import Check


def rewrite_stored(
    source: Source,
    replacements: Iterable[Replacement],
    folder: ArchiveStore,
    out: ArchiveStore,
    *,
    inside: str,
    token: str,
    check: Check,
) -> None:
    """Write `source` anew into `out`, below `inside`, by its base name.

    Where `folder` has a file of that name with just these bytes, nothing is published.

    Raises:
        DigestMismatch: by `check`.
        InputRefused: where it has another one, or `source` changed while it was read.
        StoreUnavailable: as the stores.
    """
    name = PurePosixPath(source.name).name
    with out.create_aside(token) as aside:
        copy_source_with_replacements(source, aside.file, replacements)
        sha256 = aside.checksum()
        with aside.open() as new:
            check(source, Source(new, name=source.name))
        source.check_unchanged()
        if folder.size(name) is None:
            aside.publish(f"{inside}/{name}")
        elif folder.checksum(name) != sha256:
            raise InputRefused("exists already and is not replaced", file=source.name)
