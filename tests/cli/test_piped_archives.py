"""An archive file on standard input, where a list of paths is read, and files given by URL."""

from __future__ import annotations

import bz2
import gzip
import io
import re
from pathlib import Path

import pytest
from warc_sets import ArchiveFile, Rec, revisit, write_set
from web_servers import SERVERS

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

RECORDS = [
    Rec(declared="sha256"),
    revisit(
        Rec(declared="sha1"),
        of_number=0,
        profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        date="2021-01-01T00:00:00Z",
    ),
]
PLAIN = b"".join(rec.raw(at) for at, rec in enumerate(RECORDS))
ARCHIVES = {
    "gzip": b"".join(gzip.compress(rec.raw(at), mtime=0) for at, rec in enumerate(RECORDS)),
    "plain": PLAIN,
    "bzip2": bz2.compress(PLAIN),
    "ARC": b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain 14\n1 0 Alexa\nURL\n\n",
}
archives = pytest.mark.parametrize("data", ARCHIVES.values(), ids=ARCHIVES)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))


@archives
@pytest.mark.parametrize(
    "verb",
    [
        "manifest",
        "manifest --records",
        "manifest -j 2",
        "check",
        "ls",
        "ls --stats",
        "filter --dry-run -o x",
    ],
)
def test_one_archive_file_is_read(
    data: bytes, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed is that of the file, under the name `-`."""
    Path("a").write_bytes(data)
    code = main([*verb.split(), "a"])
    expected = capsys.readouterr()
    pipe(monkeypatch, data)
    assert main([*verb.split(), "-"]) == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (renamed(expected.out), renamed(expected.err))


def renamed(text: str) -> str:
    """What is said of the file `a`, of `-`; which is no name in a manifest, and encoded there."""
    text = re.sub(r"^a ", "%2D ", text, flags=re.MULTILINE)
    return re.sub(r"(^| )a:", r"\1-:", text, flags=re.MULTILINE)


REFUSING = [
    "restore - -o x",
    "convert - -o x",
    "refs - --manifest m -o x",
    "manifest - --runner inline",
    "ingest - --crawl c",
]


@archives
@pytest.mark.parametrize("call", REFUSING)
def test_an_archive_file_is_no_list_of_paths(
    data: bytes, call: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, data)
    assert main(call.split()) == Exit.WRONG_CALL
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("pinakes: error: standard input holds an archive file, not a list")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    "data",
    [b"\0\1\2\n/\n", b"a.warc\n/\n\0", b"\xff" * 100_000 + b"\n/\n"],
    ids=["at once", "later", "a long line"],
)
@pytest.mark.parametrize("verb", ["manifest", "check"])
def test_binary_is_no_list_of_paths(
    data: bytes, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it is printed, and no folder that it seems to name is walked."""
    pipe(monkeypatch, data)
    assert main([verb, "-"]) == Exit.WRONG_CALL
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert "standard input holds binary, not a list" in shown.err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_list_is_a_list(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_set(Path(), [ArchiveFile("WARC ü", RECORDS), ArchiveFile("b", RECORDS)])
    pipe(monkeypatch, f"WARC ü.warc.gz{end}{end}b.warc.gz".encode())
    assert main(["manifest", "-", "-o", "listed"]) == Exit.DONE
    assert main(["manifest", "WARC ü.warc.gz", "b.warc.gz", "-o", "given"]) == Exit.DONE
    assert Path("listed").read_bytes() == Path("given").read_bytes()


@pytest.mark.parametrize("server", SERVERS)
def test_files_are_given_by_url(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_set(Path("served"), [ArchiveFile("a", RECORDS), ArchiveFile("b", RECORDS)])
    with SERVERS[server](tmp_path / "served", tmp_path / "state") as url:
        for verb in (["manifest"], ["manifest", "-j", "2"], ["check"]):
            code = main([*verb, "served/a.warc.gz", "served/b.warc.gz"])
            expected = capsys.readouterr().out
            assert main([*verb, f"{url}/a.warc.gz", f"{url}/b.warc.gz"]) == code
            assert capsys.readouterr().out == expected.replace("served/", f"{url}/")
        assert main(["manifest", f"{url}/a.warc.gz", f"{url}/no", "-o", "m"]) == Exit.SOME_FAILED
        assert f"{url}/no: file not found on the server" in capsys.readouterr().err
        assert main(["resolve", "m", "-o", "resolved"]) == Exit.DONE
