"""`pinakes filter`: what is taken is there byte for byte, and nothing else is."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from evidence import manifest_lines
from killing import deaths_of_verb
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, member, revisit, write_set
from warcio.archiveiterator import ArchiveIterator

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.write import record_pieces

LATER = "2021-01-01T00:00:00Z"
FIRST = Rec(uri="http://example.org/1")
SECOND = Rec(uri="http://example.org/2", body=OTHER, status=404)
AGAIN = revisit(FIRST, of_number=0, profile="identical", date=LATER)
INFO = (
    b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:info>\r\n"
    b"WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: 4\r\n\r\na: b\r\n\r\n"
)


def run(*words: object, code: int = Exit.DONE) -> None:
    assert main(["filter", *map(str, words)]) == code


def whole_records(path: Path) -> list[bytes | None]:
    """Every record as it reads inflated, closed by two line ends; None for what is not whole."""
    with open_source(path) as source:
        return [
            b"".join(map(bytes, record_pieces(item.header.raw, item.chunks())))
            if isinstance(item, Record)
            and all(found.code in ("member", "record-end", "line-end") for found in item.findings)
            else None
            for item in iter_records(source)
        ]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".warc.gz", ".warc"])
def test_every_record_of_real_files_is_taken_as_it_is(
    shared_data: Path, tmp_path: Path, suffix: str
) -> None:
    verbatim = seen = 0
    for number, line in enumerate(manifest_lines(shared_data)):
        path = shared_data / "archives" / line["file"]
        if line["kind"] == "arc" or line["content_size"] > 5_000_000:
            continue
        out = tmp_path / f"{number}{suffix}"
        code = main(["filter", str(path), "-o", str(out)])
        items = whole_records(path)
        expected = [item for item in items if item is not None]
        assert code == (Exit.SOME_FAILED if None in items else Exit.DONE), path
        if not expected:
            assert not out.exists()
            continue
        assert whole_records(out) == expected, path
        data = out.read_bytes()
        if suffix == ".warc":
            assert data == b"".join(expected)
        verbatim += data == path.read_bytes()
        seen += len(expected)
    assert seen > 2500
    assert verbatim > 20


def test_members_are_copied_and_warcinfo_goes_before(tmp_path: Path) -> None:
    first, again = member(FIRST.raw(0), level=1), member(AGAIN.raw(1), level=1)
    info = member(INFO)
    (tmp_path / "a.warc.gz").write_bytes(info + first + again)
    (tmp_path / "b.warc.gz").write_bytes(member(INFO) + member(SECOND.raw(2)))
    run(tmp_path, "-o", tmp_path / "out.warc.gz", "--type", "revisit")
    assert (tmp_path / "out.warc.gz").read_bytes() == info + again
    run(tmp_path / "a.warc.gz", "-o", tmp_path / "none.warc.gz", "--status", "500")
    assert not (tmp_path / "none.warc.gz").exists()


def test_originals_are_taken_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = revisit(SECOND, of_number=2, profile="identical", date=LATER)
    files = {"a": [AGAIN], "b": [FIRST, SECOND], "c": [other]}
    paths = write_set(tmp_path, [ArchiveFile(name, records) for name, records in files.items()])
    out = tmp_path / "out.warc.gz"
    run(*paths, "-o", out, "--type", "revisit", "--url", "http://example.org/1", "--originals")
    expected = whole_records(paths[0]) + whole_records(paths[1])[:1]
    assert gzip.decompress(out.read_bytes()) == b"".join(filter(None, expected))
    assert main(["validate", "--refs", str(out)]) == 0
    capsys.readouterr()
    run(paths[0], "-o", tmp_path / "alone.warc.gz", "--originals", code=Exit.SOME_FAILED)
    told = capsys.readouterr().err
    assert "the original http://example.org/1 of 2020" in told


def test_damaged_records_are_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = bytearray(member(FIRST.raw(0)))
    damaged[-5] ^= 1  # of the checksum
    (tmp_path / "a.warc.gz").write_bytes(bytes(damaged) + member(SECOND.raw(1)))
    out = tmp_path / "out.warc.gz"
    run(tmp_path / "a.warc.gz", "-o", out, code=Exit.SOME_FAILED)
    assert out.read_bytes() == member(SECOND.raw(1))
    assert "a.warc.gz:0: left out, for it is damaged" in capsys.readouterr().err


def test_standard_output_and_json(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [FIRST, SECOND])])
    run(path, "-o", "-")
    assert capfdbinary.readouterr().out == path.read_bytes()
    run(path, "-o", tmp_path / "new.warc", "--status", "404", "--json")
    found = json.loads(capfdbinary.readouterr().out)
    assert (found["records"], found["types"], found["left_out"]) == (1, {"response": 1}, 0)
    assert found["bytes"] == (tmp_path / "new.warc").stat().st_size
    run(path, "-o", tmp_path / "dry.warc", "--dry-run")
    assert not (tmp_path / "dry.warc").exists()


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [FIRST])])
    before = path.read_bytes()
    run(path, "-o", path, code=Exit.SOME_FAILED)
    run(path, "-o", tmp_path / "no folder" / "b.warc.gz", code=Exit.WRONG_CALL)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == [path.name]


def test_warcio_reads_what_is_written(tmp_path: Path) -> None:
    plain = ArchiveFile("a", [FIRST, SECOND, AGAIN], "plain")
    [path] = write_set(tmp_path, [plain])
    out = tmp_path / "out.warc.gz"
    run(path, "-o", out, "--invert", "--status", "404")
    found = ArchiveIterator(io.BytesIO(out.read_bytes()))
    records = [(record.rec_type, record.content_stream().read()) for record in found]
    assert records == [("response", PAGE), ("revisit", b"")]


@pytest.mark.slow
def test_killed_at_each_step(tmp_path: Path) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [FIRST, SECOND])])

    def words(folder: Path) -> list[object]:
        return ["filter", path, "-o", folder / "out.warc.gz"]

    for _, folder, _ in deaths_of_verb(tmp_path, words, more_than=3):
        if not (folder / "out.warc.gz").exists():
            run(*words(folder)[1:])
        assert (folder / "out.warc.gz").read_bytes() == path.read_bytes()
