"""Records in Zstandard frames: what becomes of each frame, and of the file's dictionary."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from archive_builders import dictionary, dictionary_frame, frame, records_of, skippable
from fastwarc.warc import ArchiveIterator
from files_chain import files_chain
from hypothesis import given
from judge import content_of_frames
from refs_sets import LATER, LAYOUTS, collections, pair
from warc_sets import (
    BETWEEN,
    FRAMED,
    ArchiveFile,
    Rec,
    in_frames,
    inflated,
    member,
    plan,
    refs,
    restore,
    validate,
    write_set,
)

from pinakes.cli import main
from pinakes.warc.revisit import is_ours

WITH = {"none": b"", "formatted": dictionary()}
REVISIT = dict(zip(("first", "again"), [r.raw(n) for n, r in enumerate(pair())], strict=True))
THIRD = Rec(uri="http://example.org/third", body=b"<p>Another", date=LATER).raw(9)


@pytest.mark.parametrize("packed", [False, True], ids=["raw", "compressed"])
@pytest.mark.parametrize("known", WITH.values(), ids=WITH)
def test_other_frames_stay_and_a_new_one_has_all_it_needs(
    known: bytes, packed: bool, tmp_path: Path
) -> None:
    raws = [REVISIT["first"], REVISIT["again"], THIRD]
    before = in_frames(raws, known=known, packed=packed)
    steps = files_chain(tmp_path, [before], suffix=".warc.zst")
    (old, new) = (records_of(data) for data in (before, steps.after[0]))
    assert [record.type for record in new] == ["response", "revisit", "response"]
    at, end = old[1].offset, old[1].offset + old[1].length
    assert steps.after[0].startswith(before[:at])
    assert steps.after[0].endswith(before[end:])
    written = steps.after[0][at : len(steps.after[0]) - len(before) + end]
    said = zstandard.get_frame_parameters(written)
    content = zstandard.ZstdDecompressor(
        dict_data=zstandard.ZstdCompressionDict(known) if known else None
    ).decompress(written)
    assert (said.dict_id, said.content_size) == (1 if known else 0, len(content))
    assert said.has_checksum
    assert len(written) == new[1].length
    back = steps.back[0]
    assert back.startswith(before[:at])
    assert back.endswith(before[end:])
    assert content_of_frames(back) == b"".join(raws)


@pytest.mark.parametrize("layout", ["frames", "dictionary", "packed dictionary"])
def test_fastwarc_reads_what_comes_out(layout: str, tmp_path: Path) -> None:
    data = FRAMED[layout]([REVISIT["first"], REVISIT["again"], THIRD])
    steps = files_chain(tmp_path, [data], suffix=".warc.zst")
    for step in (steps.after[0], steps.back[0]):
        path = tmp_path / "a.warc.zst"
        path.write_bytes(step)
        with path.open("rb") as file:
            read = [
                (record.headers["WARC-Type"], record.reader.read())
                for record in ArchiveIterator(file, parse_http=False)
            ]
        assert read == [(record.type, b"".join(record.chunks())) for record in records_of(step)]


def test_bytes_that_a_record_lies_around_are_not_lost(tmp_path: Path) -> None:
    """A skippable frame in the midst of a record: it stays full, for no revisit could keep it."""
    again = REVISIT["again"]
    odd = frame(again[:100]) + skippable(b"somebody's own") + frame(again[100:])
    before = frame(REVISIT["first"]) + odd + BETWEEN + frame(THIRD)
    steps = files_chain(tmp_path, [before], suffix=".warc.zst")
    assert steps.after[0] == steps.back[0] == before


UNUSABLE = {
    "damaged dictionary": dictionary_frame(dictionary()[:60]),
    "a dictionary that is too long": skippable(b"x" * ((8 << 20) + 1), number=13),
}


@pytest.mark.parametrize("start", UNUSABLE.values(), ids=UNUSABLE)
def test_records_behind_an_unusable_dictionary_stay(start: bytes, tmp_path: Path) -> None:
    """None of them can be read, which `manifest` says; other files are rewritten."""
    before = start + frame(REVISIT["first"]) + frame(REVISIT["again"])
    other = member(replace(Rec(), uri="http://example.org/x").raw(5))
    steps = files_chain(tmp_path, [before, other], suffix=".warc.zst")
    assert steps.after[0] == steps.back[0] == before


RAW_CONTENT = REVISIT["first"]


def raw_content_file() -> bytes:
    """A dictionary of raw content: no frame can name it."""
    compressor = zstandard.ZstdCompressor(
        dict_data=zstandard.ZstdCompressionDict(
            RAW_CONTENT, dict_type=zstandard.DICT_TYPE_RAWCONTENT
        ),
        write_checksum=True,
    )
    return dictionary_frame(RAW_CONTENT) + b"".join(map(compressor.compress, REVISIT.values()))


def test_duplicates_behind_a_dictionary_without_id_stay_full(tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    path = before / "a.warc.zst"
    path.write_bytes(raw_content_file())
    count = refs([path], plan([path]), tmp_path / "after")
    assert (count.records, dict(count.left_full)) == (0, {"compression": 1})
    assert (tmp_path / "after" / path.name).read_bytes() == path.read_bytes()


def test_a_revisit_behind_a_dictionary_without_id_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody compressed anew what `refs` had written."""
    steps = files_chain(tmp_path / "chain", [b"".join(map(member, REVISIT.values()))])
    records = [gzip.decompress(steps.after[0])]
    compressor = zstandard.ZstdCompressor(
        dict_data=zstandard.ZstdCompressionDict(
            RAW_CONTENT, dict_type=zstandard.DICT_TYPE_RAWCONTENT
        ),
        write_checksum=True,
    )
    cut = len(REVISIT["first"])
    packed = dictionary_frame(RAW_CONTENT) + b"".join(
        compressor.compress(raw) for raw in (records[0][:cut], records[0][cut:])
    )
    path = tmp_path / "a.warc.zst"
    path.write_bytes(packed)
    assert main(["restore", str(path), "-o", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    assert "the Zstandard dictionary of this file has no id" in said
    assert "not written: none of its revisits could be restored" in said
    assert not (tmp_path / "out" / path.name).exists()


def test_a_gzip_member_among_frames_stays_full(tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    path = before / "a.warc.zst"
    path.write_bytes(frame(REVISIT["first"]) + member(REVISIT["again"]))
    count = refs([path], plan([path]), tmp_path / "after")
    assert (count.records, dict(count.left_full)) == (0, {"compression": 1})
    assert (tmp_path / "after" / path.name).read_bytes() == path.read_bytes()


def converted(path: Path, out: Path, known: Path | None = None) -> Path:
    """The file as `zstd compress` writes it."""
    options = [] if known is None else ["--dictionary", str(known)]
    # 3: what is odd about a record is named.
    assert main(["-q", "zstd", "compress", str(path), "-o", str(out), *options]) in (0, 3)
    (found,) = [p for p in out.iterdir() if p.name.startswith(path.name.split(".")[0] + ".")]
    return found


def seen(paths: list[Path]) -> list[tuple[str, bytes, bytes]]:
    return [
        (record.type, record.header.raw, b"".join(map(bytes, record.chunks())))
        for path in paths
        for record in records_of(path.read_bytes())
    ]


@pytest.mark.parametrize("known", [False, True], ids=["no dictionary", "dictionary"])
@given(made=collections)
def test_deduplicating_and_converting_commute(
    known: bool, made: list[tuple[list[Rec], str]]
) -> None:
    """The same records and decisions; restored, what was not replaced is the frame it was.

    Of files with a gzip member a record: of odd records that share one, all stay full.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        named = folder / "known" if known else None
        if named is not None:
            named.write_bytes(dictionary())
        files = [ArchiveFile(f"f{n}", recs) for n, (recs, _) in enumerate(made) if recs]
        paths = write_set(folder / "gzip", files)
        before = [converted(path, folder / "zstd", named) for path in paths]
        first = refs(paths, plan(paths), folder / "deduped")
        then = [
            converted(folder / "deduped" / path.name, folder / "deduped-zstd", named)
            for path in paths
        ]
        second = refs(before, plan(before), folder / "zstd-deduped")
        after = [folder / "zstd-deduped" / path.name for path in before]
        assert (first.records, first.left_full) == (second.records, second.left_full)
        assert seen(then) == seen(after)
        back = folder / "back"
        assert restore(after, back).restored == second.records
        for path in before:
            assert inflated(back / path.name) == inflated(path)
            old, new = path.read_bytes(), (back / path.name).read_bytes()
            middle = records_of((folder / "zstd-deduped" / path.name).read_bytes())
            records = zip(records_of(old), middle, records_of(new), strict=True)
            for was, between, now in records:
                if not is_ours(between.header):
                    assert (
                        old[was.offset : was.offset + was.length]
                        == new[now.offset : now.offset + now.length]
                    )


@pytest.mark.parametrize("verb", ["compress", "decompress"])
def test_line_ends_behind_a_revisit_are_given_back(verb: str, tmp_path: Path) -> None:
    """The record before it has just two behind it: that is what its checksum is of."""
    raws = [REVISIT["first"], REVISIT["again"], b"\r\n", THIRD, b"\r\n\r\n"]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(raws))
    assert refs([path], plan([path]), tmp_path / "deduped").records == 1
    deduped = tmp_path / "deduped/a.warc"
    assert main(["zstd", verb, str(deduped), "-o", str(tmp_path / "z")]) == 0
    (changed,) = (tmp_path / "z").iterdir()
    assert inflated(changed) == deduped.read_bytes()
    back = restore([changed], tmp_path / "back")
    assert (back.restored, back.problems) == (1, [])
    assert inflated(tmp_path / "back" / changed.name) == path.read_bytes()


@pytest.mark.parametrize("extra", [b"\r\n", b"\r\n" * 5, b"\r\n\r\njunk\r\n"], ids=repr)
@pytest.mark.parametrize(("packed", "suffix"), [(frame, "zst"), (member, "gz")])
def test_what_another_tool_put_behind_a_revisit_is_kept(
    packed: Callable[[bytes], bytes], suffix: str, extra: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(member(REVISIT["first"]) + member(REVISIT["again"]) + member(THIRD))
    assert refs([path], plan([path]), tmp_path / "deduped").records == 1
    first, again, third = records_of((tmp_path / "deduped/a.warc.gz").read_bytes())
    raws = [
        each.header.raw + b"".join(each.chunks()) + b"\r\n\r\n" for each in (first, again, third)
    ]
    path.unlink()
    path = tmp_path / f"a.warc.{suffix}"
    path.write_bytes(packed(raws[0]) + packed(raws[1] + extra) + packed(raws[2]))
    back = restore([path], tmp_path / "back")
    given = inflated(tmp_path / "back" / path.name)
    assert back.restored == (b"junk" not in extra)
    wanted = REVISIT["again"] if back.restored else raws[1]
    assert given == REVISIT["first"] + wanted + extra + THIRD


def test_the_layouts_of_frames_are_among_those_of_the_round_trip() -> None:
    assert set(FRAMED) < set(LAYOUTS)


def test_a_revisit_in_bzip2_is_left_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The proof does not know its streams."""
    steps = files_chain(tmp_path / "chain", [b"".join(map(member, REVISIT.values()))])
    packed = bz2.compress(REVISIT["first"]) + bz2.compress(
        gzip.decompress(steps.after[0])[len(REVISIT["first"]) :]
    )
    path = tmp_path / "a.warc.bz2"
    path.write_bytes(packed)
    assert main(["restore", str(path), "-o", str(tmp_path / "out")]) == 3
    assert "not rewritten: in bzip2" in capsys.readouterr().err
    assert not (tmp_path / "out" / path.name).exists()


def real_records(shared_data: Path) -> list[list[bytes]]:
    """Of each real archive that is not large, the sound records as they are."""
    found = []
    for path in sorted((shared_data / "archives").rglob("*.warc*")):
        if "_oracle" in path.parts or not path.is_file() or path.stat().st_size > 1 << 20:
            continue
        raws = [
            record.header.raw + b"".join(record.chunks()) + b"\r\n\r\n"
            for record in records_of(path.read_bytes())
            if not {finding.code for finding in record.findings} - {"member"}
        ]
        found += [raws] if raws else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [*(pytest.param(f, marks=pytest.mark.large) for f in ("none", "raw")), "compressed"]
)
def test_real_records(form: str, shared_data: Path, tmp_path: Path) -> None:
    """With a dictionary trained on them; FastWARC reads the same of what comes out."""
    given = real_records(shared_data)
    known = b""
    if form != "none":
        samples = [raw[: 1 << 17] for raws in given for raw in raws]
        known = zstandard.train_dictionary(1 << 15, samples, dict_id=7).as_bytes()
    before, after, back = (tmp_path / name for name in ("before", "after", "back"))
    before.mkdir()
    for number, raws in enumerate(given):
        data = in_frames(raws, known=known, packed=form == "compressed")
        (before / f"{number:03d}.warc.zst").write_bytes(data)
    paths = sorted(before.iterdir())
    count = refs(paths, plan(paths), after)
    assert count.records >= 10
    assert not count.problems
    assert validate(before, after).passed
    restored = restore([after / path.name for path in paths], back)
    assert (restored.restored, restored.problems) == (count.records, [])
    read = 0
    for path, raws in zip(paths, given, strict=True):
        assert inflated(back / path.name) == b"".join(raws)
        if by_fastwarc(path) is not None:
            read += 1
            written = after / path.name
            bodies = [b"".join(r.chunks()) for r in records_of(written.read_bytes())]
            assert by_fastwarc(written) == bodies
    assert read > 20


def by_fastwarc(path: Path) -> list[bytes] | None:
    """The blocks that it reads; None of a file with a header that it refuses."""
    try:
        with path.open("rb") as file:
            return [record.reader.read() for record in ArchiveIterator(file, parse_http=False)]
    except OSError:
        return None
