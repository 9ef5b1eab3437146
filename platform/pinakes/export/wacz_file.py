"""A WACZ file, written member by member: stored, never deflated, with ZIP64 where it is needed.
Behind all others `datapackage.json`, and the digest of it.

    local header, bytes │ local header, bytes │ … │ directory │ end

Each member's size and SHA-256 are noted for `datapackage.json`, and it can be read again before
the file is closed.  Members have one time, so the same members give the same bytes.

A local header has an extra field only where the directory has one: ReplayWeb.page takes the bytes
to begin after the name otherwise.  So a member's size is known before it is begun; one of unknown
size is written into a temporary file first.  Sources: APPNOTE.TXT 6.3.10 §4.3; WACZ
1.1.1 §4, §5.2, "datapackage.json" and "datapackage-digest.json".
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from pinakes.warc.packages.zip_members import PartialFile
from pinakes.warc.source import Source

_READABLE = 0o100644 << 16
_UNIX = 3
_PIECE_BYTES = 1 << 20
_NOT_IN_NAMES = re.compile("[^-a-z0-9._]")


class PackageResource(NamedTuple):
    """A member as `datapackage.json` has it."""

    name: str
    path: str
    hash: str
    bytes: int


class Member(NamedTuple):
    """A member that was written, and where its bytes begin in the file."""

    path: str
    start: int
    size: int
    sha256: str


class MemberFile(io.RawIOBase):
    """The member that is being written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._sha256 = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | memoryview, /) -> int:  # type: ignore[override]
        self._out.write(data)
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    @property
    def sha256(self) -> str:
        """Of what was written so far, in hex."""
        return self._sha256.hexdigest()


class WaczWriter:
    """A WACZ file over an open, empty file that is left open.  Not for several threads."""

    def __init__(self, file: BinaryIO, moment: datetime, folder: Path | None = None) -> None:
        """`moment`, in UTC, is the time that all members have; ZIP has even seconds, from 1980.
        `folder` is for temporary files."""
        self._file = file
        self._folder = folder
        self._time = max(moment.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._names: set[str] = set()
        self.resources: list[PackageResource] = []

    @contextmanager
    def member(self, path: str, size: int | None = None) -> Iterator[MemberFile]:
        """A member to write, in one piece after the other; `size` in bytes, if it is known."""
        if size is None:
            with tempfile.TemporaryFile(prefix="pinakes-", dir=self._folder) as spool:
                written = MemberFile(spool)
                yield written
                spool.seek(0)
                with self._begun(path, written.size) as out:
                    shutil.copyfileobj(spool, out, _PIECE_BYTES)
        else:
            with self._begun(path, size) as out:
                written = MemberFile(out)
                yield written
        self._last = Member(path, self._start, written.size, written.sha256)
        self.resources.append(self._resource(self._last))

    def _begun(self, path: str, size: int) -> IO[bytes]:
        info = zipfile.ZipInfo(path, self._time)
        info.create_system, info.external_attr = _UNIX, _READABLE
        # Not left to zipfile, which decides by 1.05 times the size, and for the directory by that.
        out = self._zip.open(info, "w", force_zip64=size > zipfile.ZIP64_LIMIT)
        self._start = self._file.tell()
        return out

    @property
    def last(self) -> Member:
        """The member that was written last."""
        return self._last

    def write(self, path: str, data: bytes) -> None:
        """A member of these bytes."""
        with self.member(path, len(data)) as out:
            out.write(data)

    def read(self, member: Member) -> Source:
        """The bytes of a member; read them while no other is being written."""
        part = cast(
            "BinaryIO", PartialFile(self._file, member.start, member.size, package=self._file)
        )
        return Source(part, name=member.path, size=member.size)

    def _resource(self, member: Member) -> PackageResource:
        """Names are those of Frictionless: lower case, no two alike."""
        stem = _NOT_IN_NAMES.sub("-", member.path.rpartition("/")[2].lower())
        name, number = stem, 2
        while name in self._names:
            name, number = f"{stem}-{number}", number + 1
        self._names.add(name)
        return PackageResource(name, member.path, f"sha256:{member.sha256}", member.size)

    def close(self) -> None:
        """Write the directory."""
        self._zip.close()

    def give_up(self) -> None:
        """Close it as something that no one reads: the file is full, or what was written wrong."""
        with suppress(OSError, ValueError):
            self._zip.close()


DATAPACKAGE, DIGEST = "datapackage.json", "datapackage-digest.json"
WACZ_VERSION = "1.1.1"


class Described(NamedTuple):
    """What a WACZ file of archive files holds; `size` and `sha256` are those of the WACZ file."""

    files: int
    captures: int
    archive_bytes: int
    size: int = 0
    sha256: str = ""


def write_description(
    out: WaczWriter, more: Mapping[str, object], *, moment: datetime, software: str
) -> None:
    """Write both members; `more` are further fields, such as the title."""
    package: dict[str, object] = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "software": software,
        "created": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        **more,
        "resources": [resource._asdict() for resource in out.resources],
    }
    data = _json(package)
    out.write(DATAPACKAGE, data)
    said = f"sha256:{hashlib.sha256(data).hexdigest()}"
    out.write(DIGEST, _json({"path": DATAPACKAGE, "hash": said}))


def _json(value: Mapping[str, object]) -> bytes:
    return f"{json.dumps(value, indent=2)}\n".encode()


def hash_written(file: BinaryIO) -> tuple[int, str]:
    """Size and SHA-256 of what was written, read back."""
    file.flush()
    sha256, at = hashlib.sha256(), 0
    while piece := os.pread(file.fileno(), _PIECE_BYTES, at):
        sha256.update(piece)
        at += len(piece)
    return at, sha256.hexdigest()
