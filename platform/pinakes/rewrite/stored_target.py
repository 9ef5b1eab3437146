"""Where a new file is to be, in any archive store: verified before it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.warc.source import Source

from .convert_file import UNCHANGED, WRITTEN, require_equal
from .file_parts import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTarget:
    """`folder`, named `place`, is where the file is to be; it is published in `out`, below
    `inside`, from where another process takes it.  `token` names it until then.
    """

    folder: ArchiveReader
    place: str
    out: ArchiveStore
    inside: str
    token: str

    def named(self, name: str) -> str:
        """The file of this name, as people are told."""
        return f"{self.place.rstrip('/')}/{name}"

    def write(
        self, name: str, pieces: Iterable[Bytes], source: Source, check: Callable[[Source], None]
    ) -> str:
        """Write a new file of these pieces, which are made of `source`: as `write_checked`.

        `WRITTEN`; or `UNCHANGED`, if `folder` has an equal file, which is left as it is.  `check`
        is given the one or the other.

        Raises:
            InputRefused: another file is there, or `source` changed meanwhile.
            StoreUnavailable: as the stores; and what `check` raises.  Nothing is published then.
        """
        if self.folder.size(name) is not None:
            with self.folder.open(name) as file:
                existing = Source(file, name=self.named(name))
                require_equal(pieces, existing)
                check(existing)
            source.check_unchanged()
            return UNCHANGED
        with self.out.create_aside(self.token) as aside:
            for piece in pieces:
                aside.file.write(piece)
            aside.crc32()  # it is on disk, and may be read
            with aside.open() as file:
                check(Source(file, name=self.named(name)))
            source.check_unchanged()
            aside.publish(f"{self.inside}/{name}")
        return WRITTEN
