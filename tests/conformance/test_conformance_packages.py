"""What `pinakes check` finds in WACZ files, rule by rule."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_builders import gzip_file
from packages import PAGES, write_package

from pinakes.cli import main
from pinakes.conformance.table import GROUPS

Members = dict[str, bytes]
ARCHIVE = gzip_file()
PAGE = b'{"url": "http://example.org/", "ts": "2024-02-29T10:20:30Z"}\n'
LINE = b'org,example)/ 20240229102030 {"offset": "0", "length": "20", "filename": "%s"}\n'


def described(members: Members, **more: object) -> Members:
    """The members, with a `datapackage.json` of them and its digest."""
    resources = [
        {
            "name": name.rpartition("/")[2],
            "path": name,
            "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "bytes": len(data),
        }
        for name, data in members.items()
    ]
    found = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources, **more}
    return digested({**members, "datapackage.json": json.dumps(found).encode()})


def digested(members: Members) -> Members:
    sha256 = hashlib.sha256(members["datapackage.json"]).hexdigest()
    digest = {"path": "datapackage.json", "hash": f"sha256:{sha256}"}
    return {**members, "datapackage-digest.json": json.dumps(digest).encode()}


def plain() -> Members:
    return {
        "archive/a.warc.gz": ARCHIVE,
        "indexes/index.cdx": LINE % b"a.warc.gz",
        "pages/pages.jsonl": PAGES.splitlines(keepends=True)[0] + PAGE,
    }


def without(members: Members, name: str) -> Members:
    return {key: data for key, data in members.items() if key != name}


def changed(field: str, value: object) -> Members:
    """What is said of the first member is another thing."""
    members = described(plain())
    found = json.loads(members["datapackage.json"])
    found["resources"][0][field] = value
    return digested({**members, "datapackage.json": json.dumps(found).encode()})


def index(data: bytes, name: str = "index.cdx") -> Members:
    return described({**without(plain(), "indexes/index.cdx"), f"indexes/{name}": data})


def pages(data: bytes) -> Members:
    return described({**plain(), "pages/pages.jsonl": data})


BROKEN: dict[str, tuple[str, Callable[[], Members]]] = {
    "no WARC": ("package-archive-missing", lambda: described(
        {**without(plain(), "archive/a.warc.gz"), "indexes/index.cdx": b"!meta 0\n"})),
    "a WARC elsewhere": ("package-archive-missing", lambda: described(
        {**without(plain(), "archive/a.warc.gz"), "indexes/index.cdx": b"", "a.warc.gz": ARCHIVE})),
    "no index": ("package-index-missing", lambda: described(without(plain(), "indexes/index.cdx"))),
    "no pages": ("package-pages-missing", lambda: described(without(plain(), "pages/pages.jsonl"))),
    "no description": ("package-description-missing", plain),
    "a description that is no JSON": ("package-description-form", lambda: digested(
        {**plain(), "datapackage.json": b"{"})),
    "no version": ("package-description-form", lambda: described(plain(), wacz_version=None)),
    "another profile": ("package-description-form", lambda: described(plain(), profile="x")),
    "no list": ("package-description-form", lambda: described(plain(), resources={})),
    "no path": ("package-description-form", lambda: described(
        plain(), resources=[*json.loads(described(plain())["datapackage.json"])["resources"], 1])),
    "a member that is gone": ("package-resource-missing", lambda: without(
        {**described({**plain(), "other/x.txt": b"x"})}, "other/x.txt")),
    "a member more": ("package-resource-unlisted", lambda: {
        **described(plain()), "other/x.txt": b"x"}),
    "the hash of another": ("package-resource-hash", lambda: changed("hash", "sha256:" + 64 * "0")),
    "no hash": ("package-resource-hash", lambda: changed("hash", None)),
    "another size": ("package-resource-bytes", lambda: changed("bytes", 0)),
    "no digest": ("package-digest-missing", lambda: without(
        described(plain()), "datapackage-digest.json")),
    "the digest of another": ("package-digest-wrong", lambda: {
        **described(plain()), "datapackage-digest.json": digested(
            {"datapackage.json": b"x"})["datapackage-digest.json"]}),
    "a digest that is no JSON": ("package-digest-wrong", lambda: {
        **described(plain()), "datapackage-digest.json": b"x"}),
    "a page without a time": ("package-page", lambda: pages(b'{"url": "http://example.org/"}\n')),
    "a page that is no JSON": ("package-page", lambda: pages(PAGE + b"{\n")),
    "an index of another file": ("package-index-line", lambda: index(LINE % b"b.warc.gz")),
    "a place behind the end": ("package-index-line", lambda: index(
        (LINE % b"a.warc.gz").replace(b'"20"', b'"999999"'))),
    "a line that is no CDXJ": ("package-index-line", lambda: index(b"x\n")),
    "a damaged index": ("package-index-line", lambda: index(
        gzip.compress(LINE % b"a.warc.gz")[:-6], "index.cdx.gz")),
}  # fmt: skip
SOUND: dict[str, Callable[[], Members]] = {
    "as it should be": lambda: described(plain()),
    "a path in the index": lambda: index(LINE % b"archive/a.warc.gz"),
    "a compressed index": lambda: index(gzip.compress(LINE % b"a.warc.gz"), "index.cdx.gz"),
    "a header of ZipNum": lambda: index(b'!meta 0 {"format": "cdxj-gzip-1.0"}\n'),
    "no header of pages": lambda: pages(PAGE),
}


def codes(path: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    main(["-q", "check", "--json", str(path)])
    lines = capsys.readouterr().out.splitlines()
    found = {json.loads(line)["code"] for line in lines}
    return {code for code in found if code.startswith("package-")}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_breaks_one_rule(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, members = BROKEN[case]
    assert codes(write_package(tmp_path / "a.wacz", members()), capsys) == {code}


@pytest.mark.parametrize("case", SOUND)
def test_a_sound_package_breaks_none(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert codes(write_package(tmp_path / "a.wacz", SOUND[case]()), capsys) == set()


def test_a_compressed_archive_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_package(tmp_path / "a.wacz", described(plain()), deflated=True)
    assert codes(path, capsys) == {"package-compression"}


def test_a_wrong_crc_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both, in the local header and in the directory: nothing but the bytes says that it is."""
    path = write_package(tmp_path / "a.wacz", described(plain()))
    with zipfile.ZipFile(path) as package:
        stated = package.getinfo("pages/pages.jsonl").CRC.to_bytes(4, "little")
    data = path.read_bytes()
    assert data.count(stated) == 2
    path.write_bytes(data.replace(stated, b"\0\1\2\3"))
    assert codes(path, capsys) == {"package-crc"}


def test_no_member_that_was_read_is_called_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = write_package(tmp_path / "inner.wacz", described(plain())).read_bytes()
    path = write_package(tmp_path / "a.wacz", described({**plain(), "inner.wacz": inner}))
    main(["check", str(path)])
    told = capsys.readouterr().err.splitlines()
    skipped = [line for line in told if "skipped" in line]
    assert len(skipped) == 1, told
    # Of a package in a package only the archive files are read.
    assert skipped[0].startswith("3 files skipped ")
    assert skipped[0].count("a.wacz/inner.wacz/") == 3


def test_every_rule_of_packages_has_a_case() -> None:
    cases = {code for code, _ in BROKEN.values()} | {"package-compression", "package-crc"}
    assert cases == {rule.code for rule in GROUPS["WACZ files"]}


@pytest.mark.parametrize(
    ("name", "code"),
    [("U-stale-hash", "package-resource-hash"), ("V5-nodp", "package-description-missing")],
)
def test_public_reports(
    name: str, code: str, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code in codes(shared_data / "cases" / f"{name}.wacz", capsys)


def test_what_is_exported_breaks_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.warc.gz").write_bytes(ARCHIVE)
    store = ["--store", str(tmp_path / "store")]
    assert main(["-q", "init", *store]) == 0
    assert main(["-q", "ingest", str(tmp_path / "a.warc.gz"), "--crawl", "c", *store]) == 0
    assert main(["-q", "export-wacz", "c", "-o", str(tmp_path / "c.wacz"), *store]) == 0
    capsys.readouterr()
    assert codes(tmp_path / "c.wacz", capsys) == set()
