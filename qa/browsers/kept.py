"""Snapshots in a folder: images named by their digest, and a JSON document beside them.

    FOLDER/SHA-256.png
    FOLDER/NAME.json        an encoded `Snapshot`

Written aside, brought to disk and renamed.  As readable as the umask has it: a folder of images
is put on a web server.
"""

from __future__ import annotations

import os
import secrets
import struct
from hashlib import sha256
from pathlib import Path

from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.qa.browsers.tab import PageRefused
from pinakes.qa.snapshot import Image, Snapshot, decode_snapshot, encode_snapshot

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def keep_image(folder: Path, png: bytes) -> Image:
    """Write an image, unless it is there; a damaged one is replaced.

    Raises:
        PageRefused: the browser gave what is no PNG.
        OSError: the disk is full, or the like.
    """
    size = png_size(png)
    if size is None:
        raise PageRefused(f"{len(png)} bytes that are no PNG")
    digest = sha256(png).hexdigest()
    name = f"{digest}.png"
    if not _has(folder / name, png):
        _write(folder / name, png)
    return Image(name=name, sha256=digest, width=size[0], height=size[1])


def _has(file: Path, content: bytes) -> bool:
    try:
        return file.stat().st_size == len(content) and file.read_bytes() == content
    except FileNotFoundError:
        return False


def read_image(folder: Path, image: Image) -> bytes:
    """The bytes of an image.

    Raises:
        DigestMismatch: they are not those that were kept.
    """
    png = (folder / image.name).read_bytes()
    if sha256(png).hexdigest() != image.sha256:
        raise DigestMismatch("not the image that was kept", file=str(folder / image.name))
    return png


def png_size(png: bytes) -> tuple[int, int] | None:
    """Width and height as the header says (PNG, third edition, §11.2.1); None for no PNG."""
    if len(png) < 33 or not png.startswith(_SIGNATURE) or png[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def write_snapshot(file: Path, snapshot: Snapshot) -> None:
    """Write it whole, or not at all."""
    _write(file, encode_snapshot(snapshot))


def read_snapshot(file: Path) -> Snapshot:
    """Read what `write_snapshot` wrote.

    Raises:
        MalformedRecord: it is no snapshot, with the file's name.
    """
    try:
        return decode_snapshot(file.read_bytes())
    except MalformedRecord as error:
        raise MalformedRecord(error.message, file=str(file)) from error


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".writing-{secrets.token_hex(8)}")
    try:
        with aside.open("xb") as out:
            out.write(content)
            out.flush()
            # Else a power loss may leave the name, of nothing.
            os.fsync(out.fileno())
        aside.rename(file)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
