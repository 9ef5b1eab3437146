"""Which lines of a manifest are duplicates, read without taking every line apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_sets import ArchiveFile, Rec, plan, write_manifest, write_set

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.write.rewriting import Duplicates
from pinakes.errors import MalformedRecord
from pinakes.index.manifest import ManifestLine, format_line, parse_line

numbers = st.none() | st.integers(0, 12)
texts = st.sampled_from(["a.warc.gz", "b c.warc", "%", "-", "7", "2", "\N{SNOWMAN}.warc"])


@st.composite
def lines(draw: st.DrawFn) -> ManifestLine:
    copy = draw(numbers)
    known = copy is not None and copy > 1
    return ManifestLine(
        draw(texts),
        draw(st.integers(0, 99)),
        draw(st.integers(0, 99)),
        "http://example.org/" + draw(texts),
        "2020-01-01",
        "sha1:x",
        draw(st.none() | st.integers(0, 3)),
        copy,
        original_uri=draw(texts) if known else None,
        original_date="2019" if known else None,
        status=draw(numbers),
        inner_offset=draw(st.integers(0, 3)),
        original_file=draw(texts) if known else None,
        original_offset=draw(numbers) if known else None,
    )


@given(made=st.lists(lines(), max_size=8), plain=st.booleans())
def test_equals_parsing_every_line(
    made: list[ManifestLine], plain: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "manifest"
    written = [format_line(line, plain=plain) for line in made]
    path.write_text("".join(text + "\n" for text in written), encoding="utf-8")
    with ArchiveFiles() as files:
        duplicates = Duplicates.read(path, files)
    read = [parse_line(text) for text in written]
    expected = [line for line in read if line.is_duplicate]
    assert duplicates.files == {line.file for line in read}
    assert duplicates.places == {(d.file, d.offset, d.inner_offset) for d in expected}
    for name in duplicates.files:
        of_file = [line for line in expected if line.file == name]
        of_file.sort(key=lambda line: (line.offset, line.inner_offset))
        assert list(duplicates.lines_of(name)) == of_file


@pytest.mark.parametrize("text", ["{}", "not a manifest", "a b c d e f"])
def test_invalid_manifests_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(text + "\n")
    with ArchiveFiles() as files, pytest.raises(MalformedRecord, match="line 1"):
        Duplicates.read(tmp_path / "m", files)


def test_files_are_matched_however_their_path_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [Rec(uri="http://a/1"), Rec(uri="http://a/2", date="2021-01-01")]
    (path,) = write_set(tmp_path, [ArchiveFile("a", records)])
    manifest = write_manifest(tmp_path / "m", plan([path]))
    monkeypatch.chdir(tmp_path)
    with ArchiveFiles() as files:
        duplicates = Duplicates.read(manifest, files)
    assert duplicates.names_of("a.warc.gz") == [str(path)]
    assert len(list(duplicates.lines_of("./a.warc.gz"))) == 1
    assert duplicates.names_of("b.warc.gz") == []
