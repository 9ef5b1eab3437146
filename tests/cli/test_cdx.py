"""`pinakes cdx`: the lines that other indexers write, sorted, from files and from a store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scenes import make_scene
from warc_sets import OTHER, ArchiveFile, Rec, revisit, write_set

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.index.cdxj import CdxLine, parse_cdx, parse_cdxj
from pinakes.warc.digest import parse_digest

Call = Callable[..., list[str]]
FIRST = Rec(uri="http://example.org/b")
RECORDS = [
    FIRST,
    Rec(uri="http://example.org/a", body=OTHER, status=404),
    revisit(FIRST, of_number=0, profile="identical", date="2021-01-01T00:00:00Z"),
]


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    def run(*argv: object, code: int | None = Exit.DONE) -> list[str]:
        capfdbinary.readouterr()
        assert main(["cdx", *map(str, argv)]) == code or code is None
        return capfdbinary.readouterr().out.decode().splitlines()

    return run


# What our lines have otherwise than cdxj-indexer's, and why.
KNOWN = {
    "mime": "of a record without HTTP head, Content-Type; it writes none",
    "status": "of a response whose head it does not read",
    "digest": "declared in another spelling, or for want of one computed of another body",
    "url": "as in the file; it writes blanks as %20",
    "urlkey": "with the query of a POST; it does that where it is asked to",
}


def oracle_lines(shared_data: Path) -> Iterator[tuple[Path, list[CdxLine]]]:
    folder = shared_data / "archives" / "_oracle" / "cdxj-indexer-1.5.0"
    for file in sorted(folder.rglob("*.cdxj")):
        path = shared_data / "archives" / file.relative_to(folder).with_suffix("")
        if path.is_file() and path.suffix != ".wacz":
            yield path, [parse_cdxj(text) for text in file.read_text().splitlines()]


@pytest.mark.slow
def test_real_files_have_the_lines_of_cdxj_indexer(shared_data: Path, call: Call) -> None:
    counts: Counter[str] = Counter()
    for path, lines in oracle_lines(shared_data):
        ours = {line.offset: line for line in map(parse_cdxj, call(path, code=None))}
        for line in lines:
            found = ours.get(line.offset)
            if found is None:
                # It indexes metadata records, too; and what follows a damaged stretch.
                counts[f"absent {line.mime}"] += 1
                continue
            assert (found.timestamp, found.filename) == (line.timestamp, path.name)
            assert found.length == line.length or path.suffix != ".gz"
            different = [name for name in KNOWN if value(found, name) != value(line, name)]
            counts.update(different or ["same"])
    assert counts["same"] > 1500
    assert counts["urlkey"] < 20
    assert counts["url"] < 5
    assert counts["status"] < 20


def value(line: CdxLine, name: str) -> object:
    if name == "digest" and line.digest:
        return parse_digest(line.digest if ":" in line.digest else f"sha1:{line.digest}")
    return getattr(line, name)


def test_lines_are_sorted_and_three_forms_say_the_same(tmp_path: Path, call: Call) -> None:
    write_set(tmp_path / "in", [ArchiveFile("b", RECORDS), ArchiveFile("a", RECORDS)])
    lines = call(tmp_path / "in")
    assert lines == sorted(lines)
    parsed = [parse_cdxj(line) for line in lines]
    assert [line.urlkey[-1] for line in parsed] == ["a", "a", "b", "b", "b", "b"]
    assert {line.filename for line in parsed} == {"a.warc.gz", "b.warc.gz"}
    assert [line.mime for line in parsed[-2:]] == ["warc/revisit"] * 2
    for form in ("cdx11", "cdx9"):
        texts = call(tmp_path / "in", "--format", form)
        assert texts[0].startswith(" CDX N b a m s k r ")
        assert texts[1:] == sorted(texts[1:])
        missing = {"length": None} if form == "cdx9" else {}
        expected = [line._replace(**missing) for line in parsed]
        # Lines of one URL and second may come in another order.
        assert sorted(parse_cdx(texts), key=str) == sorted(expected, key=str)


def test_several_processes_write_the_same(tmp_path: Path, call: Call) -> None:
    write_set(tmp_path / "in", [ArchiveFile(name, RECORDS) for name in "abcd"])
    (tmp_path / "in" / "c.warc.gz").write_bytes(b"no archive at all")
    alone = call(tmp_path / "in", code=Exit.SOME_FAILED)
    assert call(tmp_path / "in", "-j", "3", code=Exit.SOME_FAILED) == alone
    call(tmp_path / "in", "-o", tmp_path / "index", code=Exit.SOME_FAILED)
    assert (tmp_path / "index").read_text().splitlines() == alone


def test_a_crawl_has_the_lines_of_its_files(tmp_path: Path, call: Call) -> None:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        scene.land(2)
        for _ in range(2):
            stored = call("c2", "--store", tmp_path / "store")
            folder = scene.archive.path_of("c2")
            names = {json.loads(line.split(" ", 2)[2])["filename"] for line in stored}
            by_name = {Path(name).name: name for name in names}
            on_disk = call(*(scene.archive.path_of(name) for name in names))
            expected = []
            for text in on_disk:
                line = parse_cdxj(text)
                expected.append(line._replace(filename=by_name[line.filename or ""]))
            assert folder.is_dir()
            assert sorted(map(parse_cdxj, stored)) == sorted(expected)
            assert len(stored) > 10
            scene.dedupe()
    assert sum(line.mime == "warc/revisit" for line in map(parse_cdxj, stored)) > 3


def test_the_answer_to_a_post_is_found_by_what_was_asked(shared_data: Path, call: Call) -> None:
    seen = 0
    lines = (shared_data / "expected-cdx" / "cdxj-indexer.jsonl").read_text().splitlines()
    for case in map(json.loads, lines):
        if "post_query_append" not in case["test"] or "post_append" not in case["options"]:
            continue
        [path] = set(
            (shared_data / "archives").glob(f"webrecorder_*/test/data/{case['input_name']}")
        )
        wanted = [parse_cdxj(line) for line in case["expected"].splitlines()]
        found = [parse_cdxj(line) for line in call(path)]
        for ours, theirs in zip(found, sorted(wanted), strict=True):
            assert (ours.urlkey, ours.timestamp) == (theirs.urlkey, theirs.timestamp)
            assert ours.extra == theirs.extra
            seen += 1
    assert seen == 6


def test_a_capture_without_a_date_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = write_set(tmp_path, [ArchiveFile("a", [Rec(uri="http://a/", date="yesterday")])])
    assert main(["cdx", str(path)]) == Exit.SOME_FAILED
    assert "a.warc.gz:0: a capture without URL or readable date: left out" in (
        capsys.readouterr().err
    )
