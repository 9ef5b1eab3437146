"""Is a backup still what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import DigestMismatch, InputRefused, PinakesError

from .contents import BACKUP, BEGUN, FILES, FileLine, read_lines, require_facts


def verify_backup(
    backup: ArchiveStore, place: str, advance: Callable[[FileLine], None] = lambda line: None
) -> Iterator[PinakesError]:
    """What is wrong with a backup; reads every byte.  `place` is what it is called.

    Raises:
        ConfigError: where there is no whole backup.
        DigestMismatch: where the list of its files is not the one that was written.
    """
    lines = read_lines(backup, require_facts(backup, place))
    for line in lines:
        size = backup.size(line.name)
        if size is None:
            yield InputRefused("is not there any more", file=line.name)
        elif size != line.size:
            yield DigestMismatch(f"has {size} bytes, {line.size} were written", file=line.name)
        elif backup.checksum(line.name) != line.sha256:
            yield DigestMismatch("its SHA-256 is not the one that was written", file=line.name)
        advance(line)
    known = {line.name for line in lines} | {BACKUP, BEGUN, FILES}
    for stored in backup.list():
        if stored.name not in known:
            yield InputRefused("is no part of the backup", file=stored.name)
