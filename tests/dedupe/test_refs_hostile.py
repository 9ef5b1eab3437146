"""Manifests that are stale, foreign or lie: refs loses no byte by them.

docs/adr/0005-proof.md says what refs proves, and what only validate does.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from forged_records import forged, forged_set
from hypothesis import given
from hypothesis import strategies as st
from warc_sets import (
    OTHER,
    PAGE,
    ArchiveFile,
    Rec,
    codes,
    inflated,
    manifest_of,
    member,
    plan,
    refer,
    refs,
    restore,
    validate,
    write_set,
)

from pinakes.dedupe.write.refs import RefsCount
from pinakes.index.manifest import ManifestLine

LATER = "2020-02-02T00:00:00Z"
LAYOUTS = ("plain", "gzip", "pairs", "dictionary")
# An original, its copy, a request behind it, another page, the copy once more.
RECORDS = (
    Rec(),
    Rec(type="request", uri="http://example.org/2"),
    Rec(uri="http://example.org/2", date=LATER),
    Rec(type="request", uri="http://example.org/3"),
    Rec(uri="http://example.org/3", body=OTHER, date=LATER),
    Rec(uri="http://example.org/4", date=LATER),
    Rec(type="metadata", body=b"about: 4"),
)
LIES: dict[str, Callable[[ManifestLine, list[ManifestLine]], ManifestLine]] = {
    "too long: to the next capture": lambda line, all_: line._replace(
        length=all_[2].offset - line.offset
    ),
    "too long by one": lambda line, _: line._replace(length=line.length + 1),
    "too long by four": lambda line, _: line._replace(length=line.length + 4),
    "too short": lambda line, _: line._replace(length=line.length - 9),
    "no length": lambda line, _: line._replace(length=0),
    "to the end of the file": lambda line, _: line._replace(length=1 << 40),
    "offset of another record": lambda line, all_: line._replace(offset=all_[2].offset),
    "offset in a record": lambda line, _: line._replace(offset=line.offset + 5),
    "offset behind the file": lambda line, _: line._replace(offset=1 << 40),
    "an inner offset": lambda line, _: line._replace(inner_offset=10),
    "itself as original": lambda line, _: refer(line, line),
    "a later original": lambda line, all_: refer(line, all_[3]),
    "an original of another body": lambda line, all_: refer(line, all_[2]),
    "an original that is no capture": lambda line, all_: line._replace(
        original_offset=(line.original_offset or 0) + all_[0].length
    ),
    "an original in no file": lambda line, _: line._replace(original_file="nowhere.warc.gz"),
    "an original without a place": lambda line, _: line._replace(original_file=None),
    "the original's URI is another": lambda line, _: line._replace(original_uri="http://z/"),
    "the original's date is another": lambda line, _: line._replace(original_date=LATER),
    "another URI": lambda line, _: line._replace(target_uri="http://z/"),
    "another date": lambda line, _: line._replace(date="2020-02-03T00:00:00Z"),
    "another size": lambda line, _: line._replace(size=3),
}
# Lies that the file itself puts right: its own length counts.
HARMLESS_LIES = {name for name in LIES if name.startswith(("too ", "no length", "to the end"))}


def proven(folder: Path, paths: list[Path], lines: list[ManifestLine]) -> int:
    """refs with this manifest; whatever it did is lossless.  The number of revisits."""
    count = refs(paths, lines, folder / "after")
    assert validate(paths[0].parent, folder / "after").comparison.discrepancies == []
    restore([folder / "after" / path.name for path in paths], folder / "back")
    for path in paths:
        assert inflated(folder / "back" / path.name) == inflated(path)
    return count.records


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LIES)
def test_a_lie_about_one_record(name: str, layout: str, tmp_path: Path) -> None:
    paths = write_set(tmp_path / "before", [ArchiveFile("a", RECORDS, layout)])
    lines = plan(paths)
    honest = [line.copy_number for line in lines]
    assert honest == [1, 2, 1, 2]
    told = [lines[0], LIES[name](lines[1], lines), *lines[2:]]
    expected = 2 if name in HARMLESS_LIES else 1
    assert proven(tmp_path, paths, told) == expected


@given(st.data())
def test_any_manifest_with_any_layout_loses_nothing(data: st.DataObject) -> None:
    layout = data.draw(
        st.sampled_from([*LAYOUTS, "shared", "split", "empties", "one frame", "split frames"])
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_set(folder / "before", [ArchiveFile("a", RECORDS, layout)])
        lines = plan(paths)
        offsets = sorted({line.offset for line in lines})
        numbers = st.sampled_from([*offsets, 0, 1, 7, 1 << 33]) | st.integers(0, 5000)
        changed = []
        for line in data.draw(st.lists(st.sampled_from(lines), max_size=6)):
            target = data.draw(st.sampled_from(lines))
            wrong = data.draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "offset": numbers,
                        "length": numbers,
                        "inner_offset": numbers,
                        "original_offset": numbers,
                        "original_inner_offset": numbers,
                        "original_length": numbers,
                        "copy_number": st.integers(1, 3),
                    },
                )
            )
            changed.append(refer(line, target)._replace(**wrong))
        changed.sort(key=lambda line: (line.offset, line.inner_offset))
        proven(folder, paths, changed)


def test_a_chain_is_not_written(tmp_path: Path) -> None:
    records = [Rec(uri=f"http://example.org/{n}", date=f"202{n}-01-01") for n in range(3)]
    paths = write_set(tmp_path / "before", [ArchiveFile("a", records)])
    first, second, third = manifest_of(paths)
    lines = [first, refer(second, first), refer(third, second)]
    assert proven(tmp_path, paths, lines) == 1


ELSEWHERE = {"uri": "http://example.org/2", "date": LATER}


@pytest.mark.parametrize(
    ("fields", "duplicate", "reason"),
    [
        ((b"WARC-Truncated: length",), ELSEWHERE, "original-not-full"),
        ((b"WARC-Segment-Number: 1",), ELSEWHERE, "original-not-full"),
        ((), {}, "ambiguous-reference"),
    ],
    ids=["truncated", "a segment", "the same URI and second"],
)
def test_unaddressable_original(
    fields: tuple[bytes, ...], duplicate: dict[str, str], reason: str, tmp_path: Path
) -> None:
    original = Rec(fields=fields)
    records = [original, replace(Rec(), **duplicate)]  # type: ignore[arg-type]
    paths = write_set(tmp_path / "before", [ArchiveFile("a", records)])
    first, second = manifest_of(paths)
    count = refs(paths, [first, refer(second, first)], tmp_path / "after")
    assert (count.records, dict(count.left_full)) == (0, {reason: 1})


@pytest.mark.parametrize(
    "later",
    [
        (Rec(body=OTHER), *RECORDS[1:]),
        (Rec(uri="http://example.org/new"), *RECORDS),
        RECORDS[2:],
        RECORDS[:1],
        (),
    ],
    ids=["original changed", "record before", "original gone", "cut short", "empty"],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_file_changed_after_the_manifest(
    layout: str, later: tuple[Rec, ...], tmp_path: Path
) -> None:
    paths = write_set(tmp_path / "old", [ArchiveFile("a", RECORDS, layout)])
    lines = plan(paths)
    now = write_set(tmp_path / "before", [ArchiveFile("a", later, layout)])
    stale = [
        line._replace(file=str(now[0]), original_file=line.original_file and str(now[0]))
        for line in lines
    ]
    if not later:
        assert refs(now, stale, tmp_path / "after").records == 0
        return
    proven(tmp_path, now, stale)


def test_record_listed_twice(tmp_path: Path) -> None:
    paths = write_set(tmp_path / "before", [ArchiveFile("a", RECORDS)])
    lines = plan(paths)
    assert proven(tmp_path, paths, [lines[0], lines[1], lines[1], *lines[2:]]) == 2


def test_a_manifest_of_bare_columns_is_no_reason_to_write(tmp_path: Path) -> None:
    paths = write_set(tmp_path / "before", [ArchiveFile("a", RECORDS)])
    bare = [ManifestLine(*line[:10]) for line in plan(paths)]
    count = refs(paths, bare, tmp_path / "after")
    assert (count.records, count.left_full["original-unknown"]) == (0, 2)


def test_forged_body_has_the_same_crc32() -> None:
    other = forged(OTHER, PAGE)
    assert zlib.crc32(other) == zlib.crc32(PAGE)
    assert (other != PAGE, len(other)) == (True, len(PAGE))


def test_forged_checksum_keeps_the_file_full(tmp_path: Path) -> None:
    paths, lines = forged_set(tmp_path / "before")
    count = refs(paths, lines, tmp_path / "after")
    kept_full(count, paths[0], tmp_path / "after" / paths[0].name)


def kept_full(count: RefsCount, before: Path, after: Path) -> None:
    """The proof on raw bytes refused the file: it is as it was, and named."""
    assert (count.records, count.left_full) == (0, {"unproven": 1})
    [problem] = count.problems
    assert problem.file == str(before)
    assert after.read_bytes() == before.read_bytes()


def test_bit_rot_in_a_duplicate_keeps_it_full(tmp_path: Path) -> None:
    body = bytes(range(256)) * 64
    first, second = Rec(body=body), Rec(body=body, date=LATER)
    paths = write_set(tmp_path / "before", [ArchiveFile("a", [first, second])])
    lines = plan(paths)
    rotten = bytearray(paths[0].read_bytes())
    rotten[lines[1].offset + lines[1].length - 20] ^= 1
    paths[0].write_bytes(rotten)
    count = refs(paths, lines, tmp_path / "after")
    kept_full(count, paths[0], tmp_path / "after" / paths[0].name)


def test_length_spanning_two_equal_records(tmp_path: Path) -> None:
    """The last trailer in it is that of the first: only a walk over the file can tell."""
    body = random.Random(1).randbytes(40000)
    raws = [Rec(body=body).raw(1), Rec(body=body, uri="http://example.org/2", date=LATER).raw(2)]
    before = tmp_path / "before"
    before.mkdir()
    path = before / "a.warc.gz"
    path.write_bytes(b"".join(map(member, [*raws, raws[1]])))
    first, second, _ = manifest_of([path])
    lie = refer(second, first)._replace(length=second.length * 2)
    count = refs([path], [first, lie], tmp_path / "after")
    kept_full(count, path, tmp_path / "after" / path.name)


@pytest.mark.parametrize("trailer", [False, True], ids=["no trailer", "its own trailer again"])
@pytest.mark.parametrize("size", [500, 1000, 1600])
def test_length_spanning_trailing_garbage(size: int, trailer: bool, tmp_path: Path) -> None:
    """What lies behind a small member is still there, whatever the manifest takes it for."""
    body = random.Random(size).randbytes(size)
    records = [Rec(body=body), Rec(body=body, uri="http://example.org/2", date=LATER)]
    paths = write_set(tmp_path / "before", [ArchiveFile("a", records)])
    first, second = manifest_of(paths)
    assert 768 < second.length < 2048
    behind = b"no member" * 300 + (paths[0].read_bytes()[-8:] if trailer else b"")
    with paths[0].open("ab") as file:
        file.write(behind)
    lie = refer(second, first)._replace(length=second.length + len(behind))
    count = refs(paths, [first, lie], tmp_path / "after")
    if trailer:
        kept_full(count, paths[0], tmp_path / "after" / paths[0].name)
    assert behind in (tmp_path / "after" / paths[0].name).read_bytes()
    assert validate(tmp_path / "before", tmp_path / "after").passed


def test_digest_of_empty_body_is_not_an_address(tmp_path: Path) -> None:
    """pywb serves an empty body for a revisit with that digest, whatever it refers to."""
    of_nothing = b"WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    first = Rec(declared=None, fields=(of_nothing,))
    paths = write_set(tmp_path / "before", [ArchiveFile("a", [first, replace(first, date=LATER)])])
    count = refs(paths, plan(paths), tmp_path / "after")
    assert (count.records, dict(count.left_full)) == (0, {"original-unaddressable": 1})


@pytest.mark.parametrize("layout", ["gzip", "pairs", "plain"])
@pytest.mark.parametrize("kilobytes", [60, 128, 400, 900])
def test_a_record_with_a_very_long_header_stays_full(
    layout: str, kilobytes: int, tmp_path: Path
) -> None:
    """And the others of its file become revisits."""
    dice = random.Random(kilobytes)
    uri = "http://example.org/" + "".join(dice.choices("abcdefgh0123456789", k=kilobytes << 10))
    records = [Rec(), Rec(uri="http://example.org/2", date=LATER), Rec(uri=uri, date=LATER)]
    paths = write_set(tmp_path / "before", [ArchiveFile("a", tuple(records), layout)])
    count = refs(paths, plan(paths), tmp_path / "after")
    assert count.records == (2 if kilobytes == 60 else 1)
    assert count.left_full == ({} if kilobytes == 60 else {"header-long": 1})
    assert not codes(validate(tmp_path / "before", tmp_path / "after"))
    restore([tmp_path / "after" / paths[0].name], tmp_path / "again")
    assert inflated(tmp_path / "again" / paths[0].name) == inflated(paths[0])
