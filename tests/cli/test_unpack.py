"""`pinakes unpack`: every body is a file below the folder, and the index says which."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from evidence import is_agreed, manifest_lines
from killing import deaths_of_verb
from scenes import make_scene
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, member, revisit, write_set

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

LATER = "2021-01-01T00:00:00Z"
FIRST = Rec(uri="http://example.org/1.html")
AGAIN = revisit(FIRST, of_number=0, profile="identical", date=LATER)
GZIP = (b"Content-Encoding: gzip",)


def run(*words: object, code: int = Exit.DONE) -> None:
    assert main(["unpack", *map(str, words)]) == code


def files_of(folder: Path) -> dict[str, bytes]:
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    return {
        name: file.read_bytes()
        for name, file in found.items()
        if file.is_file() and name != "index.jsonl"
    }


def index_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_every_body_of_real_files_is_there(shared_data: Path, tmp_path: Path) -> None:
    seen = 0
    for number, line in enumerate(manifest_lines(shared_data)):
        path = shared_data / "archives" / line["file"]
        if not is_agreed(line) or line["content_size"] > 2_000_000:
            continue
        out = tmp_path / str(number)
        words = ["unpack", str(path), "-o", str(out), "--stored", "--raw"]  # digests may be wrong
        assert main(words) in (0, Exit.SOME_FAILED)
        index = {line["place"]: line for line in index_of(out)}
        with open_source(path) as source:
            for record in iter_records(source):
                if not isinstance(record, Record) or record.type not in ("response", "resource"):
                    continue
                body = b"".join(map(bytes, record.payload()))
                inner = f"+{record.inner_offset}" if record.inner_offset else ""
                found = index.get(f"{path}:{record.offset}{inner}")
                if found is None:
                    assert not body or record.findings, record
                    continue
                assert (out / str(found["file"])).read_bytes() == body
                assert found["url"] == record.target_uri
                seen += 1
        assert {line["file"] for line in index.values()} == set(files_of(out))
    assert seen > 500


def test_bodies_are_named_by_url_and_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        Rec(uri="http://example.org/", framing=True),
        Rec(uri="http://example.org/", body=OTHER, date=LATER),
        Rec(uri="http://example.org/", body=PAGE, date=LATER),
        Rec(uri="http://example.org/a.css?v=1", body=gzip.compress(OTHER), http_fields=GZIP),
        Rec(uri="http://example.org/../../b", body=OTHER, status=404),
        Rec(uri="http://example.org/empty", body=b"", status=301),
        Rec(uri="http://example.org/about", type="metadata"),
        Rec(uri="file:///etc/passwd", type="resource", body=OTHER),
        AGAIN,
    ]
    [path] = write_set(tmp_path, [ArchiveFile("a", records)])
    out = tmp_path / "out"
    run(path, "-o", out, code=Exit.SOME_FAILED)
    expected = {
        "example.org/index.html": PAGE,
        "example.org/index.20210101000000.html": OTHER,
        "example.org/a.css%3Fv=1": OTHER,
        "example.org/%2E%2E/%2E%2E/b.404": OTHER,
        "file/etc/passwd": OTHER,
    }
    assert files_of(out) == expected
    shown = capsys.readouterr()
    size = 2 * len(PAGE) + 4 * len(OTHER)
    assert shown.out == (
        f"{out}: 6 files, {size:,} bytes; already there: 1; empty bodies left out: 1; "
        "revisits left out: 1\n"
    )
    assert "a revisit has no body of its own" in shown.err
    index = index_of(out)
    assert [line["file"] for line in index] == [
        *list(expected)[:2],
        "example.org/index.html",
        *list(expected)[2:],
    ]
    assert index[1] == {
        "file": "example.org/index.20210101000000.html",
        "size": len(OTHER),
        "place": index[1]["place"],
        "type": "response",
        "url": "http://example.org/",
        "date": LATER,
        "status": 200,
        "media_type": "text/html",
        "digest": index[1]["digest"],
    }
    before = (out / "index.jsonl").read_bytes()
    run("--json", path, "-o", out, code=Exit.SOME_FAILED)
    assert (out / "index.jsonl").read_bytes() == before
    assert files_of(out) == expected
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == index


def test_other_inputs_join_the_folder(tmp_path: Path) -> None:
    first, second = write_set(
        tmp_path,
        [
            ArchiveFile("a", [FIRST]),
            ArchiveFile("b", [Rec(uri=FIRST.uri, body=OTHER, date=LATER)]),
        ],
    )
    out = tmp_path / "out"
    run(first, "-o", out)
    run(second, "-o", out)
    names = {"example.org/1.html": PAGE, "example.org/1.20210101000000.html": OTHER}
    assert files_of(out) == names
    assert [line["file"] for line in index_of(out)] == list(names)


def test_what_cannot_be_decoded_is_kept_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = gzip.compress(PAGE)[:-4]
    records = [
        Rec(uri="http://example.org/a.html", body=stored, http_fields=GZIP),
        Rec(uri="http://example.org/b", http_fields=(b"Content-Encoding: mine",)),
    ]
    [path] = write_set(tmp_path, [ArchiveFile("a", records)])
    out = tmp_path / "out"
    run(path, "-o", out, code=Exit.SOME_FAILED)
    assert files_of(out) == {"example.org/a.html.stored": stored, "example.org/b.stored": PAGE}
    shown = capsys.readouterr().err
    assert "the body is not gzip, as its header says (incomplete): written as it is" in shown
    assert "mine is an unknown content-coding: written as it is stored" in shown
    as_stored = tmp_path / "stored"
    run(path, "-o", as_stored, "--stored")
    assert files_of(as_stored) == {"example.org/a.html": stored, "example.org/b": PAGE}


def test_damaged_records_are_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [FIRST, Rec(body=OTHER)])])
    path.write_bytes(path.read_bytes()[:-20])
    run(path, "-o", tmp_path / "out", code=Exit.SOME_FAILED)
    assert files_of(tmp_path / "out") == {"example.org/1.html": PAGE}
    assert "left out, for it is damaged" in capsys.readouterr().err


def test_selected_records_as_files(tmp_path: Path) -> None:
    first, again = member(FIRST.raw(0), level=1), member(AGAIN.raw(1), level=1)
    (tmp_path / "a.warc.gz").write_bytes(first + again)
    (tmp_path / "b.warc").write_bytes(FIRST.raw(2))
    out = tmp_path / "out"
    run(tmp_path / "a.warc.gz", tmp_path / "b.warc", "-o", out, "--records")
    expected = {
        "a.warc.gz/000000000000-response.warc.gz": first,
        f"a.warc.gz/{len(first):012d}-revisit.warc.gz": again,
        "b.warc/000000000000-response.warc": FIRST.raw(2),
    }
    assert files_of(out) == expected
    assert [line["file"] for line in index_of(out)] == list(expected)
    some = tmp_path / "some"
    run(tmp_path / "a.warc.gz", "-o", some, "--records", "--type", "revisit")
    assert list(files_of(some)) == list(expected)[1:2]


def test_a_crawl_of_the_store(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        store = ("--store", scene.folder / "store", "--type", "response")
        run("c1", "-o", tmp_path / "out", *store)
    index = index_of(tmp_path / "out")
    assert {line["file"] for line in index} == set(files_of(tmp_path / "out"))
    assert len(index) > 5


@pytest.mark.slow
def test_killed_at_each_step(tmp_path: Path) -> None:
    records = [FIRST, Rec(uri=f"{FIRST.uri}/b"), Rec(uri=FIRST.uri, body=OTHER, date=LATER)]
    [path] = write_set(tmp_path, [ArchiveFile("a", records)])
    run(path, "-o", tmp_path / "whole")
    for _, out, _ in deaths_of_verb(
        tmp_path, lambda out: ["unpack", path, "-o", out], more_than=20
    ):
        run(path, "-o", out)
        assert files_of(out) == files_of(tmp_path / "whole")
        assert sorted(map(str, index_of(out))) == sorted(map(str, index_of(tmp_path / "whole")))
