"""`datapackage.json` of a WACZ file, and the digest of it: written behind all other members.

Source: WACZ 1.1.1, "datapackage.json" and "datapackage-digest.json".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO, NamedTuple

from .wacz_file import WaczFile

DATAPACKAGE, DIGEST = "datapackage.json", "datapackage-digest.json"
WACZ_VERSION = "1.1.1"
_PIECE_BYTES = 1 << 20


class Described(NamedTuple):
    """What a WACZ file of archive files holds; `size` and `sha256` are those of the WACZ file."""

    files: int
    captures: int
    archive_bytes: int
    size: int = 0
    sha256: str = ""


def write_description(
    out: WaczFile, more: Mapping[str, object], *, moment: datetime, software: str
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
