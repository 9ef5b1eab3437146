"""Bodies out of archive files of every layout: the stored body, or a named refusal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from warc_sets import ArchiveFile, Rec, manifest_of, write_set

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide import bodies as module
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine

RECORDS = (
    Rec(type="request"),
    Rec(body=b"one"),
    Rec(uri="http://example.org/\u00e9", body=b"two", brackets=True),
    Rec(uri="http://example.org/f", body=b"three\r\n\r\n", framing=True),
    Rec(uri="http://example.org/v", body=b"four\r\n\r\nfour", version="WARC/1.0"),
    Rec(uri="http://example.org/lf", body=b"five", http_end=b"\n"),
    Rec(uri="http://example.org/cr", body=b"\r\n\r\nsix", http_end=b"\n"),
    Rec(uri="urn:resource", type="resource", body=b"seven\n\nseven"),
    Rec(uri="http://example.org/large", body=b"0123456789" * 1000),
)
LAYOUTS = ["plain", "gzip", "shared", "pairs", "split", "empties", "dictionary", "one frame"]


def read(line: ManifestLine) -> bytes:
    with ArchiveFiles() as files:
        return b"".join(ArchiveBodies(files).open_body(line))


@pytest.mark.parametrize("quick_bytes", [0, 1 << 12, 1 << 22])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_stored_body_is_read_in_every_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, quick_bytes: int
) -> None:
    monkeypatch.setattr(module, "_QUICK_BYTES", quick_bytes)
    lines = manifest_of(write_set(tmp_path, [ArchiveFile("a", RECORDS, layout)]))
    stored = [record.stored() for record in RECORDS if record.type != "request"]
    assert [read(line) for line in lines] == stored
    # A manifest of another tool knows no length.
    assert [read(line._replace(size=None)) for line in lines] == stored


@pytest.mark.parametrize("layout", ["shared", "pairs", "split"])
@pytest.mark.parametrize("seed", range(5))
def test_bodies_of_shared_members_are_read_in_any_order(
    tmp_path: Path, layout: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near the member's start and far from it."""
    monkeypatch.setattr(module, "_NEAR_BYTES", 400)
    sets = [ArchiveFile("a", RECORDS, layout), ArchiveFile("b", RECORDS[::-1], layout)]
    lines = manifest_of(write_set(tmp_path, sets)) * 3
    wanted = [(line, read(line)) for line in lines]
    random.Random(seed).shuffle(wanted)
    with ArchiveFiles() as files:
        bodies = ArchiveBodies(files)
        assert [b"".join(bodies.open_body(line)) for line, _ in wanted] == [b for _, b in wanted]
        none = lines[-1]._replace(inner_offset=lines[-1].inner_offset + 1)
        with pytest.raises(MalformedRecord, match="is not the one that was listed"):
            list(bodies.open_body(none))


def test_a_member_of_many_records_is_inflated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever order they are asked for."""
    body = b"%07d " * 1000
    many = [Rec(uri=f"http://example.org/{n}", body=body % ((n,) * 1000)) for n in range(50)]
    lines = manifest_of(write_set(tmp_path, [ArchiveFile("a", many, "shared")]))
    starts: list[int] = []
    read = module.iter_records
    monkeypatch.setattr(
        module, "iter_records", lambda *a, **k: starts.append(k["start"]) or read(*a, **k)
    )
    with ArchiveFiles() as files:
        bodies = ArchiveBodies(files)
        found = [b"".join(bodies.open_body(line)) for line in reversed(lines)]
    assert found == [body % ((n,) * 1000) for n in reversed(range(50))]
    assert starts == [0]


@pytest.mark.parametrize("layout", ["plain", "gzip"])
@pytest.mark.parametrize(
    "change",
    [
        {"target_uri": "http://example.org/another"},
        {"target_uri": "http://example.org"},
        {"size": 4},
        {"offset": 1},
        {"offset": 1 << 40},
        {"inner_offset": 7},
    ],
    ids=str,
)
def test_record_that_differs_from_its_line_is_refused(
    tmp_path: Path, layout: str, change: dict[str, object]
) -> None:
    line = manifest_of(write_set(tmp_path, [ArchiveFile("a", RECORDS[1:2], layout)]))[0]
    with pytest.raises(MalformedRecord, match="is not the one that was listed"):
        read(line._replace(**change))


def test_a_wrong_length_in_the_line_does_not_matter(tmp_path: Path) -> None:
    line = manifest_of(write_set(tmp_path, [ArchiveFile("a", RECORDS[1:3])]))[0]
    assert read(line._replace(length=line.length - 1)) == b"one"
    assert read(line._replace(length=line.length + 50)) == b"one"


def test_damaged_member_is_refused(tmp_path: Path) -> None:
    (path,) = write_set(tmp_path, [ArchiveFile("a", RECORDS[1:2])])
    line = manifest_of([path])[0]
    data = bytearray(path.read_bytes())
    data[-6] ^= 1  # in the checksum
    path.write_bytes(data)
    with pytest.raises(MalformedRecord):
        read(line)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    line = ManifestLine(str(tmp_path / "no.warc"), 0, 9, "u", "d", "sha1:X", size=1)
    with pytest.raises(InputRefused, match="not found"):
        read(line)
