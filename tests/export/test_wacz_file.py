"""WACZ files member by member: the names they have, ZIP64, reading back."""

from __future__ import annotations

import re
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from random import Random

import pytest

from pinakes.export.contents import flat_name, member_names, plain_name
from pinakes.export.wacz_file import WaczWriter
from pinakes.warc.packages.paths import open_package

MOMENT = datetime(2026, 11, 25, 18, 8, 11, 999, timezone.utc)


def written(path: Path, moment: datetime = MOMENT, **found: bytes) -> list[tuple[str, str]]:
    """A file of these members; names and paths of its resources."""
    with path.open("w+b") as file:
        out = WaczWriter(file, moment)
        for number, (name, data) in enumerate(found.items()):
            with out.member(name.replace("__", "/"), len(data) if number % 2 else None) as member:
                for at in range(0, len(data), 7):
                    member.write(memoryview(data)[at : at + 7])
            source = out.read(out.last)
            assert bytes(source.view(0, len(data))) == data
        out.close()
        return [(one.name, one.path) for one in out.resources]


def assert_alike(path: Path) -> None:
    """A local header has an extra field only where the directory has one."""
    with zipfile.ZipFile(path) as package, path.open("rb") as file:
        for info in package.infolist():
            file.seek(info.header_offset)
            header = file.read(30)
            assert header[:4] == b"PK\x03\x04"
            assert int.from_bytes(header[28:30], "little") <= len(info.extra)


def test_members_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = {"archive__a.warc.gz": b"a" * 100, "pages__p.jsonl": b"", "x__ü": b"b" * 1000}
    written(tmp_path / "a.wacz", **found)
    with zipfile.ZipFile(tmp_path / "a.wacz") as package:
        assert package.testzip() is None
        for info, (name, data) in zip(package.infolist(), found.items(), strict=True):
            assert (info.filename, package.read(info)) == (name.replace("__", "/"), data)
            assert (info.compress_type, info.date_time) == (
                zipfile.ZIP_STORED,
                (2026, 11, 25, 18, 8, 10),
            )
    assert_alike(tmp_path / "a.wacz")
    with open_package(str(tmp_path / "a.wacz")) as ours:
        assert list(ours.archives()) == ["archive/a.warc.gz"]
        with ours.opened("archive/a.warc.gz") as file:
            assert file.read() == b"a" * 100


def test_what_is_older_than_zip_has_its_first_day(tmp_path: Path) -> None:
    written(tmp_path / "a.wacz", datetime(1970, 1, 1, tzinfo=timezone.utc), a=b"a")
    with zipfile.ZipFile(tmp_path / "a.wacz") as package:
        assert package.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_names_of_resources_differ(tmp_path: Path) -> None:
    names = written(tmp_path / "a.wacz", a__X=b"", b__x=b"", c__é=b"", **{"d__x-2": b""})
    assert names == [("x", "a/X"), ("x-2", "b/x"), ("-", "c/é"), ("x-2-2", "d/x-2")]


@pytest.mark.slow
def test_more_members_than_zip_counts(tmp_path: Path) -> None:
    with (tmp_path / "a.wacz").open("w+b") as file:
        out = WaczWriter(file, MOMENT)
        for number in range(70_000):
            out.write(f"archive/{number}.warc", b"%d" % number)
        out.close()
    with zipfile.ZipFile(tmp_path / "a.wacz") as package:
        assert len(package.infolist()) == 70_000
        assert package.read("archive/69999.warc") == b"69999"


@pytest.mark.large
def test_a_member_of_nearly_two_gigabytes_has_no_extra_field(tmp_path: Path) -> None:
    """zipfile itself would give it one, by 1.05 times its size, in the local header alone."""
    piece, count = bytes(1 << 20), 2040
    with (tmp_path / "a.wacz").open("w+b") as file:
        out = WaczWriter(file, MOMENT)
        with out.member("archive/a.warc", count << 20) as member:
            for _ in range(count):
                member.write(piece)
        out.close()
    assert_alike(tmp_path / "a.wacz")


@pytest.mark.large
def test_members_larger_than_zip_counts(tmp_path: Path) -> None:
    """One whose size is known before, one whose size is not, and one behind them."""
    piece = Random(1).randbytes(1 << 20)
    count = (1 << 12) + 10
    with (tmp_path / "a.wacz").open("w+b") as file:
        out = WaczWriter(file, MOMENT)
        for name, size in (("archive/a.warc", count << 20), ("archive/b.warc", None)):
            with out.member(name, size) as member:
                for _ in range(count):
                    member.write(piece)
            assert out.last.size == count << 20
        out.write("archive/c.warc", b"last")
        out.close()
    with zipfile.ZipFile(tmp_path / "a.wacz") as package:
        assert package.testzip() is None
    assert_alike(tmp_path / "a.wacz")
    with open_package(str(tmp_path / "a.wacz")) as ours:
        for name in ("archive/a.warc", "archive/b.warc"):
            with ours.opened(name) as file:
                assert file.seek(0, 2) == count << 20
                file.seek((count - 1) << 20)
                assert file.read() == piece
        with ours.opened("archive/c.warc") as file:
            assert file.read() == b"last"


@pytest.mark.parametrize(
    "wanted",
    [
        {"c/a.warc": "a.warc"},
        {"c/x/a.warc": "a.warc", "c/y/b.warc": "b.warc"},
        {
            "c/x.wacz/archive/a.warc": "x-archive-a.warc",
            "c/y.wacz/archive/a.warc": "y-archive-a.warc",
        },
        {"c/a.warc": "a.warc", "c/x/A.WARC": "x-A.WARC"},
        {"c/x/a.warc": None, "c/y/a.warc": "y-a.warc", "c/x-a.warc": "x-a.warc"},
        {"c/a\\b.warc": "a%5Cb.warc", "c/a\x01b.warc": "a%01b.warc", "c/\udcff.warc": "%FF.warc"},
        {"c/a\\b.warc": None, "c/a%5Cb.warc": "a%5Cb.warc"},
        {"c/f.txt": "f.txt.warc", "c/noext": "noext.warc", "c/x/y.warc.open": "y.warc.open.warc"},
        {"c/a": None, "c/a.warc": "a.warc", "c/x/a": "x-a.warc"},
    ],
    ids=[
        "one",
        "folders",
        "packages",
        "case",
        "taken",
        "odd",
        "odd and taken",
        "end",
        "end, taken",
    ],
)
def test_names_of_archive_files(wanted: dict[str, str | None]) -> None:
    """None: a mark before its base name."""
    ends = {name: "" if name.lower().endswith(".warc") else ".warc" for name in wanted}
    found = member_names(ends)
    assert found == member_names(dict(reversed(ends.items())))
    assert len({name.casefold() for name in found.values()}) == len(wanted)
    for file, name in wanted.items():
        if name is None:
            assert re.fullmatch(r"[0-9a-f]{16}-a(%5Cb)?\.warc", found[file])
        else:
            assert found[file] == name


def test_a_long_path_is_cut_at_its_start() -> None:
    name = flat_name(f"{'d' * 150}/{'e' * 100}/a.warc.gz")
    assert (len(name), name[-10:]) == (200, "-a.warc.gz")
    assert len(plain_name("\x01" * 255)) == 200
    assert plain_name("a\udc80b") == "a%80b"
