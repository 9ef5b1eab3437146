"""Nothing but frames that its readers can read gets into a Zstandard file."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from archive_builders import (
    dictionary,
    dictionary_frame,
    frame,
    gzip_file,
    records_of,
    skippable,
    source_of,
    stored_frame,
    zstd_file,
)
from hypothesis import given
from hypothesis import strategies as st
from warc_sets import member

from pinakes.cli import main
from pinakes.errors import InputRefused
from pinakes.rewrite.frame_guard import frames_only
from pinakes.rewrite.replace import (
    Replacement,
    copy_file_with_replacements,
    copy_source_with_replacements,
)

Copy = Callable[[bytes, Path, Iterable[Replacement]], bytes]


def of_local_files(data: bytes, folder: Path, replacements: Iterable[Replacement]) -> bytes:
    (folder / "old").write_bytes(data)
    with (folder / "old").open("rb") as old, (folder / "new").open("wb", buffering=0) as new:
        copy_file_with_replacements(old, new, len(data), replacements)  # type: ignore[arg-type]
    return (folder / "new").read_bytes()


def of_remote_files(data: bytes, _: Path, replacements: Iterable[Replacement]) -> bytes:
    out = io.BytesIO()
    copy_file_with_replacements(io.BytesIO(data), out, len(data), replacements)
    return out.getvalue()


def of_a_source(data: bytes, _: Path, replacements: Iterable[Replacement]) -> bytes:
    out = io.BytesIO()
    copy_source_with_replacements(source_of(data), out, replacements)
    return out.getvalue()


COPIES = [of_local_files, of_remote_files, of_a_source]


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("known", [b"", None], ids=["dictionary", "plain"])
def test_only_frames_for_this_file_are_put_into_it(
    copy: Copy, known: bytes | None, tmp_path: Path
) -> None:
    data = zstd_file(known=known)
    first = records_of(data)[0]
    end = first.offset + first.length
    of_this, of_another = (dictionary(1), b"") if known == b"" else (b"", dictionary(1))
    with pytest.raises(InputRefused, match="what is no Zstandard frame is not written into"):
        copy(data, tmp_path, [Replacement(first.offset, first.length, (member(b"x"),))])
    other = frame(b"x" * 99, dictionary=of_another)
    with pytest.raises(InputRefused, match="as dictionary of the file"):
        copy(data, tmp_path, [Replacement(first.offset, first.length, (other,))])
    new = frame(b"x" * 99, dictionary=of_this)
    written = copy(data, tmp_path, [Replacement(first.offset, first.length, (new,))])
    assert written == data[: first.offset] + new + data[end:]
    assert copy(data, tmp_path, []) == data


@pytest.mark.parametrize("copy", COPIES)
def test_other_files_take_anything(copy: Copy, tmp_path: Path) -> None:
    whole = gzip_file()
    assert copy(whole, tmp_path, [Replacement(0, len(whole), (b"x",))]) == b"x"


NO_ID = b"raw content that frames refer to " * 9
UNUSABLE = {
    "without an id": (dictionary_frame(NO_ID), "has no id"),
    "damaged": (dictionary_frame(dictionary()[:60]), "the Zstandard dictionary is damaged"),
    "empty": (skippable(b"", number=13), "the Zstandard dictionary is empty"),
}


@pytest.mark.parametrize(("start", "why"), UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize("copy", COPIES)
def test_nothing_is_put_behind_a_dictionary_that_no_frame_can_name(
    copy: Copy, start: bytes, why: str, tmp_path: Path
) -> None:
    data = start + frame(b"x" * 99)
    with pytest.raises(InputRefused, match=why):
        copy(data, tmp_path, [Replacement(len(start), len(data) - len(start), (frame(b"y"),))])


REFUSED = {
    "no size": frame(b"x" * 300, size=False),
    "no checksum": frame(b"x" * 300, checksum=False),
    "stored, without checksum": stored_frame(b"x"),
    "a large window": frame(b"x" * 300, window_log=24),
    "cut off": frame(b"x" * 300)[:-1],
    "more behind it": frame(b"x" * 300) + b"\r\n",
    "a skippable frame": skippable(b"x"),
    "half a start": frame(b"x")[:3],
    "plain": b"WARC/1.1\r\n\r\n",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputRefused, match="is not written into a Zstandard file"):
        list(frames_only([frame(b"a whole one"), data], 0))


@given(st.lists(st.binary(max_size=400), max_size=4), st.data())
def test_frames_in_any_pieces_pass_as_they_are(contents: list[bytes], data: st.DataObject) -> None:
    row = b"".join(map(frame, contents))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(row)), max_size=9)))
    pieces = [row[start:end] for start, end in zip([0, *cuts], [*cuts, len(row)], strict=True)]
    assert b"".join(frames_only(pieces, 0)) == row
    if row:
        cut = data.draw(st.integers(1, len(row) - 1))
        is_whole = any(b"".join(map(frame, contents[:n])) == row[:cut] for n in range(5))
        if not is_whole:
            with pytest.raises(InputRefused):
                list(frames_only([row[:cut]], 0))


def test_filter_writes_gzip_of_frames_and_no_zst(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "a.warc.zst", tmp_path / "b.warc.gz"
    path.write_bytes(zstd_file())
    assert main(["-q", "filter", str(path), "-o", str(out)]) == 0
    assert [r.header.raw for r in records_of(out.read_bytes())] == [
        r.header.raw for r in records_of(gzip_file())
    ]
    assert main(["filter", str(path), "-o", str(tmp_path / "c.warc.zst")]) == 2
    assert "Zstandard is not written: name it .warc.gz" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["a.warc.zst", "b.warc.gz"]
