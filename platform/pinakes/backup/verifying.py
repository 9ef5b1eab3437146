"""Verifies that a backup is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import DigestMismatch, InputRefused, PinakesError

from .contents import BACKUP, BEGUN, FILES, FileLine, read_lines, require_facts


def verify_backup(
    backup: ArchiveStore, place: str, advance: Callable[[FileLine], None] = lambda line: None
) -> Iterator[PinakesError]:
    """Yield what is wrong with a backup; reads every byte.  `place` is its name in messages.

    Raises:
        ConfigError: there is no complete backup.
        DigestMismatch: the list of its files differs from the one written.
    """
    lines = read_lines(backup, require_facts(backup, place))
    for line in lines:
        size = backup.size(line.name)
        if size is None:
            yield InputRefused("is missing", file=line.name)
        elif size != line.size:
            yield DigestMismatch(f"has {size} bytes, {line.size} were written", file=line.name)
        elif backup.checksum(line.name) != line.sha256:
            yield DigestMismatch("its SHA-256 differs from the one written", file=line.name)
        advance(line)
    known = {line.name for line in lines} | {BACKUP, BEGUN, FILES}
    for stored in backup.list():
        if stored.name not in known:
            yield InputRefused("does not belong to the backup", file=stored.name)
