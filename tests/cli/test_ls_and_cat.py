"""`pinakes ls` and `cat`: what is printed of a record is taken, and gives its bytes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard
from evidence import is_agreed, manifest_lines
from scenes import Scene, make_scene
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, chunked, revisit, write_set

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

LATER = "2021-01-01T00:00:00Z"
FIRST = Rec(uri="http://example.org/1")
AGAIN = revisit(FIRST, of_number=0, profile="identical", date=LATER)
Call = Callable[..., bytes]


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    def run(*argv: object, code: int = Exit.DONE) -> bytes:
        capfdbinary.readouterr()
        assert main([str(word) for word in argv]) == code
        return capfdbinary.readouterr().out

    return run


def listed(call: Call, *argv: object, code: int = Exit.DONE) -> list[dict[str, object]]:
    return [json.loads(line) for line in call("--json", "ls", *argv, code=code).splitlines()]


@pytest.mark.slow
def test_records_of_real_files_are_listed_as_others_read_them(
    shared_data: Path, call: Call
) -> None:
    seen = 0
    for line in manifest_lines(shared_data):
        if not is_agreed(line) or line["kind"] != "warc" or line["container"] == "bzip2":
            continue
        path = shared_data / "archives" / line["file"]
        found = listed(call, path)
        assert len(found) == line["expected"]["record_count"], path
        places = {entry["offset"]: entry for entry in found if not entry["inner_offset"]}
        for capture in line["expected"]["captures"]:
            entry = places[capture["offset"]]
            ours = [entry[name] for name in ("type", "length", "date")]
            assert ours == [capture[name] for name in ("type", "length", "date")]
        seen += len(found)
    assert seen > 2000


def test_every_place_that_is_printed_is_taken(shared_data: Path, call: Call) -> None:
    """Also of records that share a member: together they are the inflated file."""
    folder = shared_data / "archives" / "harvard-lil_scoop"
    path = min(folder.rglob("example.com.warc.gz"))
    texts = [line.decode().split("  ")[0] for line in call("ls", path).splitlines()]
    assert any("+" in text.rpartition(":")[2] for text in texts)
    records = [call("cat", text) for text in texts]
    assert b"".join(records) == gzip.decompress(path.read_bytes())


def test_counts(tmp_path: Path, call: Call) -> None:
    records = [FIRST, Rec(uri="http://b.org/", status=404, body=OTHER), AGAIN]
    [path] = write_set(tmp_path, [ArchiveFile("a", records)])
    found = json.loads(call("--json", "ls", "--stats", tmp_path))
    assert (found["files"], found["records"], found["bytes"]) == (1, 3, path.stat().st_size)
    assert {name: count["records"] for name, count in found["types"].items()} == {
        "response": 2,
        "revisit": 1,
    }
    assert found["hosts"]["example.org"]["records"] == 2
    text = call("ls", "--stats", tmp_path).decode()
    assert "1 file, 3 records" in text
    assert "captures by host" in text


@pytest.mark.parametrize(
    ("options", "uris"),
    [
        (["--type", "revisit"], ["/1"]),
        (["--status", "404"], ["/2"]),
        (["--to", "2021"], ["/1", "/2"]),
        (["--invert", "--url", "*/1"], ["/2"]),
    ],
)
def test_selected_records(options: list[str], uris: list[str], tmp_path: Path, call: Call) -> None:
    records = [FIRST, Rec(uri="http://example.org/2", status=404, body=OTHER), AGAIN]
    write_set(tmp_path, [ArchiveFile("a", records)])
    found = [str(entry["target_uri"])[18:] for entry in listed(call, tmp_path, *options)]
    assert found == uris


ODD = Rec(
    uri="http://example.org/odd",
    http_fields=(b"X-Odd: tab\there\x1b[0m \xff", b"Content-Type: text/html", b"X-Empty:"),
    fields=(b"WARC-Concurrent-To: <urn:x:1>", b"warc-concurrent-to: <urn:x:2>"),
    brackets=True,
)


@pytest.mark.parametrize(
    ("fields", "text", "value"),
    [
        pytest.param("offset", "0", 0, id="offset"),
        pytest.param("filename", "a.warc", "a.warc", id="filename"),
        pytest.param("WARC-type", "response", "response", id="any-case"),
        pytest.param("warc-target-uri", ODD.uri, ODD.uri, id="uri-without-brackets"),
        pytest.param("warc-concurrent-to", "<urn:x:1>", "<urn:x:1>", id="first-of-several"),
        pytest.param("http:status", "200", 200, id="status"),
        pytest.param("HTTP:content-TYPE", "text/html", "text/html", id="http-any-case"),
        pytest.param("http:x-odd", "tab\\there\\x1b[0m \\udcff", None, id="hostile"),
        pytest.param("http:x-empty", "-", "", id="empty"),
        pytest.param("warc-profile", "-", None, id="missing"),
        pytest.param("http:etag", "-", None, id="http-missing"),
    ],
)
def test_fields_of_a_record(
    fields: str, text: str, value: object, tmp_path: Path, call: Call
) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [ODD], "plain")])
    assert call("ls", path, "--fields", f"{fields},offset").decode() == f"{text}\t0\n"
    [found] = listed(call, path, "--fields", fields)
    assert list(found) == [fields]
    if fields != "http:x-odd":
        assert found[fields] == value


def test_fields_of_selected_records(tmp_path: Path, call: Call) -> None:
    info = Rec(uri="http://example.org/about", type="metadata", body=b"a: b")
    write_set(tmp_path, [ArchiveFile("a", [info, FIRST]), ArchiveFile("b", [AGAIN])])
    fields = ("--fields", "warc-type, http:status, filename, length")
    lines = call("ls", tmp_path, *fields).decode().splitlines()
    assert [line.split("\t")[:3] for line in lines] == [
        ["metadata", "-", "a.warc.gz"],
        ["response", "200", "a.warc.gz"],
        ["revisit", "200", "b.warc.gz"],
    ]
    assert call("ls", tmp_path, *fields, "--type", "revisit").decode().splitlines() == lines[2:]


def test_fields_of_a_crawl_are_those_of_its_files(tmp_path: Path, call: Call) -> None:
    with landed_scene(tmp_path) as scene:
        store = ("--store", scene.folder / "store", "--type", "response")
        fields = ("--fields", "offset,warc-record-id,http:content-type,filename")
        found = listed(call, "c2", *store, *fields)
        for entry in found:
            [on_disk] = [
                one
                for one in listed(call, scene.archive.path_of(str(entry["filename"])), *fields)
                if one["offset"] == entry["offset"]
            ]
            assert {**on_disk, "filename": entry["filename"]} == entry
        assert len(found) > 5


def test_what_is_damaged_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [FIRST])])
    path.write_bytes(path.read_bytes() + b"no member at all")
    assert main(["ls", str(path)]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert shown.out.count("\n") == 1
    assert "16 bytes left out" in shown.err
    assert main(["ls", "missing.warc", "--store", str(tmp_path / "none")]) == Exit.WRONG_CALL
    assert "missing.warc: file not found, and there is no store" in capsys.readouterr().err


@contextmanager
def landed_scene(folder: Path) -> Iterator[Scene]:
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
        yield scene


def test_a_crawl_is_listed_as_its_files_are(tmp_path: Path, call: Call) -> None:
    with landed_scene(tmp_path) as scene:
        compare_crawl(scene, call)
        scene.dedupe()
        compare_crawl(scene, call)


def compare_crawl(scene: Scene, call: Call) -> None:
    store = ("--store", scene.folder / "store")
    fields = ("offset", "length", "type", "date", "target_uri", "status", "size")
    seen = 0
    for entry in listed(call, "c2", *store):
        file = scene.archive.path_of(str(entry["file"]))
        [on_disk] = [one for one in listed(call, file) if one["offset"] == entry["offset"]]
        if entry["type"] != "revisit":  # of which the store knows the body's size
            assert [entry[name] for name in fields] == [on_disk[name] for name in fields]
        assert call("cat", entry["place"], *store) == call("cat", on_disk["place"])
        seen += 1
    assert seen > 10
    by_collection = Counter(str(entry["file"])[:2] for entry in listed(call, "news", *store))
    assert by_collection["c2"] == seen
    assert by_collection["c1"] > 10


def test_names_of_files_that_were_dropped_lead_to_the_current_ones(
    tmp_path: Path, call: Call
) -> None:
    with landed_scene(tmp_path) as scene:
        scene.dedupe(grace_ms=0)
        store = ("--store", scene.folder / "store")
        files = call("--json", "crawl", "show", "c2", *store).splitlines()
        names = [json.loads(line).get("file") for line in files]
        rewritten = [one for one in listed(call, "c2", *store) if "/g2/" in str(one["file"])]
        assert rewritten
        for one in rewritten:
            name = str(one["file"]).replace("/g2/", "/")
            assert name in names
            by_identity = f"{name}:{one['offset']}"
            assert call("cat", by_identity, *store) == call("cat", one["place"], *store)
            assert call("show", by_identity, *store)


# --- bodies


@pytest.mark.parametrize("inside", [True, False])
def test_the_body_of_a_revisit_is_its_originals(inside: bool, tmp_path: Path, call: Call) -> None:
    files = [ArchiveFile("a", [FIRST, AGAIN])] if inside else [
        ArchiveFile("a", [AGAIN]),
        ArchiveFile("b", [Rec(uri="http://example.org/1", body=OTHER, date=LATER), FIRST]),
    ]  # fmt: skip
    (tmp_path / "in").mkdir()
    path = write_set(tmp_path / "in", files)[0]
    [again] = [one["place"] for one in listed(call, path, "--type", "revisit")]
    assert call("cat", again, "--payload") == PAGE
    if not inside:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "in" / "b.warc.gz").rename(tmp_path / "elsewhere" / "b.warc.gz")
        call("cat", again, "--payload", code=Exit.SOME_FAILED)
        assert call("cat", again, "--payload", "--dir", tmp_path / "elsewhere") == PAGE


def deflated(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()


@pytest.mark.parametrize(
    ("fields", "stored"),
    [
        ("", PAGE),
        ("Transfer-Encoding: chunked\r\n", chunked(PAGE)),
        ("Transfer-Encoding: chunked\r\n", PAGE),  # the writer took the chunks out
        ("Content-Encoding: gzip\r\n", gzip.compress(PAGE[:9]) + gzip.compress(PAGE[9:])),
        ("Content-Encoding: deflate\r\n", zlib.compress(PAGE)),
        ("Content-Encoding: deflate\r\n", deflated(PAGE)),
        ("Content-Encoding: ZSTD\r\n", zstandard.compress(PAGE)),
        (
            "Content-Encoding: deflate, x-gzip\r\nTransfer-Encoding: chunked\r\n",
            chunked(gzip.compress(zlib.compress(PAGE))),
        ),
    ],
)
def test_bodies_are_decoded(fields: str, stored: bytes, tmp_path: Path, call: Call) -> None:
    place = http_record(tmp_path, fields, stored)
    assert call("cat", place, "--payload") == stored
    assert call("cat", place, "--payload", "--decoded") == PAGE
    headers = call("cat", place, "--headers")
    assert headers.endswith(f"{fields}\r\n".encode())
    assert call("cat", place) == headers + stored + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("Content-Encoding: gzip\r\n", "the body is not gzip, as its header says"),
        ("Content-Encoding: zstd\r\n", "the body is not zstd, as its header says"),
        ("Content-Encoding: zebra\r\n", "zebra is an unknown content-coding"),
    ],
)
def test_what_cannot_be_decoded_is_refused(
    fields: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = http_record(tmp_path, fields, PAGE)
    assert main(["cat", place, "--payload", "--decoded"]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert shown.out == ""
    assert words in shown.err


def http_record(folder: Path, fields: str, stored: bytes) -> str:
    block = f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode() + stored
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n"
        "WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:1>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    path = folder / "a.warc.gz"
    path.write_bytes(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    return f"{path}:0"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["cat", "nothing"], "neither a CAPTURE"),
        (["cat", "a.warc.gz:0", "--decoded"], "--decoded needs --payload"),
        (["ls", "a.warc.gz", "--invert"], "--invert without a condition"),
        (
            ["ls", "a.warc.gz", "--digest", "sha1:x"],
            "--digest is 'sha1:x', and should be one such as",
        ),
    ],
)
def test_wrong_calls(
    words: list[str],
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path, [ArchiveFile("a", [FIRST])])
    assert main(words) == Exit.WRONG_CALL
    assert answer in capsys.readouterr().err
