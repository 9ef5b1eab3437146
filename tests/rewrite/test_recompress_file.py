"""Files in another compression: the same content and records, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
from pathlib import Path

import pytest
import zstandard
from arc_builders import arc, arc_gz, arc_record
from archive_builders import (
    HTTP,
    dictionary,
    frame,
    gzip_file,
    member,
    records_of,
    skippable,
    three,
    warc,
    zstd_file,
)
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.rewrite.file_parts import iter_parts
from pinakes.rewrite.new_file import UNCHANGED, WOULD_WRITE, WRITTEN
from pinakes.rewrite.recompress import GZIP, PLAIN, MemberForm, iter_members, zstd_form
from pinakes.rewrite.recompress_file import plan_file, recompress_file
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

KNOWN = zstandard.ZstdCompressionDict(dictionary())
ZSTD = zstd_form(3)
WITH_DICTIONARY = zstd_form(9, KNOWN)
CONTENT = b"".join(three())
LARGE = warc(HTTP + bytes(5 << 20) + b"end", number=7)


def written(data: bytes, form: MemberForm, *, threads: int = 1) -> bytes:
    source = Source(io.BytesIO(data), name="old")
    return b"".join(iter_members(iter_parts(source), form, threads=threads))


def content(data: bytes) -> bytes:
    return written(data, PLAIN)


READABLE = {
    "gzip": gzip_file(),
    "plain": CONTENT,
    "bzip2": b"".join(map(bz2.compress, three())),
    "zstd": zstd_file(known=None),
    "dictionary": zstd_file(compressed=True),
    "several-frames-a-record": b"".join(frame(r[:99]) + frame(r[99:]) for r in three()),
    "one-member-for-all": gzip.compress(CONTENT),
    "one-frame-for-all": frame(CONTENT),
    "members-cut-anywhere": b"".join(
        gzip.compress(CONTENT[at : at + 77]) for at in range(0, len(CONTENT), 77)
    ),
    "empty-members": gzip.compress(b"") + gzip_file() + gzip.compress(b""),
    "skippable-frames-between": b"".join(frame(r) + skippable(b"x") for r in three()),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", [ZSTD, WITH_DICTIONARY, GZIP, PLAIN], ids=["z", "zd", "g", "p"])
@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE)
def test_any_file_becomes_one_member_a_record(data: bytes, form: MemberForm, threads: int) -> None:
    new = written(data, form, threads=threads)
    assert content(new) == CONTENT
    records = records_of(new)
    assert [record.findings for record in records] == [()] * 3
    for record, expected in zip(records, three(), strict=True):
        alone = read_record(Source(io.BytesIO(new), name="new"), record.offset)
        assert isinstance(alone, Record)
        assert alone.header.raw + b"".join(map(bytes, alone.chunks())) + b"\r\n\r\n" == expected


@pytest.mark.parametrize("form", [ZSTD, GZIP], ids=["zstd", "gzip"])
def test_skippable_frames_that_are_left_out_are_named(
    form: MemberForm, tmp_path: Path, folder: Path
) -> None:
    """One before the first record, one between, one last; the dictionary is none of them."""
    old = tmp_path / "a.warc.zst"
    first, *others = three()
    data = skippable(b"xyz") + frame(first) + skippable(b"") + b"".join(map(frame, others))
    for known in (b"", zstd_file(compressed=True)):
        old.write_bytes(known + data + skippable(b"end"))
        (folder / str(len(known))).mkdir()
        result = recompress_file(str(old), folder / str(len(known)), form)
        at = len(known)
        places = [at, at + 11 + len(frame(first)), at + len(data)]
        assert [finding.offset for finding in result.left_out] == places
        assert "a skippable frame of 11 bytes is left out" in result.left_out[0].message


ODD = {
    "line-ends-first": b"\r\n\r\n" + CONTENT,
    "line-ends-between": b"\r\n\r\n".join(three()),
    "lf": b"".join(three(line_end=b"\n")),
    "not-closed": warc(end=b"") + CONTENT,
    "cut-off": CONTENT[:-20],
    "junk-between": three()[0] + b"some junk\n" * 3 + three()[1],
    "junk-last": CONTENT + b"junk",
    "junk-first": b"junk\r\n" + CONTENT,
    "length-too-small": warc(HTTP + b"hello", length=9) + CONTENT,
    "large-record": three()[0] + LARGE + three()[1],
}


def same_or_refused(data: bytes, folder: Path, form: MemberForm) -> Path | None:
    old = folder / f"in{len(list(folder.iterdir()))}" / "a.warc"
    old.parent.mkdir()
    old.write_bytes(data)
    out = old.parent / "out"
    out.mkdir()
    try:
        return Path(recompress_file(str(old), out, form).target)
    except (DigestMismatch, MalformedRecord, InputRefused):
        assert list(out.iterdir()) == []
        return None


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
@pytest.mark.parametrize("form", [WITH_DICTIONARY, GZIP], ids=["zstd", "gzip"])
def test_odd_files_lose_nothing_there_and_back(
    data: bytes, form: MemberForm, tmp_path: Path
) -> None:
    new = same_or_refused(data, tmp_path, form)
    assert new is not None
    back = same_or_refused(new.read_bytes(), tmp_path, PLAIN)
    assert back is not None
    assert back.read_bytes() == data


@pytest.mark.parametrize("length", [200, "none"])
def test_what_would_be_read_otherwise_in_a_member_is_refused(
    length: int | str, old: Path, folder: Path
) -> None:
    """The reader finds the end of these by what follows, which is in another member then."""
    plain = old.with_name("a.warc")
    plain.write_bytes(warc(HTTP + b"hello", length=length) + CONTENT)
    with pytest.raises(DigestMismatch, match="from here on: not published") as refused:
        recompress_file(str(plain), folder, ZSTD)
    assert (refused.value.file, refused.value.offset) == (str(plain), 0)
    assert names(folder) == []


@pytest.mark.parametrize(
    "data",
    [b"", b"some words\n", gzip.compress(b"some words\n"), skippable(b"x")],
    ids=["empty", "words", "words-in-gzip", "skippable"],
)
@pytest.mark.parametrize("plan", [False, True])
def test_what_is_no_archive_file_is_refused(
    data: bytes, plan: bool, old: Path, folder: Path
) -> None:
    old.write_bytes(data)
    with pytest.raises(InputRefused, match="no record in it"):
        (plan_file if plan else recompress_file)(str(old), folder, ZSTD)
    assert names(folder) == []


PIECES = st.sampled_from(
    [*three(), warc(end=b""), warc(length=9), warc(length=400), b"junk\n", b"\r\n", warc()[:-9]]
)


@given(st.lists(PIECES, max_size=6), st.sampled_from([1, 60, 500, 10**6]), st.booleans())
def test_whatever_is_published_has_the_same_content(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], step: int, whole: bool
) -> None:
    """Odd bytes in members cut at odd places: compressed and back, or refused."""
    plain = b"".join(pieces)
    cut = pieces if whole else [plain[at : at + step] for at in range(0, len(plain), step)]
    data = b"".join(map(member, cut))
    folder = tmp_path_factory.mktemp("odd")
    new = same_or_refused(data, folder, WITH_DICTIONARY)
    if new is not None:
        back = same_or_refused(new.read_bytes(), folder, PLAIN)
        assert back is None or back.read_bytes() == plain


BLOCKS = st.binary(max_size=200) | st.sampled_from(
    [b"\r\n\r\n", b"WARC/1.0\r\nWARC-Type: x\r\n\r\n"]
)


@given(st.lists(BLOCKS, min_size=1, max_size=8), st.sampled_from([zstd_form(1), WITH_DICTIONARY]))
def test_gzip_to_zstd_to_gzip_is_the_identity(blocks: list[bytes], form: MemberForm) -> None:
    records = [warc(HTTP + block, number=n) for n, block in enumerate(blocks)]
    usual = b"".join(b"".join(GZIP.new_maker()(len(r), [r])) for r in records)
    compressed = written(usual, form)
    assert written(compressed, GZIP) == usual
    for record, expected in zip(records_of(compressed), records, strict=True):
        alone = read_record(Source(io.BytesIO(compressed), name="z"), record.offset)
        assert isinstance(alone, Record)
        assert alone.header.raw + b"".join(map(bytes, alone.chunks())) + b"\r\n\r\n" == expected
    read = [
        each.reader.read() for each in FastArchiveIterator(io.BytesIO(compressed), parse_http=False)
    ]
    assert read == [HTTP + block for block in blocks]


@pytest.mark.parametrize("data", [arc(arc_record()), arc_gz(arc_record())], ids=["plain", "gzip"])
def test_arc_files_keep_every_byte(data: bytes) -> None:
    plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    compressed = written(data, WITH_DICTIONARY)
    assert content(compressed) == plain
    assert [r.type for r in records_of(compressed)] == [r.type for r in records_of(data)]


def test_all_shared_archives_are_the_same_or_refused(shared_data: Path, tmp_path: Path) -> None:
    """Real files of other projects; what is damaged is refused, what is not comes back."""
    refused, done = [], 0
    paths = sorted(p for p in (shared_data / "archives").rglob("*") if p.name.endswith(ENDS))
    for number, path in enumerate(paths):
        out = tmp_path / str(number)
        out.mkdir()
        try:
            result = recompress_file(str(path), out, ZSTD, threads=2)
        except (MalformedRecord, DigestMismatch, InputRefused) as problem:
            refused.append(str(problem))
            assert list(out.iterdir()) == []
            continue
        done += 1
        with open_source(path) as source:
            items = list(iter_records(source))
        with open_source(result.target) as source:
            again = list(iter_records(source))
        assert [type(item) for item in again] == [type(item) for item in items]
    assert done > 5 * len(refused), refused


ENDS = (".warc", ".warc.gz", ".arc", ".arc.gz")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "a.warc.gz"
    path.parent.mkdir()
    path.write_bytes(gzip_file())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("name", "form", "new"),
    [
        ("a.warc.gz", ZSTD, "a.warc.zst"),
        ("a.warc", ZSTD, "a.warc.zst"),
        ("a.arc.bz2", ZSTD, "a.arc.zst"),
        ("A.WARC.GZ", ZSTD, "A.WARC.zst"),
        ("a.warc.zst", ZSTD, "a.warc.zst"),
        ("a.warc.zst", GZIP, "a.warc.gz"),
        ("a.warc.zst", PLAIN, "a.warc"),
    ],
)
def test_names(name: str, form: MemberForm, new: str) -> None:
    assert form.name(name) == new


def test_it_is_verified_and_says_what_it_holds(old: Path, folder: Path) -> None:
    result = recompress_file(str(old), folder, WITH_DICTIONARY)
    assert (result.outcome, names(folder)) == (WRITTEN, ["a.warc.zst"])
    assert result.content == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    assert result.records == {"warcinfo": 1, "response": 1, "metadata": 1}
    assert result.bytes_after == (folder / "a.warc.zst").stat().st_size


def test_again_by_threads_it_is_left_and_not_replaced(old: Path, folder: Path) -> None:
    recompress_file(str(old), folder, ZSTD)
    assert recompress_file(str(old), folder, ZSTD, threads=2).outcome == UNCHANGED
    with pytest.raises(InputRefused, match="exists already"):
        recompress_file(str(old), folder, WITH_DICTIONARY)
    assert (folder / "a.warc.zst").read_bytes() == written(gzip_file(), ZSTD)


def test_dry_runs_and_plans_write_nothing(old: Path, folder: Path) -> None:
    size = len(written(gzip_file(), ZSTD))
    result = recompress_file(str(old), folder / "none", ZSTD, dry_run=True)
    assert (result.outcome, result.bytes_after) == (WOULD_WRITE, size)
    plan = plan_file(str(old), folder / "none", ZSTD)
    assert (plan.bytes_before, plan.bytes_after) == (len(gzip_file()), size)
    assert plan.sampled_records is None
    assert names(folder) == []


def test_a_large_file_is_planned_by_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [warc(HTTP + b"<p>%d" % n * 30, number=n) for n in range(2000)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(map(member, records)))
    monkeypatch.setattr("pinakes.rewrite.recompress_file._SAMPLE_BYTES", path.stat().st_size // 4)
    plan = plan_file(str(path), tmp_path, ZSTD)
    assert plan.sampled_records is not None
    assert 400 < plan.sampled_records < 600
    assert plan.records == {"response": 2000}
    assert plan.bytes_after == pytest.approx(len(written(path.read_bytes(), ZSTD)), rel=0.02)
    assert plan_file(str(path), tmp_path, ZSTD).bytes_after == plan.bytes_after


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGED = {
    "crc": flipped(gzip_file(), -6 % len(gzip_file())),
    "crc-in-the-middle": flipped(gzip_file(), len(member(three()[0])) - 6),
    "truncated": gzip_file()[:-30],
    "junk-between-members": member(three()[0]) + b"junk" + member(three()[1]),
    "junk-last": gzip_file() + b"junk",
    "junk-first": b"junk" + gzip_file(),
    "no-dictionary": zstd_file()[records_of(zstd_file())[0].offset :],
    "zstd-checksum": flipped(zstd_file(), len(zstd_file()) - 1),
    "zstd-truncated": zstd_file()[:-3],
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_whole_with_the_place(
    data: bytes, old: Path, folder: Path
) -> None:
    old.write_bytes(data)
    with pytest.raises(MalformedRecord, match="nothing of this file was written") as refused:
        recompress_file(str(old), folder, ZSTD)
    assert refused.value.file == str(old)
    assert refused.value.offset is not None
    assert names(folder) == []


def test_the_damage_is_named_and_not_what_else_is_wrong(old: Path, folder: Path) -> None:
    one, two, three_ = three()
    data = b"".join(map(member, (one, two.removesuffix(b"\r\n\r\n"), three_)))
    old.write_bytes(flipped(data, len(member(one) + member(two.removesuffix(b"\r\n\r\n"))) - 6))
    with pytest.raises(MalformedRecord, match="the gzip checksum does not fit"):
        recompress_file(str(old), folder, ZSTD)


def test_every_flipped_byte_is_refused_or_makes_no_difference(old: Path, folder: Path) -> None:
    data = gzip_file()
    for at in range(len(data)):
        old.write_bytes(flipped(data, at))
        try:
            target = Path(recompress_file(str(old), folder, ZSTD).target)
        except MalformedRecord:
            continue
        # Of a header of gzip: its time, say.
        assert content(target.read_bytes()) == CONTENT
        target.unlink()
    assert names(folder) == []


def test_stretches_are_told_with_their_place(old: Path, folder: Path) -> None:
    plain = old.with_name("b.warc")
    plain.write_bytes(CONTENT + b"junk")
    result = recompress_file(str(plain), folder, ZSTD)
    assert [(each.offset, each.message[:20]) for each in result.stretches] == [
        (len(CONTENT), "4 bytes kept unchang")
    ]
    with open_source(result.target) as source:
        assert isinstance(list(iter_records(source))[-1], DamagedStretch)
