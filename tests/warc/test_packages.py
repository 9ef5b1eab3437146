"""Archive files in packages: read as they are, whatever the ZIP file is like."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from archive_builders import gzip_file, plain_file
from packages import PAGES, members_of, write_package

from pinakes.errors import InputRefused
from pinakes.warc.opening import is_file, open_source, size_of
from pinakes.warc.packages.datapackage import Declared
from pinakes.warc.packages.package import DOCUMENTS
from pinakes.warc.packages.paths import flat_name, open_member, open_package, split_member
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record


@pytest.mark.parametrize("deflated", [False, True], ids=["stored", "deflated"])
def test_a_member_is_read_at_any_place(tmp_path: Path, deflated: bool) -> None:
    data = gzip_file()
    path = write_package(tmp_path / "a.wacz", deflated=deflated)
    with open_source(f"{path}/archive/a.warc.gz") as source:
        assert source.size == len(data)
        for offset in (len(data) - 3, 0, 7, len(data)):
            assert bytes(source.view(offset, 5)) == data[offset : offset + 5]
        assert [type(item) for item in iter_records(source)] == [Record] * 3
        source.check_unchanged()


def test_members_of_members_are_read(tmp_path: Path) -> None:
    inner = write_package(tmp_path / "inner.wacz", members_of({"b.warc": plain_file()}))
    members = members_of() | {"more/inner.wacz": inner.read_bytes()}
    for deflated in (False, True):
        path = write_package(tmp_path / "outer.WACZ", members, deflated=deflated)
        with open_package(str(path)) as package:
            assert list(package.archives()) == [
                "archive/a.warc.gz",
                "more/inner.wacz/archive/b.warc",
            ]
            assert package.declared("more/inner.wacz/archive/b.warc") is not None
        with open_member(f"{path}/more/inner.wacz/archive/b.warc") as file:
            assert file.read() == plain_file()


def test_a_change_of_the_package_is_noticed(tmp_path: Path) -> None:
    path = write_package(tmp_path / "a.wacz")
    with open_source(f"{path}/archive/a.warc.gz") as source:
        path.write_bytes(path.read_bytes() + b"\0")
        with pytest.raises(InputRefused, match="changed while it was read"):
            source.check_unchanged()


def test_documents_are_records_of_the_same_bytes_each_time(tmp_path: Path) -> None:
    members = members_of()
    stored = write_package(tmp_path / "one" / "a.wacz", members)
    deflated = write_package(tmp_path / "two" / "a.wacz", members, deflated=True)
    with open_package(str(stored)) as package:
        assert list(package.archives(documents=True)) == ["archive/a.warc.gz", DOCUMENTS]
        assert list(package.others()) == ["datapackage.json", "pages/pages.jsonl"]
    with open_member(f"{stored}/{DOCUMENTS}") as one, open_member(f"{deflated}/{DOCUMENTS}") as two:
        assert one.read() == two.read()
    with open_source(f"{stored}/{DOCUMENTS}") as source:
        package_json, pages = (item for item in iter_records(source) if isinstance(item, Record))
        assert package_json.target_uri == "urn:wacz:a.wacz/datapackage.json"
        assert b"".join(package_json.payload()) == members["datapackage.json"]
        assert b"".join(pages.payload()) == PAGES
        assert (pages.type, pages.header.get("WARC-Date")) == ("resource", "2024-02-29T10:20:30Z")
        assert pages.findings == package_json.findings == ()


def test_what_a_package_declares(tmp_path: Path) -> None:
    members = members_of()
    described = json.loads(members["datapackage.json"])
    described["resources"].append({"path": "archive/lost.warc.gz", "hash": "sha256:00"})
    members["datapackage.json"] = json.dumps(described).encode()
    with open_package(str(write_package(tmp_path / "a.wacz", members))) as package:
        assert package.lacks() == ["archive/lost.warc.gz"]
        declared = package.declared("archive/a.warc.gz")
        assert declared is not None
        assert declared.sha256 == described["resources"][0]["hash"].removeprefix("sha256:")
        assert package.declared(DOCUMENTS) is None
    for text in (
        b"{",
        b"[]",
        b'{"resources": 3}',
        b'{"resources": {}}',
        b'{"resources": [{"path": "a"}]}',
        b"\xff",
    ):
        path = write_package(tmp_path / "b.wacz", members | {"datapackage.json": text})
        with open_package(str(path)) as package:
            assert package.lacks() == []
            assert package.declared("archive/a.warc.gz") == Declared(
                declared.crc32, None, is_readable=b"path" in text
            )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("../a.warc.gz", "the name of a member is no path", id="above"),
        pytest.param("/etc/a.warc.gz", "the name of a member is no path", id="absolute"),
        pytest.param("archive//a.warc.gz", "the name of a member is no path", id="empty-part"),
        pytest.param("archive\\a.warc.gz", "the name of a member is no path", id="backslash"),
        pytest.param("./a.warc.gz", "the name of a member is no path", id="dot"),
        pytest.param("", "the name of a member is no path", id="empty"),
        pytest.param("archive/a.warc.gz/", "a folder that has bytes", id="folder"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    path = write_package(tmp_path / "a.wacz", {name: gzip_file()})
    with pytest.raises(InputRefused, match=reason), open_package(str(path)):
        pass


@pytest.mark.parametrize(
    "name",
    ["archive/a\0b.warc.gz", "archive/\0.warc.gz", "\0", "pages/\0a/", "a.warc.gz\0"],
    ids=["within", "behind-a-folder", "alone", "of-a-folder", "at-the-end"],
)
def test_a_name_with_a_nul_is_refused_and_not_cut(tmp_path: Path, name: str) -> None:
    plain = name.replace("\0", "!")
    path = write_package(tmp_path / "a.wacz", {plain: b"" if name[-1] == "/" else gzip_file()})
    path.write_bytes(path.read_bytes().replace(plain.encode(), name.encode()))
    with pytest.raises(InputRefused, match=r"is no path: .*x00"), open_package(str(path)):
        pass


@pytest.mark.parametrize("name", ["archive/b\0c.warc.gz", "archive/\0.warc.gz"])
def test_a_nul_in_a_unicode_path_is_refused_where_that_is_taken(tmp_path: Path, name: str) -> None:
    """By Python 3.12 and later; others take the plain name.  APPNOTE.TXT 6.3.10 §4.6.9."""
    plain = "archive/a.warc.gz"
    info, crc32 = zipfile.ZipInfo(plain), zlib.crc32(plain.encode())
    field = struct.pack("<BL", 1, crc32) + name.encode()
    info.extra = struct.pack("<HH", 0x7075, len(field)) + field
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as writer:
        writer.writestr(info, gzip_file())
    if zipfile.ZipFile(path).namelist() == [plain]:
        with open_package(str(path)) as package:
            assert list(package.archives()) == [plain]
    else:
        with pytest.raises(InputRefused, match=r"is no path: .*x00"), open_package(str(path)):
            pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("archive/a.warc", b"one")
        package.writestr("archive/a.warc", b"two")
    with pytest.raises(InputRefused, match="two members are named"), open_package(str(path)):
        pass


def test_a_package_cut_off_anywhere_is_refused_or_whole(tmp_path: Path) -> None:
    data = write_package(tmp_path / "whole.wacz").read_bytes()
    path = tmp_path / "a.wacz"
    for size in range(0, len(data), 5):
        path.write_bytes(data[:size])
        with pytest.raises(InputRefused, match="not a readable ZIP file"), open_package(str(path)):
            pass


@pytest.mark.parametrize("deflated", [False, True], ids=["stored", "deflated"])
def test_with_any_byte_wrong_a_package_is_refused_or_read(tmp_path: Path, deflated: bool) -> None:
    """No other error; what is inflated is right, what is stored is as long as it was."""
    right = gzip_file()
    data = bytearray(write_package(tmp_path / "whole.wacz", deflated=deflated).read_bytes())
    path, read = tmp_path / "a.wacz", 0
    for at in range(0, len(data), 3):
        data[at] ^= 0xFF
        path.write_bytes(data)
        data[at] ^= 0xFF
        try:
            with open_member(f"{path}/archive/a.warc.gz") as file:
                found = file.read()
        except InputRefused:
            continue
        read += 1
        assert found == right if deflated else len(found) == len(right)
    assert read > len(data) // 9


@pytest.mark.parametrize(
    ("offset", "value", "reason"),
    [
        pytest.param(8, 1, "encrypted", id="encrypted"),
        pytest.param(10, 99, "cannot be read", id="unknown-method"),
        pytest.param(24, 1 << 30, "longer than the file|[Oo]verlap", id="longer-than-file"),
        pytest.param(20, 99, "longer than the file", id="shorter"),
        pytest.param(42, 7, "bytes before the first member", id="no-local-header"),
    ],
)
def test_a_directory_that_lies_is_refused(
    tmp_path: Path, offset: int, value: int, reason: str
) -> None:
    path = write_package(tmp_path / "a.wacz", {"archive/a.warc.gz": gzip_file()})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + offset
    struct.pack_into("<I" if offset >= 20 else "<H", data, at, value)
    if offset == 24:
        struct.pack_into("<I", data, at - 4, value)
    path.write_bytes(data)
    with pytest.raises(InputRefused, match=reason), open_member(f"{path}/archive/a.warc.gz"):
        pass


def _two(tmp_path: Path) -> tuple[Path, bytearray]:
    members = {"archive/a.warc": b"1234", "archive/b.warc": b"5678"}
    path = write_package(tmp_path / "a.wacz", members)
    return path, bytearray(path.read_bytes())


def test_a_directory_in_which_a_member_is_another_is_refused(tmp_path: Path) -> None:
    path, data = _two(tmp_path)
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 0)
    path.write_bytes(data)
    with pytest.raises(InputRefused, match="members overlap"), open_package(str(path)):
        pass


@pytest.mark.parametrize("size", [0, 2], ids=["empty", "half"])
def test_a_directory_that_shortens_a_member_is_refused(tmp_path: Path, size: int) -> None:
    path, data = _two(tmp_path)
    struct.pack_into("<II", data, data.index(b"PK\x01\x02") + 20, size, size)
    path.write_bytes(data)
    with (
        pytest.raises(InputRefused, match="otherwise than the local"),
        open_member(f"{path}/archive/a.warc"),
    ):
        pass


@pytest.mark.parametrize(
    ("before", "behind", "reason"),
    [
        (b"x", b"", "1 byte before the first member"),
        (b"", b"x", "does not end where it says"),
        (b"", b"PK\x05\x06" + bytes(18), "does not end where it says|not a readable ZIP"),
    ],
    ids=["before", "behind", "another-end"],
)
def test_bytes_that_no_member_holds_are_refused(
    tmp_path: Path, before: bytes, behind: bytes, reason: str
) -> None:
    path, data = _two(tmp_path)
    if len(behind) > 1:  # in the comment
        struct.pack_into("<H", data, len(data) - 2, len(behind) + 9)
        behind += b"more here"
    path.write_bytes(before + data + behind)
    with pytest.raises(InputRefused, match=reason), open_package(str(path)):
        pass


def test_sizes_behind_a_member_are_compared(tmp_path: Path) -> None:
    """As writers do it that cannot go back: zeros in the local header, a descriptor behind."""

    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, piece: Any) -> int:
            self.data += piece
            return len(piece)

    stream, path = Stream(), tmp_path / "a.wacz"
    with zipfile.ZipFile(stream, "w") as package:  # type: ignore[arg-type]
        package.writestr("archive/a.warc", b"1234")
    path.write_bytes(stream.data)
    with open_member(f"{path}/archive/a.warc") as file:
        assert file.read() == b"1234"
    struct.pack_into("<II", stream.data, stream.data.index(b"PK\x01\x02") + 20, 3, 3)
    path.write_bytes(stream.data)
    with pytest.raises(InputRefused, match="otherwise than"), open_member(f"{path}/archive/a.warc"):
        pass


def test_documents_have_a_name_that_no_member_has(tmp_path: Path) -> None:
    members = members_of() | {DOCUMENTS: plain_file(), "pages/indexes/a.txt": b"kept"}
    path = write_package(tmp_path / "a.wacz", members)
    with open_package(str(path)) as package:
        names = list(package.archives(documents=True))
        assert names == ["archive/a.warc.gz", DOCUMENTS, "documents-2.warc"]
        assert "pages/indexes/a.txt" in package.others()
    with open_member(f"{path}/documents-2.warc") as file:
        assert b"kept" in file.read()
    with open_member(f"{path}/{DOCUMENTS}") as file:
        assert file.read() == plain_file()


def test_a_folder_named_as_a_package_is_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz" / "archive" / "a.warc.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip_file())
    assert split_member(str(path)) is None
    assert (is_file(path), size_of(path)) == (True, len(gzip_file()))


def test_what_is_not_there(tmp_path: Path) -> None:
    path = write_package(tmp_path / "a.wacz")
    assert split_member(f"{path}/archive/none.warc") == (str(path), "archive/none.warc")
    assert not is_file(f"{path}/archive/none.warc")
    assert size_of(path) == path.stat().st_size
    for place, reason in [
        (f"{path}/archive/none.warc", "no archive/none.warc in this package"),
        (f"{path}", "a package: name one in it, like archive/a.warc.gz"),
        (f"{tmp_path}/b.wacz/archive/a.warc", "No such file"),
    ]:
        with pytest.raises(InputRefused, match=reason), open_source(place):
            pass


@pytest.mark.parametrize(
    ("name", "flat"),
    [
        ("a.warc.gz", "a.warc.gz"),
        ("folder/a.warc.gz", "folder/a.warc.gz"),
        ("crawl.wacz/archive/data.warc.gz", "crawl-data.warc.gz"),
        ("folder/crawl.WACZ/archive/data.warc", "folder/crawl-data.warc"),
        ("one.wacz/more/two.wacz/archive/data.warc", "one-two-data.warc"),
        ("crawl.wacz", "crawl.wacz"),
    ],
)
def test_names_of_copies(name: str, flat: str) -> None:
    assert flat_name(name) == flat


def test_what_unpacks_to_a_multiple_is_a_bomb(tmp_path: Path) -> None:
    path = write_package(tmp_path / "a.wacz", {"archive/a.warc": bytes(1000)}, deflated=True)
    said = struct.pack("<L", 1000), struct.pack("<L", 2_000_000_000)
    bomb = path.read_bytes().replace(*said)
    path.write_bytes(bomb)
    outer = write_package(tmp_path / "outer.wacz", {"a.wacz": bomb})
    for place in (path, outer):
        with (
            pytest.raises(InputRefused, match="unpack to 2,000,000,000 bytes"),
            open_package(str(place)) as package,
        ):
            list(package.archives())


@pytest.mark.parametrize("deflated", [False, True], ids=["stored", "deflated"])
def test_packages_lie_in_each_other_seven_times(tmp_path: Path, deflated: bool) -> None:
    path = write_package(tmp_path / "0.wacz")
    for level in range(1, 8):
        members = {f"{level - 1}.wacz": path.read_bytes()}
        path = write_package(tmp_path / f"{level}.wacz", members, deflated=deflated)
    with open_package(str(path)) as package:
        [name] = package.archives()
        with package.opened(name) as file:
            assert file.read() == gzip_file()
    path = write_package(tmp_path / "8.wacz", {"7.wacz": path.read_bytes()}, deflated=deflated)
    with (
        pytest.raises(InputRefused, match="a package in more than 7 others"),
        open_package(str(path)) as package,
    ):
        list(package.archives())
