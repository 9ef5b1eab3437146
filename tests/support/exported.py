"""WACZ files exported from stores, and what is in them: judged by zipfile and zlib alone."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from raw_payloads import RawRecord, payloads, raw_records

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import PinakesError
from pinakes.export.exporting import ExportReport, ExportRequest, WaczExporter
from pinakes.row_store.port import RowStore

Payloads = dict[bytes, tuple[bytes, bytes, str | None]]


def export(
    rows: RowStore,
    archive: ArchiveStore,
    crawl: str,
    target: Path,
    *,
    standalone: bool = False,
    problems: list[PinakesError] | None = None,
    at: Callable[[str], None] = lambda step: None,
) -> ExportReport:
    """Export a crawl of a store; what is said on the way goes into `problems`."""
    said: list[PinakesError] = [] if problems is None else problems
    exporter = WaczExporter(rows, archive, software="pinakes", on_problem=said.append, at=at)
    return exporter.export(ExportRequest(crawl=crawl, standalone=standalone), target)


def members(wacz: Path) -> dict[str, bytes]:
    """Every member; each has its CRC-32, is stored, and has the hash that is said of it."""
    with zipfile.ZipFile(wacz) as package:
        assert package.testzip() is None
        infos = package.infolist()
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        found = {info.filename: package.read(info) for info in infos}
        assert len(found) == len(infos)
    said = json.loads(found["datapackage-digest.json"])
    assert said == {"path": "datapackage.json", "hash": sha256(found["datapackage.json"])}
    resources = {one["path"]: one for one in described(found)["resources"]}
    assert resources.keys() == found.keys() - {"datapackage.json", "datapackage-digest.json"}
    for path, one in resources.items():
        assert (one["hash"], one["bytes"]) == (sha256(found[path]), len(found[path])), path
    assert len({one["name"] for one in resources.values()}) == len(resources)
    return found


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def described(found: dict[str, bytes]) -> dict[str, Any]:
    """Its `datapackage.json`."""
    parsed: dict[str, Any] = json.loads(found["datapackage.json"])
    return parsed


def archives(wacz: Path, folder: Path) -> list[Path]:
    """Its archive files, unpacked into a folder of its own."""
    paths = []
    for name, data in members(wacz).items():
        if name.startswith("archive/"):
            path = folder / wacz.stem / name.removeprefix("archive/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            paths.append(path)
    return paths


def given(waczs: Iterable[Path], folder: Path) -> Payloads:
    """What a reader of zlib alone is given by the archive files of all of these."""
    return payloads([path for wacz in waczs for path in archives(wacz, folder)])


def indexed(wacz: Path, folder: Path) -> dict[str, tuple[str, str]]:
    """Every line of its index, by what lies where it says: URI and type, by record id."""
    paths = {path.name: path for path in archives(wacz, folder)}
    lines = members(wacz)["indexes/index.cdx"].splitlines()
    assert lines == sorted(lines)
    found = {}
    for line in lines:
        fields = json.loads(line.split(b" ", 2)[2])
        record = record_at(paths[fields["filename"]], fields, folder)
        name = (record.get(b"WARC-Record-ID") or b"").decode()
        assert name not in found
        found[name] = (fields["url"], fields["mime"])
        assert (record.get(b"WARC-Target-URI") or b"").decode() == fields["url"]
    return found


def record_at(path: Path, fields: dict[str, str], folder: Path) -> RawRecord:
    """The record of an index line."""
    start = int(fields["offset"])
    part = folder / "part"
    part.write_bytes(path.read_bytes()[start : start + int(fields["length"])])
    [record] = raw_records(part)
    return record
