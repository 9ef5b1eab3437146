"""`pinakes manifest`: what it writes where, what it names, in any number of processes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path

import pytest

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.index.manifest import ManifestLine, parse_line

BODY = b"<p>hello"
HTTP = b"HTTP/1.1 200 OK\r\n\r\n"


def record(number: int, block: bytes = HTTP + BODY, record_type: str = "response") -> bytes:
    header = (
        f"WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Record-ID: <urn:{number}>\r\n"
        f"WARC-Target-URI: http://a/{number}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        f"Content-Type: application/http; msgtype={record_type}\r\n"
        "WARC-Payload-Digest: md5:00000000000000000000000000000000\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return header.encode() + block + b"\r\n\r\n"


def warc(path: Path, *records: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(gzip.compress(r, mtime=0) for r in records))
    return path


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Three records, of which two are captures, one of them empty."""
    post = b"GET / HTTP/1.1\r\n\r\n"
    return warc(tmp_path / "a.warc.gz", record(1), record(2, post, "request"), record(3, HTTP))


def run(*arguments: str | Path) -> int:
    return main(["-q", "manifest", *map(str, arguments)])


def lines(capsys: pytest.CaptureFixture[str]) -> list[ManifestLine]:
    return [parse_line(text) for text in capsys.readouterr().out.splitlines()]


def test_lines_go_to_standard_output_and_nothing_else(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", str(one)]) == Exit.DONE
    first, second = lines(capsys)
    assert (first.file, first.offset, first.skip) == (str(one), 0, None)
    assert (second.target_uri, second.skip, second.size) == ("http://a/3", "empty", 0)


def test_a_name_stays_as_it_was_given(
    one: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(one.parent)
    odd = warc(one.parent / "50% a.warc.gz", record(1))
    assert run("./a.warc.gz", odd.name, "-o", "-") == Exit.DONE
    assert [line.file for line in lines(capsys)] == ["./a.warc.gz"] * 2 + ["50% a.warc.gz"]


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512", "md5"])
def test_the_digest_asked_for(
    algorithm: str, one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(one, "--digest", algorithm) == Exit.DONE
    label, value = lines(capsys)[0].digest.split(":")
    assert label == algorithm
    if algorithm != "sha1":
        assert value == hashlib.new(algorithm, BODY).hexdigest()


def test_a_declared_digest_is_trusted_when_told(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(one, "--trust-declared") == Exit.DONE
    assert lines(capsys)[0].digest == "md5:" + "0" * 32


def test_empty_captures_are_left_out_when_told(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(one, "--empty", "skip") == Exit.DONE
    assert [line.target_uri for line in lines(capsys)] == ["http://a/1"]


def test_plain_has_the_columns_of_captures_that_take_part(
    one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(one, "--plain") == Exit.DONE
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[3:5] == ["http://a/1", "2020-01-02T03:04:05Z"]
    assert len(line.split()) == 6


def test_records_has_a_line_for_each(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(one, "--records") == Exit.DONE
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[1:4] for row in rows] == [
        ["0", "response", "urn:1"],
        ["1", "request", "urn:2"],
        ["2", "response", "urn:3"],
    ]
    assert {len(row[4]) for row in rows} == {64}


def test_json_is_one_object_a_line(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", one) == Exit.DONE
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["target_uri"], first["size"]) == ("http://a/1", len(BODY))
    assert "skip" not in first


@pytest.mark.parametrize("options", [("--digest", "md5"), ("--trust-declared",), ("--plain",)])
def test_records_goes_with_no_other_form(options: tuple[str, ...], one: Path) -> None:
    assert run(one, "--records", *options) == Exit.WRONG_CALL


def test_a_folder_without_archive_files_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "no archive files found" in err


def test_no_inputs_are_a_wrong_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run() == Exit.WRONG_CALL
    assert run("-") == Exit.WRONG_CALL


def test_names_come_from_a_list(
    one: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = warc(one.parent / "b.warc.gz", record(9))
    (one.parent / "list").write_text(f"{other}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{one}\n\n"))
    assert run("-", "--files-from", one.parent / "list") == Exit.DONE
    assert [line.file for line in lines(capsys)] == [str(one)] * 2 + [str(other)]


def test_a_folder_is_the_archive_files_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "crawl"
    for name in ("b/z.warc.gz", "a.warc.gz", "c.arc.gz"):
        warc(folder / name, record(1))
    (folder / "crawl.log").write_text("no archive file")
    unfinished = warc(folder / "d.warc.gz.open", record(1))
    assert run(folder) == Exit.SOME_FAILED
    captured = capsys.readouterr()
    names = [parse_line(text).file for text in captured.out.splitlines()]
    assert names == [str(folder / n) for n in ("a.warc.gz", "c.arc.gz", "b/z.warc.gz")]
    assert str(unfinished) in captured.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_cannot_be_read_is_named_and_the_rest_done(
    jobs: str, one: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = gzip.compress(record(1), mtime=0)
    broken = one.parent / "broken.warc.gz"
    broken.write_bytes(good + b"junk" + good)
    missing = one.parent / "missing.warc.gz"
    assert run(broken, missing, one, "-j", jobs) == Exit.SOME_FAILED
    captured = capsys.readouterr()
    names = [parse_line(text).file for text in captured.out.splitlines()]
    assert names == [str(broken)] * 2 + [str(one)] * 2
    assert f"{broken}:{len(good)}: " in captured.err
    assert str(missing) in captured.err


def test_any_number_of_processes_writes_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        warc(tmp_path / f"{n}.warc.gz", *(record(i) for i in range(1 + n * 7 % 5)))
        for n in range(9)
    ]
    assert run(*files) == Exit.DONE
    alone = capsys.readouterr().out
    for jobs in (2, 3, 20):
        assert run(*files, "-j", str(jobs)) == Exit.DONE
        assert capsys.readouterr().out == alone
    assert alone.count("\n") == sum(1 + n * 7 % 5 for n in range(9))


def test_a_file_appears_when_it_is_whole(one: Path) -> None:
    target = one.parent / "out"
    target.write_text("the old one")
    assert run(one, "-o", target) == Exit.DONE
    assert target.read_text().count("\n") == 2
    assert sorted(path.name for path in one.parent.iterdir()) == ["a.warc.gz", "out"]


def test_a_folder_is_no_output(one: Path) -> None:
    assert run(one, "-o", one.parent) == Exit.WRONG_CALL


def test_a_run_that_is_stopped_leaves_no_file(one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping(io.StringIO):
        def __next__(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Stopping())
    assert run(one, "-", "-o", one.parent / "out") == Exit.STOPPED
    assert [path.name for path in one.parent.iterdir()] == ["a.warc.gz"]


def test_manifests_are_read_as_if_they_were_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = warc(tmp_path / "a.warc.gz", record(1), record(2), record(3, HTTP + b"other"))
    whole = tmp_path / "whole"
    assert run(archive, "-o", whole) == Exit.DONE
    parts = []
    for number, line in enumerate(whole.read_text().splitlines(keepends=True)):
        parts.append(str(tmp_path / str(number)))
        Path(parts[-1]).write_text(line)
    assert main(["-q", "resolve", "--process", str(whole)]) == Exit.DONE
    by_whole = capsys.readouterr().out
    assert main(["-q", "resolve", "--process", *parts]) == Exit.DONE
    assert capsys.readouterr().out == by_whole
