"""Images as files, named by their digest.

    FOLDER/SHA-256.png

Written to a temporary file, synced and renamed.  Modes follow the umask, since folders of images
are published on web servers.
"""

from __future__ import annotations

import os
import secrets
import struct
from hashlib import sha256
from pathlib import Path

from pinakes.errors import DigestMismatch
from pinakes.qa.browsers.tab import PageRefused
from pinakes.qa.snapshot import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def keep_image(folder: Path, png: bytes) -> Image:
    """Write an image unless it exists; a damaged one is replaced.

    Raises:
        PageRefused: the browser's image is not a PNG.
        OSError: the disk is full, or the like.
    """
    size = png_size(png)
    if size is None:
        raise PageRefused(f"not a PNG: {len(png)} bytes")
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
        DigestMismatch: the file has other bytes.
    """
    png = (folder / image.name).read_bytes()
    if sha256(png).hexdigest() != image.sha256:
        raise DigestMismatch("image does not match its name", file=str(folder / image.name))
    return png


def png_size(png: bytes) -> tuple[int, int] | None:
    """Width and height by the header (PNG, third edition, §11.2.1); None if not a PNG."""
    if len(png) < 33 or not png.startswith(_SIGNATURE) or png[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".writing-{secrets.token_hex(8)}")
    try:
        with aside.open("xb") as out:
            out.write(content)
            out.flush()
            # Otherwise a power loss may leave an empty file of that name.
            os.fsync(out.fileno())
        aside.rename(file)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
