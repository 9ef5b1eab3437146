"""validate by manifests, by references, by index; restore by index."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_sets import (
    OTHER,
    PAGE,
    ArchiveFile,
    Rec,
    index_of,
    inflated,
    manifest_of,
    plan,
    records_of,
    refs,
    restore,
    revisit,
    write_manifest,
    write_set,
)

from pinakes.cli import main
from pinakes.dedupe.validate.quick_look import compare_manifests
from pinakes.dedupe.validate.replay_sample import ReplaySample
from pinakes.index.cdxj import format_cdx, format_cdx_header, format_cdxj
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import ManifestLine
from pinakes.warc.opening import open_source

LATER = "2020-02-02T00:00:00Z"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


@pytest.fixture
def made(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    """Files before and after: a has the originals, b their duplicates."""
    files = [
        ArchiveFile("a", [Rec(uri="http://a/1"), Rec(uri="http://a/2", body=OTHER)]),
        ArchiveFile(
            "b",
            [
                Rec(uri="http://b/1", date=LATER),
                Rec(uri="http://b/2", body=OTHER, date=LATER),
                Rec(uri="http://b/3", body=b"3"),
            ],
        ),
    ]
    before = write_set(tmp_path / "before", files)
    assert refs(before, plan(before), tmp_path / "after").records == 2
    return before, [tmp_path / "after" / path.name for path in before]


# --- manifests


def look(before: list[ManifestLine], after: list[ManifestLine]) -> list[tuple[str, str]]:
    """The codes and URIs, the same whether it all fits in memory or nothing does."""
    found = list(compare_manifests(before, after))
    spilt = list(compare_manifests(before, after, space=SortSpace(memory_bytes=1)))
    assert found == spilt
    return [(code, uri) for code, uri, _ in found]


def test_a_quick_look_finds_nothing(made: tuple[list[Path], list[Path]]) -> None:
    before, after = map(manifest_of, made)
    assert look(before, after) == []
    assert look(after, before) == []
    assert look(before, before) == []


def test_a_quick_look_finds_what_differs(made: tuple[list[Path], list[Path]]) -> None:
    before, after = map(manifest_of, made)
    assert look(before, after[:-1]) == [("missing", "http://b/3")]
    assert look(before[:-1], after) == [("surplus", "http://b/3")]
    assert look(before, [*after[:-1], after[-1]._replace(digest="sha1:x")]) == [
        ("altered", "http://b/3")
    ]
    assert look(before, after[1:]) == [("missing", "http://a/1"), ("dangling", "http://b/1")]
    unresolved_reference = after[2]._replace(refers_uri="http://a/2")
    assert look(before, [*after[:2], unresolved_reference, *after[3:]]) == [
        ("other-body", "http://b/1")
    ]


def line_of(file: str, uri: str, date: str, **more: Any) -> ManifestLine:
    return ManifestLine(file, 0, 9, uri, date, "sha1:a", size=1)._replace(**more)


@pytest.mark.parametrize(
    ("written", "converted"),
    [
        ("20010203040506", "2001-02-03T04:05:06Z"),
        ("20010203040506", "2001-02-03T05:05:06+01:00"),
        ("200102030405", "2001-02-03T04:05:00Z"),
        ("20010203040506789", "2001-02-03T04:05:06.789Z"),
        ("200102030405067890", "2001-02-03T04:05:06.7890Z"),
        ("null", "1970-01-01T00:00:00Z"),
        ("", "1970-01-01T00:00:00Z"),
    ],
    ids=["seconds", "zone", "minutes", "milliseconds", "18-digits", "null", "empty"],
)
@pytest.mark.parametrize(
    ("uri", "converted_uri"),
    [("http://a/b", "http://a/b"), ("http://a/b c|d", "http://a/b%20c%7Cd"), ("dns:a", "dns:a")],
    ids=["uri", "blanks", "dns"],
)
@pytest.mark.parametrize("file", [{"file": "a.arc.gz"}, {"file": "a", "skip": "arc"}], ids=str)
def test_a_conversion_agrees_with_its_arc_file(
    written: str, converted: str, uri: str, converted_uri: str, file: dict[str, str]
) -> None:
    before = line_of("", uri, written, type="resource")._replace(**file)
    after = line_of("out/a.warc.gz", converted_uri, converted, record_id="urn:x")
    assert look([before], [after]) == []
    assert look([after], [before]) == []
    for other in (
        {"digest": "sha1:b"},
        {"size": 2},
        {"date": "2001-02-03T04:05:07Z"},
        {"target_uri": "http://a/c"},
    ):
        assert look([before], [after._replace(**other)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("http://a/b c", "2001-02-03T04:05:06Z"), ("http://a/b%20c", "2001-02-03T04:05:06Z")),
        (("http://a/", "null"), ("http://a/", "1970-01-01T00:00:00Z")),
        (("http://a/", "2001-02-03T04:05:06.1234567Z"),
         ("http://a/", "2001-02-03T04:05:06.1234568Z")),
        (("http://a/", "2001-02-03T04:05:06Z"), ("http://a/", "2001-02-03T04:05:06.001Z")),
    ],
    ids=["uri-as-written", "no-date", "ten-nanoseconds", "a-millisecond"],
)  # fmt: skip
def test_warc_files_are_compared_as_they_stand(
    before: tuple[str, str], after: tuple[str, str]
) -> None:
    assert len(look([line_of("a.warc", *before)], [line_of("a.warc", *after)])) == 2


def test_a_duplicate_of_a_conversion_refers_to_a_line_of_the_arc_file() -> None:
    before = [line_of("a.arc", "http://a/", day) for day in ("20010203040506", "20010204040506")]
    original = line_of("a.warc", "http://a/", "2001-02-03T04:05:06Z")
    duplicate = line_of("a.warc", "http://a/", "2001-02-04T04:05:06Z", type="revisit")
    refers = {"refers_uri": "http://a/", "refers_date": "2001-02-03T04:05:06.000Z"}
    assert look(before, [original, duplicate._replace(**refers)]) == []  # type: ignore[arg-type]


@given(st.data())
def test_a_quick_look_counts(data: st.DataObject) -> None:
    """Of unequal numbers of equal captures, each surplus one is named."""
    line = ManifestLine("f", 0, 1, "http://a/", LATER, "sha1:a", size=1)
    was, now = data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    found = look([line] * was, [line] * now)
    assert len(found) == abs(was - now)


def test_the_verb_looks_at_manifests(
    made: tuple[list[Path], list[Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(manifest_of, made)
    was = str(write_manifest(tmp_path / "was", before))
    now = str(write_manifest(tmp_path / "now", after))
    assert main(["validate", "--manifests", was, now]) == 0
    assert "permits nothing" in capsys.readouterr().err
    write_manifest(tmp_path / "now", after[:-1])
    assert main(["validate", "--manifests", was, now, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "missing"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["a", "b", "c"],
        ["a", "b", "--manifests", "c", "d"],
        ["--manifests", "c", "d", "--receipt", "r"],
        ["--refs", "c", "--replay", "http://x"],
        ["--manifests", "c", "d", "--cdx", "r"],
    ],
    ids=" ".join,
)
def test_wrong_calls(arguments: list[str]) -> None:
    assert main(["validate", *arguments]) == 2


# --- references


def test_references_within_a_set(
    made: tuple[list[Path], list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    after = list(map(str, made[1]))
    assert main(["validate", "--refs", *after]) == 0
    assert main(["validate", "--refs", after[0]]) == 0
    capsys.readouterr()
    assert main(["validate", "--refs", after[1], "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["outcome"] for entry in found] == ["dangling", "dangling"]
    # What cannot be read is named, and the rest checked.
    assert main(["validate", "--refs", "missing.warc", *after]) == 3
    shown = capsys.readouterr().err
    assert "missing.warc: cannot be read" in shown
    assert "2 resolves" in shown


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ({"uri": "http://a/1"}, "resolves"),
        ({"uri": "http://r/", "date": LATER}, "itself"),
        ({"uri": "http://a/1", "date": "2020-01-01T00:00:01Z"}, "dangling"),
        ({"uri": "http://b/late", "date": "2021-01-01T00:00:00Z"}, "later"),
        ({"uri": "http://a/2"}, "other-digest"),
    ],
)
def test_outcomes_of_foreign_revisits(
    target: dict[str, str], outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = Rec(**target)
    records = [
        Rec(uri="http://a/1"),
        Rec(uri="http://a/2", body=OTHER),
        Rec(uri="http://b/late", date="2021-01-01T00:00:00Z"),
        revisit(of, of_number=0, profile=IDENTICAL, uri="http://r/", date=LATER),
    ]
    (path,) = write_set(tmp_path, [ArchiveFile("a", records)])
    assert main(["validate", "--refs", str(path)]) == (0 if outcome == "resolves" else 1)
    assert f"1 {outcome}" in capsys.readouterr().err


@pytest.fixture(params=["cdxj", "cdx", "cdx with a byte order mark"])
def index(
    request: pytest.FixtureRequest, made: tuple[list[Path], list[Path]], tmp_path: Path
) -> Path:
    lines = index_of(made[1])
    path = tmp_path / f"index.{request.param}"
    if request.param == "cdxj":
        texts = [format_cdxj(line) for line in lines]
    else:
        texts = [format_cdx_header(), *(format_cdx(line) for line in lines)]
    encoding = "utf-8-sig" if "mark" in request.param else "utf-8"
    path.write_text("".join(text + "\n" for text in texts), encoding)
    return path


def test_references_out_of_a_set_by_index(
    made: tuple[list[Path], list[Path]], index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whose lines are not bytes: it says so, unless the files are at hand."""
    command = ["validate", "--refs", str(made[1][1]), "--cdx", str(index)]
    assert main(command) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(r"references: \d+ indexed", said.err)
    assert main([*command, "--dir", str(made[1][0].parent)]) == 0
    assert "indexed" not in capsys.readouterr().err


# --- restore


def test_restore_by_index(made: tuple[list[Path], list[Path]], index: Path, tmp_path: Path) -> None:
    before, after = made
    call = ["restore", str(after[1]), "-o", str(tmp_path / "back"), "--cdx", str(index)]
    assert main([*call, "--dir", str(after[0].parent)]) == 0
    assert inflated(tmp_path / "back" / after[1].name) == inflated(before[1])


def test_restore_names_records_it_cannot_restore(
    made: tuple[list[Path], list[Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = made[1]
    assert main(["restore", str(after[1]), "-o", str(tmp_path / "back")]) == 3
    said = capsys.readouterr().err
    assert "http://a/1" in said
    assert "not written: none of its revisits could be restored" in said
    assert list((tmp_path / "back").iterdir()) == []


def test_restore_takes_no_other_body(made: tuple[list[Path], list[Path]], tmp_path: Path) -> None:
    """An original that was changed, at the same address and of the same size."""
    changed = [Rec(uri="http://a/1", body=PAGE[:-1] + b"!"), Rec(uri="http://a/2", body=OTHER)]
    (other,) = write_set(tmp_path / "changed", [ArchiveFile("a", changed)])
    count = restore([made[1][1]], tmp_path / "back", others=[other])
    assert (count.restored, count.left["not restored"]) == (1, 1)
    assert "another body" in str(count.problems[0])


def test_restore_from_a_shared_member(made: tuple[list[Path], list[Path]], tmp_path: Path) -> None:
    """Somebody compressed our file anew, as a whole."""
    from warc_sets import member

    before, after = made
    whole = tmp_path / "whole"
    whole.mkdir()
    paths = [whole / path.name for path in after]
    for path, target in zip(after, paths, strict=True):
        target.write_bytes(member(inflated(path)))
    count = restore(paths, tmp_path / "back")
    assert (count.restored, count.problems) == (2, [])
    for path in before:
        assert inflated(tmp_path / "back" / path.name) == inflated(path)


@pytest.mark.parametrize("find", [b"crc32=", b"added=6", b"version=1", b"5=", b"%20"])
def test_restore_believes_no_forged_field(
    find: bytes, made: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    from warc_sets import member

    after = made[1]
    records = [r.header.raw + b"".join(r.chunks()) + b"\r\n\r\n" for r in records_of(after[1])]
    old = records[0]
    records[0] = old.replace(find, find[:-1] + b"7", 1)
    assert (records[0] != old) == (find in old)
    after[1].write_bytes(b"".join(map(member, records)))
    count = restore(after, tmp_path / "back")
    expected = (1, 1) if find in old else (2, 0)
    assert (count.restored, count.left["not restored"]) == expected


# --- replay


@pytest.fixture
def player(made: tuple[list[Path], list[Path]]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """A replay tool that knows one answer to each URL."""
    answers = {"http://b/1": PAGE, "http://b/2": OTHER}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, _, second, uri = self.path.split("/", 3)
            assert second == "20200202000000id_"
            body = answers.get(uri)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/all", answers
        server.shutdown()
        thread.join()


def test_replay_is_compared(
    made: tuple[list[Path], list[Path]],
    player: tuple[str, dict[str, bytes]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prefix, answers = player
    before, after = (str(paths[0].parent) for paths in made)
    receipt = tmp_path / "receipt.json"
    call = ["validate", before, after, "--replay", prefix]
    assert main([*call, "--receipt", str(receipt)]) == 0
    assert json.loads(receipt.read_text())["replayed"] == 2
    answers["http://b/1"] = OTHER
    del answers["http://b/2"]
    capsys.readouterr()
    assert main([*call, "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(f["code"], f["file"], f["ordinal"]) for f in found} == {
        ("replay", "b.warc.gz", 0),
        ("replay", "b.warc.gz", 1),
    }


def test_unanswered_replay_is_a_problem(made: tuple[list[Path], list[Path]]) -> None:
    before, after = (str(paths[0].parent) for paths in made)
    assert main(["validate", before, after, "--replay", "http://127.0.0.1:1/all"]) == 4
    assert main(["validate", before, after, "--replay", "here"]) == 2


def test_a_sample_is_the_same_again(tmp_path: Path) -> None:
    records = [Rec(uri=f"http://a/{n}", date=f"20{n:02}-01-01") for n in range(1, 40)]
    (path,) = write_set(tmp_path, [ArchiveFile("a", records)])

    def chosen(order: int) -> list[int]:
        sample = ReplaySample(size=7)
        with open_source(path) as source:
            for record in records_of(path)[::order]:
                sample.offer(record, record, source)
        return [entry.ordinal for entry in sample]

    assert chosen(1) == chosen(-1)
    assert len(chosen(1)) == 7
