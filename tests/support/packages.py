"""WACZ packages as files: of archive files made here, stored or deflated."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from archive_builders import gzip_file

PAGES = b'{"format": "json-pages-1.0", "id": "pages"}\n{"url": "http://example.org/0"}\n'
_TIME = (2024, 2, 29, 10, 20, 30)


def members_of(archives: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Archive files under archive/, pages, an index, and a `datapackage.json` that names all."""
    members = {
        f"archive/{name}": data for name, data in (archives or {"a.warc.gz": gzip_file()}).items()
    }
    members |= {"indexes/index.cdx": b"an index\n", "pages/pages.jsonl": PAGES}
    resources = [
        {"name": name, "path": name, "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        for name, data in members.items()
    ]
    return members | {"datapackage.json": json.dumps({"resources": resources}).encode()}


def write_package(
    path: Path, members: Mapping[str, bytes] | None = None, *, deflated: bool = False
) -> Path:
    """A package at `path`; the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    how = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", how) as package:
        for name, data in (members_of() if members is None else members).items():
            package.writestr(zipfile.ZipInfo(name, _TIME), data, compress_type=how)
    return path


def with_datapackage(members: Mapping[str, bytes], **more: object) -> dict[str, bytes]:
    """The members, with these fields in `datapackage.json`."""
    found = json.loads(members["datapackage.json"])
    return {**members, "datapackage.json": json.dumps({**found, **more}).encode()}


def signing(found: Mapping[str, bytes], hash_of: bytes | None = None) -> dict[str, bytes]:
    """The members with a signature of their `datapackage.json`, or of another."""
    data = found["datapackage.json"] if hash_of is None else hash_of
    said = f"sha256:{hashlib.sha256(data).hexdigest()}"
    digest = {"path": "datapackage.json", "hash": said, "signedData": {"hash": said, "by": "me"}}
    return {**found, "datapackage-digest.json": json.dumps(digest).encode()}
