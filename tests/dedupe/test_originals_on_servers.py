"""`resolve`, `refs` and `restore` with originals on servers, compared with files here."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from range_server import RangeServer, serving
from s3_gateway import BUCKET, be_tester, s3_gateway
from warc_sets import ArchiveFile, Rec, index_of, inflated, write_set
from web_servers import SERVERS, make_certificate, nginx

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused
from pinakes.index.cdxj import format_cdxj

# Bodies that do not compress: small revisits of them save enough to be written.
FIRST = [
    Rec(uri="http://example.org/1", body=Random(1).randbytes(3_000)),
    Rec(uri="http://example.org/2", date="2020-01-02T00:00:00Z", body=Random(2).randbytes(90_000)),
]
LATER = [replace(rec, uri=rec.uri + "b", date=f"2021{rec.date[4:]}") for rec in FIRST]
ODD = "sub/a %20#?+ü.warc.gz"
AS_MANIFESTS_WRITE = "sub/a%20%2520#?+ü.warc.gz"


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """The working directory: a manifest, what the chain writes, and `ODD` in `away/` only."""
    monkeypatch.chdir(tmp_path)
    paths = write_set(Path("sub"), [ArchiveFile("a %20#?+ü", FIRST), ArchiveFile("b", LATER)])
    paths[1].rename("b.warc.gz")
    Path("cdx").write_text("".join(f"{format_cdxj(line)}\n" for line in index_of(paths[:1])))
    assert main(["manifest", ODD, "b.warc.gz", "-o", "m"]) == Exit.DONE
    decide_and_rewrite("expected", "m")
    assert json.loads(capsys.readouterr().out)["revisits"] == 2
    restore_again("expected", "--dir", "sub")
    assert inflated(Path("expected-back/b.warc.gz")) == inflated(Path("b.warc.gz"))
    Path("away").mkdir()
    Path("sub").rename("away/sub")
    return tmp_path


def decide_and_rewrite(out: str, manifest: str, *places: str) -> None:
    resolve = ["resolve", manifest, "--process", "-o", f"{out}-resolved"]
    assert main([*resolve, *places]) == Exit.DONE
    refs = ["refs", "b.warc.gz", "--manifest", f"{out}-resolved", "--run", "r", "--json"]
    assert main([*refs, "-o", f"{out}-refs", *places]) == Exit.DONE


def restore_again(out: str, *places: str) -> None:
    restore = ["restore", "expected-refs/b.warc.gz", "-o", f"{out}-back"]
    assert main([*restore, *places]) == Exit.DONE


def found(out: str) -> list[bytes]:
    """What was written; the restored records are full again."""
    names = "resolved", "refs/b.warc.gz", "back/b.warc.gz"
    return [Path(f"{out}-{name}").read_bytes() for name in names]


@pytest.fixture(params=[*SERVERS, "S3"])
def url(
    request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A server over `away`."""
    if request.param == "S3":
        with s3_gateway(folder / "state", bucket=folder / "away") as gateway:
            be_tester(monkeypatch, AWS_ENDPOINT_URL=gateway.address)
            yield f"s3://{BUCKET}"
        return
    with SERVERS[request.param](folder / "away", folder / "state") as url:
        yield url


def test_servers_files_are_found_below_a_url(folder: Path, url: str) -> None:
    decide_and_rewrite("got", "m", "--dir", url)
    restore_again("got", "--dir", f"{url}/sub/", "--cdx", "cdx")
    assert found("got") == found("expected")


@pytest.mark.parametrize(
    "places",
    [["--locations", "table"], ["--cdx", "cdx", "--dir", "{}/sub"], ["--dir", "away"]],
    ids=["table", "index", "folder"],
)
def test_validate_finds_originals_elsewhere(
    folder: Path, url: str, places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two folders with the file that refers to them alone; and of its references."""
    Path("before").mkdir()
    Path("b.warc.gz").rename("before/b.warc.gz")
    Path("table").write_text(f"anything {url}/{quote(ODD)}\n")
    call = ["validate", "before", "expected-refs"]
    assert main(call) == Exit.FOUND
    assert "2 dangling" in capsys.readouterr().err
    further = [word.format(url) for word in places]
    assert main([*call, *further]) == Exit.DONE
    assert "references: 2 resolves" in capsys.readouterr().err
    if "--cdx" not in further:
        assert main(["validate", "--refs", "expected-refs/b.warc.gz", *further]) == Exit.DONE


def test_validate_names_originals_that_it_cannot_read(
    folder: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("before").mkdir()
    Path("b.warc.gz").rename("before/b.warc.gz")
    Path("table").write_text(f"anything {url}/nowhere\n")
    call = ["validate", "before", "expected-refs"]
    assert main([*call, "--locations", "table"]) == Exit.FOUND
    assert "nowhere: file not found on the server" in capsys.readouterr().err
    assert main([*call, "--cdx", "cdx", "--dir", f"{url}/nowhere"]) == Exit.FOUND
    assert "not found as" in capsys.readouterr().err


@pytest.mark.parametrize("by", ["URL", "URL as people write it", "file URL"])
def test_servers_files_are_found_by_a_table(folder: Path, url: str, by: str) -> None:
    places = {
        "URL": f"{url}/{quote(ODD)}",
        "URL as people write it": f"{url}/sub/a %2520%23%3F+ü.warc.gz",
        "file URL": f"file://{quote(str(folder / 'away' / ODD))}",
    }
    Path("table").write_text(f"{AS_MANIFESTS_WRITE} {places[by]}\n")
    decide_and_rewrite("got", "m", "--locations", "table")
    restore_again("got", "--locations", "table")
    assert found("got") == found("expected")


def test_manifests_of_other_tools_are_completed_from_a_server(folder: Path, url: str) -> None:
    columns = [line.split()[:6] for line in Path("m").read_text().splitlines()]
    names = {AS_MANIFESTS_WRITE: "ours.warc.gz"}
    lines = [" ".join([names.get(name, name), *rest]) for name, *rest in columns]
    Path("foreign").write_text("\n".join(lines))
    Path("table").write_text(f"ours.warc.gz {url}/{quote(ODD)}\n")
    decide_and_rewrite("got", "foreign", "--locations", "table")
    restore_again("got", "--locations", "table")
    assert found("got")[1:] == found("expected")[1:]


def test_encrypted_connections_are_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(folder)
    with nginx(folder / "away", folder / "state", certificate) as url:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        decide_and_rewrite("got", "m", "--dir", url)
        monkeypatch.delenv("SSL_CERT_FILE")
        assert main(["resolve", "m", "-o", "not", "--dir", url]) == Exit.STORE
    assert not Path("not").exists()


def test_a_file_that_no_server_has(
    folder: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("table").write_text(f"{AS_MANIFESTS_WRITE} {url}/nowhere\n")
    arguments = ["--dir", f"{url}/nowhere", "--locations", "table"]
    assert main(["resolve", "m", "-o", "resolved", *arguments]) == Exit.SOME_FAILED
    shown = capsys.readouterr().err
    assert f"or {url}/nowhere/{quote(ODD)} or" in shown
    assert f"or {url}/nowhere: say where with --dir or --locations" in shown
    assert Path("resolved").read_text().count("skip=unreadable") == 2


def test_a_server_that_is_gone_ends_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving({}) as server:
        url = server.url
    assert main(["resolve", "m", "-o", "resolved", "--dir", url]) == Exit.STORE
    assert "reading from the server failed 5 times" in capsys.readouterr().err
    assert not Path("resolved").exists()


@pytest.mark.parametrize("verb", ["resolve m -o x", "refs b.warc.gz --manifest m -o x"])
@pytest.mark.parametrize(
    "url", ["http://", "https://user:secret@example.org/", "http://a b/", "s3://"]
)
def test_a_folder_that_is_no_url(folder: Path, verb: str, url: str) -> None:
    assert main([*verb.split(), "--dir", url]) == Exit.WRONG_CALL


def test_a_manifest_with_an_odd_url_is_read_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest is others' material: what is odd in it is named, and no wrong call."""
    Path("odd").write_text(
        "http://u:p@h/x 0 9 u d sha1:X\ns3://u:p@h/x 0 9 u d sha1:X\nhttp://[/x 0 9 u d sha1:X\n"
        + Path("m").read_text()
    )
    arguments = ["resolve", "odd", "-o", "resolved", "--dir", "away"]
    assert main(arguments) == Exit.SOME_FAILED
    assert "URLs with a user name or password are not accepted" in capsys.readouterr().err
    assert len(Path("resolved").read_text().splitlines()) == 7


def test_originals_of_a_server_that_cannot_list_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["restore", "expected-refs/b.warc.gz", "-o", "x", "--dir", "http://127.0.0.1:9/"]
    assert main(arguments) == Exit.WRONG_CALL
    assert "--cdx or --locations" in capsys.readouterr().err


def test_originals_of_a_folder_in_s3(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is listed; files in it that are no WARC files by name are left alone."""
    Path("away/sub/log.txt").write_text("no WARC file")
    Path("before").mkdir()
    Path("b.warc.gz").rename("before/b.warc.gz")
    restore = ["restore", "expected-refs/b.warc.gz", "-o", "got-back", "--dir"]
    validate = ["validate", "before", "expected-refs", "--dir"]
    be_tester(monkeypatch)
    with s3_gateway(folder / "state", bucket=folder / "away") as gateway:
        for place in (gateway.url("sub/"), gateway.url("")):
            assert main([*restore, place]) == Exit.DONE
            back = Path("got-back/b.warc.gz")
            assert back.read_bytes() == Path("expected-back/b.warc.gz").read_bytes()
            back.unlink()
            assert main([*validate, place]) == Exit.DONE
            assert main(["validate", "--refs", "expected-refs/b.warc.gz", "--dir", place]) == 0
        assert main([*restore, gateway.url("nothing/")]) == Exit.WRONG_CALL
        assert "there are no files below it" in capsys.readouterr().err
        be_tester(monkeypatch, AWS_SECRET_ACCESS_KEY="another")
        assert main([*restore, gateway.url("sub/")]) == Exit.SOME_FAILED
        assert "refuses access: check the AWS credentials" in capsys.readouterr().err


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with serving({f"{number}.warc": b"%d" % number * 50_000 for number in range(100)}) as server:
        yield server


def test_a_missing_file_is_asked_for_once(server: RangeServer) -> None:
    with ArchiveFiles(folder=server.url) as files:
        for _ in range(3):
            with pytest.raises(InputRefused, match="not found as sub/x or http://"):
                files.source("sub/x")
    assert len(server.requests) == 2


def test_a_record_is_read_by_small_ranges(server: RangeServer) -> None:
    with ArchiveFiles(folder=server.url) as files:
        assert bytes(files.source("7.warc").view(40_000, 3)) == b"777"
    assert server.requests == ["bytes=0-0", "bytes=40000-49999"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["here", "nginx", "S3"])
def test_memory_of_many_files(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many files of a megabyte, some sixty are open, each with a small window.

    On S3, where reading goes on, or begins with the file, 256 KiB are read.
    """
    names = [f"{number}.warc" for number in range(80 if way == "S3" else 200)]
    (tmp_path / "files").mkdir()
    for name in names:
        (tmp_path / "files" / name).write_bytes(os.urandom(1 << 20))

    def peak_bytes(place: str) -> int:
        tracemalloc.start()
        with ArchiveFiles(folder=place) as files:
            for turn in range(3):
                for name in names:
                    assert len(files.source(name).view(turn << 18, 100)) == 100
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    if way == "here":
        assert peak_bytes(str(tmp_path / "files")) < 3 << 20
    elif way == "S3":
        be_tester(monkeypatch)
        with s3_gateway(tmp_path / "state", bucket=tmp_path / "files") as gateway:
            assert peak_bytes(gateway.url("")) < 20 << 20
    else:
        with nginx(tmp_path / "files", tmp_path / "state") as url:
            assert peak_bytes(url) < 4 << 20
