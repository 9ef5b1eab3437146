"""What `datapackage.json` says of the members of a package.  Pure.

Source: WACZ 1.1.1 §5.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

DATAPACKAGE = "datapackage.json"
LONGEST_DATAPACKAGE = 1 << 26
WRONG_SHA256 = f"the SHA-256 in {DATAPACKAGE} is that of other bytes"
_SHA256 = re.compile(r"sha256:([0-9a-f]{64})")
_SEVERAL = "several"  # in place of the hash of a path that has more than one


class Declared(NamedTuple):
    """What a package says of a member: CRC-32, and SHA-256 in hex if `datapackage.json` has it;
    empty if the hash there is none.

    `is_readable` is False where there is a `datapackage.json`, and it cannot be understood.
    """

    crc32: int
    sha256: str | None
    is_readable: bool


def read_resources(file: BinaryIO) -> dict[str, object] | None:
    """The hash of each path in `datapackage.json`, something else where a path has several; None
    if the file cannot be understood."""
    try:
        resources = json.loads(file.read())["resources"]
        return _hashes_of(resources) if isinstance(resources, list) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _hashes_of(resources: list[dict[str, object]]) -> dict[str, object]:
    hashes: dict[str, object] = {}
    for resource in resources:
        path, declared = str(resource["path"]), resource.get("hash")
        if hashes.get(path) is None:
            hashes[path] = declared
        elif declared not in (None, hashes[path]):
            hashes[path] = _SEVERAL
    return hashes


def why_not_that_of(declared: str | None, sha256: str) -> str | None:
    """Why bytes with this SHA-256 are not, or not known to be, those of a `Declared.sha256`."""
    if declared in (None, sha256):
        return None
    if not declared:
        return f"{DATAPACKAGE} gives no SHA-256 (sha256:…), or several: it was not compared"
    return WRONG_SHA256


def sha256_of(resources: Mapping[str, object], name: str) -> str | None:
    """The SHA-256 of a member, as of `Declared`."""
    declared = resources.get(name)
    found = _SHA256.fullmatch(str(declared).lower())
    return found[1] if found else None if declared is None else ""
