"""`-o FILE` of manifests, indexes and statistics: nothing of an archive is replaced by it."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from archive_builders import gzip_file, plain_file

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit


def _rows(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE rows (key BLOB)")
    connection.close()


def _holding(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


KEPT = {
    "a.warc.gz": _holding(gzip_file()),
    "gzip": _holding(gzip_file()),
    "zstd": _holding(zstandard.compress(plain_file())),
    "plain": _holding(plain_file()),
    "an.arc": _holding(b"cut off"),
    "ARC": _holding(b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain 76\n"),
    "a.wacz": _holding(b"PK\x03\x04"),
    "parquet": _holding(b"PAR1\x15\x04"),
    "rows.sqlite": _rows,
}
CALLS = (
    ["manifest", "in.warc.gz", "-o"],
    ["cdx", "in.warc.gz", "-o"],
    ["resolve", "m", "-o"],
    ["resolve", "m", "-o", "r", "--stats"],
    ["process", "m", "-o"],
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.warc.gz").write_bytes(gzip_file())
    assert main(["manifest", "in.warc.gz", "-o", "m"]) == Exit.DONE


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_what_is_of_an_archive_stays(
    name: str, call: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    KEPT[name](Path(name))
    before = Path(name).read_bytes()
    assert main([*call, name]) == Exit.WRONG_CALL
    assert "and is not replaced" in capsys.readouterr().err
    assert Path(name).read_bytes() == before


def test_the_first_of_many_names_is_no_output() -> None:
    """A shell has put all files in place of `*.warc.gz` after `-o`."""
    Path("b.warc.gz").write_bytes(gzip.compress(b"WARC/1.0 and so on"))
    assert main(["manifest", "-o", "b.warc.gz", "in.warc.gz"]) == Exit.WRONG_CALL
    assert gzip.decompress(Path("b.warc.gz").read_bytes()) == b"WARC/1.0 and so on"


@pytest.mark.parametrize(
    "content", [b"", b"an older manifest\n", "é\n".encode("latin-1"), b"<a/>\0<b/>\0"]
)
def test_another_file_is_replaced(content: bytes) -> None:
    Path("out").write_bytes(content)
    assert main(["manifest", "in.warc.gz", "-o", "out"]) == Exit.DONE
    assert Path("out").read_bytes() == Path("m").read_bytes()
