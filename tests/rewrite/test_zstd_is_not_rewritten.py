"""Until frames are written: nothing but frames gets into a Zstandard file, and nothing is lost."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from archive_builders import frame, gzip_file, records_of, source_of, zstd_file
from files_chain import files_chain
from warc_sets import Rec, member

from pinakes.cli import main
from pinakes.errors import InputRefused
from pinakes.rewrite.replace import (
    Replacement,
    copy_file_with_replacements,
    copy_source_with_replacements,
    copy_with_replacements,
)
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.tombstone import Inscription
from pinakes.withdraw.entombing import Entombing

Copy = Callable[[bytes, Path, Iterable[Replacement]], bytes]


def by_kernel(data: bytes, folder: Path, replacements: Iterable[Replacement]) -> bytes:
    (folder / "old").write_bytes(data)
    with (folder / "old").open("rb") as old, (folder / "new").open("wb") as new:
        copy_with_replacements(old.fileno(), new.fileno(), replacements)
    return (folder / "new").read_bytes()


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


COPIES = [by_kernel, of_local_files, of_remote_files, of_a_source]


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("known", [b"", None], ids=["dictionary", "plain"])
def test_a_replacement_in_a_file_of_frames_is_refused(
    copy: Copy, known: bytes | None, tmp_path: Path
) -> None:
    data = zstd_file(known=known)
    first = records_of(data)[0]
    with pytest.raises(InputRefused, match=r"pinakes filter FILE -o NEW\.warc\.gz"):
        copy(data, tmp_path, [Replacement(first.offset, first.length, (member(b"x"),))])
    assert copy(data, tmp_path, []) == data
    whole = gzip_file()
    assert copy(whole, tmp_path, [Replacement(0, len(whole), (b"x",))]) == b"x"


def test_a_record_is_not_withdrawn_from_a_frame() -> None:
    source = source_of(zstd_file())
    entombing = Entombing({1}, Inscription("withdraw-1", "2026-11-25T12:00:00Z"))
    with pytest.raises(InputRefused, match="records in Zstandard are not rewritten") as refused:
        list(entombing.replacements(source))
    assert refused.value.offset == records_of(zstd_file())[1].offset


LATER = "2020-02-02T00:00:00Z"
FIRST, AGAIN = Rec().raw(1), replace(Rec(), uri="http://example.org/2", date=LATER).raw(2)


def test_duplicates_in_frames_stay_full(tmp_path: Path) -> None:
    """And lead to no reference; but what a frame holds may be the original of others."""
    data = frame(FIRST) + frame(AGAIN)
    third = member(replace(Rec(), uri="http://example.org/3", date=LATER).raw(3))
    steps = files_chain(tmp_path, [data, third])
    assert steps.after[0] == steps.back[0] == data
    (revisit,) = records_of(steps.after[1])
    assert revisit.type == "revisit"
    assert gzip.decompress(steps.back[1]) == gzip.decompress(third)


def test_an_original_is_found_in_a_folder_of_frames(tmp_path: Path) -> None:
    third = member(replace(Rec(), uri="http://example.org/3", date=LATER).raw(3))
    steps = files_chain(tmp_path / "chain", [member(FIRST), third])
    folder, path, out = tmp_path / "others", tmp_path / "b.warc.gz", tmp_path / "out"
    folder.mkdir()
    (folder / "a.warc.zst").write_bytes(frame(FIRST))
    path.write_bytes(steps.after[1])
    assert main(["-q", "restore", str(path), "--dir", str(folder), "-o", str(out)]) == 0
    assert gzip.decompress((out / path.name).read_bytes()) == gzip.decompress(third)
    assert main(["-q", "validate", "--refs", str(path), "--dir", str(folder)]) == 0


def test_a_revisit_in_a_frame_is_not_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody compressed anew what `refs` had written."""
    steps = files_chain(tmp_path / "chain", [member(FIRST) + member(AGAIN)])
    packed = b"".join(
        frame(record.header.raw + b"".join(map(bytes, record.chunks())) + b"\r\n\r\n")
        for record in iter_records(source_of(steps.after[0]))
        if isinstance(record, Record)
    )
    path = tmp_path / "a.warc.zst"
    path.write_bytes(packed)
    assert main(["restore", str(path), "-o", str(tmp_path / "out")]) == 3
    assert "records in Zstandard are not rewritten" in capsys.readouterr().err
    assert (tmp_path / "out" / "a.warc.zst").read_bytes() == packed


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
