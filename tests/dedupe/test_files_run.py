"""`pinakes dedupe PATH ... -o OUT`: what the verbs of the chain do, in one, safe to run again."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from killing import deaths_of_verb, tree
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, records_of, write_set

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.dedupe.run.files_run import FilesRun
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

LATER, LATEST = "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"
NOISE = random.Random(1).randbytes(2000)
FILES = [
    ArchiveFile("a", [Rec(uri="http://a/1", body=NOISE), Rec(uri="http://a/2", body=OTHER)]),
    ArchiveFile("b", [Rec(uri="http://a/1", body=NOISE, date=LATER), Rec(uri="http://b/2")]),
    ArchiveFile("c", [Rec(uri="http://c/1", body=b"nothing like it")], "plain"),
]


IN_FRAMES = [replace(FILES[0], layout="packed dictionary"), replace(FILES[1], layout="frames")]


in_gzip_or_zstd = pytest.mark.parametrize(
    "files", [FILES, [*IN_FRAMES, FILES[2]]], ids=["gzip", "zstd"]
)


@pytest.fixture
def files() -> list[ArchiveFile]:
    return FILES


@pytest.fixture
def before(tmp_path: Path, files: list[ArchiveFile]) -> Path:
    write_set(tmp_path / "before", files)
    return tmp_path / "before"


def run(*words: object, code: int = Exit.DONE) -> None:
    assert main([str(word) for word in words]) == code


@in_gzip_or_zstd
@pytest.mark.parametrize(
    ("options", "digest"),
    [
        ((), "sha1"),
        (("--compare", "sha256"), "sha256"),
        (("--compare", "none"), "sha256"),
    ],
)
def test_it_is_the_chain(
    before: Path, tmp_path: Path, options: tuple[str, ...], digest: str
) -> None:
    manifest, processed = tmp_path / "manifest", tmp_path / "processed"
    names = sorted(before.iterdir())
    run("manifest", *names, "-o", manifest, "--digest", digest)
    run("resolve", manifest, "-o", processed, "--process", *options)
    run("refs", *names, "--manifest", processed, "-o", tmp_path / "by verbs")
    run("dedupe", before, "-o", tmp_path / "at once", *options)
    assert tree(tmp_path / "at once") == tree(tmp_path / "by verbs")
    assert len(tree(tmp_path / "at once")) == 3
    run("validate", before, tmp_path / "at once")


@in_gzip_or_zstd
def test_what_is_said(before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("dedupe", before, "-o", tmp_path / "out", "--plan", "--json")
    *_, planned = map(json.loads, capsys.readouterr().out.splitlines())
    assert not (tmp_path / "out").exists()
    run("dedupe", before, "-o", tmp_path / "out", "--json")
    *files, done = map(json.loads, capsys.readouterr().out.splitlines())
    assert [file["revisits"] for file in files] == [0, 1, 0]
    assert (done["files"], done["revisits"], done["validated"]) == (3, 1, True)
    sizes = [
        sum(len(data) for data in tree(folder).values()) for folder in (before, tmp_path / "out")
    ]
    assert sizes[0] - sizes[1] == done["saved_bytes"] > 0
    assert {**planned, "output": None, "validated": None} == {
        **done,
        "output": None,
        "validated": None,
    }
    run("dedupe", before, "-o", tmp_path / "out")
    shown = capsys.readouterr()
    assert "3 files" in shown.out
    assert "validated: each record is as before" in shown.out
    assert "next: use the files in" in shown.err


def test_an_index_has_a_line_for_each_original(tmp_path: Path) -> None:
    """Of the copies in `a`, which share a member, it has one for the first alone."""
    first = [Rec(uri=f"http://a/{n}", body=random.Random(n).randbytes(2000)) for n in (1, 2)]
    later, latest = ([replace(rec, date=date) for rec in first] for date in (LATER, LATEST))
    files = [ArchiveFile("a", first, "shared"), ArchiveFile("b", [*later, *latest])]
    write_set(tmp_path / "before", files)
    run("dedupe", tmp_path / "before", "-o", tmp_path / "out")
    run("cdx", tmp_path / "out", "-o", tmp_path / "lines", code=Exit.SOME_FAILED)
    found = [
        (record.type, *record.header.refers_to()[:2])
        for record in records_of(tmp_path / "out" / "b.warc.gz")
    ]
    assert found == [
        ("revisit", "http://a/1", first[0].date),
        ("response", None, None),
        ("revisit", "http://a/1", first[0].date),
        ("revisit", "http://a/2", LATER),
    ]
    lines = [line.split(" ")[:2] for line in (tmp_path / "lines").read_text().splitlines()]
    for _, uri, date in found:
        assert uri is None or [urlkey(uri), second_of(date or "")] in lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "stride"),
    [
        pytest.param(FILES, 1, id="gzip"),
        pytest.param([*IN_FRAMES, FILES[2]], 3, id="zstd"),
        pytest.param([*IN_FRAMES, FILES[2]], 1, id="zstd-each", marks=pytest.mark.large),
    ],
)
def test_killed_at_each_step_and_run_again(before: Path, tmp_path: Path, stride: int) -> None:
    run("dedupe", before, "-o", tmp_path / "once")
    expected = tree(tmp_path / "once")
    for _, out, _ in deaths_of_verb(
        tmp_path, lambda out: ["dedupe", before, "-o", out], stride=stride, more_than=8
    ):
        for name, data in tree(out).items():
            assert ".pinakes-" in name or data == expected[name]
        run("dedupe", before, "-o", out)
        assert tree(out) == expected


def test_other_files_than_before_are_refused(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("dedupe", before, "-o", tmp_path / "out")
    old = tree(tmp_path / "out")
    write_set(before, [ArchiveFile("b", [Rec(uri="http://b/9", body=PAGE * 2)])])
    run("dedupe", before, "-o", tmp_path / "out", code=Exit.SOME_FAILED)
    assert "b.warc.gz: exists already and is not replaced" in capsys.readouterr().err
    assert tree(tmp_path / "out") == old


def test_what_cannot_be_read_is_named_and_the_rest_is_done(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = before / "d.warc.gz"
    damaged.write_bytes(b"no archive at all")
    missing = tmp_path / "missing.warc.gz"
    run("dedupe", before, missing, "-o", tmp_path / "out", code=Exit.SOME_FAILED)
    told = capsys.readouterr().err
    assert "17 bytes take no part" in told
    assert "missing.warc.gz: cannot be read" in told
    out = tree(tmp_path / "out")
    assert out.pop("d.warc.gz") == damaged.read_bytes()
    assert sorted(out) == ["a.warc.gz", "b.warc.gz", "c.warc"]


def altered(new: bytes) -> bytes:
    return new.replace(b"nothing", b"Nothing")


def followed_by_line_ends(new: bytes) -> bytes:
    """What the proof on raw bytes alone sees: records are read as before."""
    return new + gzip.compress(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("name", "harm", "record"),
    [("c.warc", altered, 0), ("b.warc.gz", followed_by_line_ends, 1)],
    ids=["copied", "proven"],
)
def test_a_finding_of_validation_is_told(
    name: str,
    harm: Callable[[bytes], bytes],
    record: int,
    before: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a file that was right when it was written, too."""
    write = FilesRun._write_one

    def write_and_harm(self: FilesRun, place: str, output: Path | None, *rest: object) -> None:
        write(self, place, output, *rest)  # type: ignore[arg-type]
        if place.endswith(name) and output is not None:
            new = output / name
            new.write_bytes(harm(new.read_bytes()))

    monkeypatch.setattr(FilesRun, "_write_one", write_and_harm)
    run("dedupe", before, "-o", tmp_path / "out", code=Exit.FOUND)
    shown = capsys.readouterr()
    assert "validation FAILED, 1 finding: do not use" in shown.out
    assert f"{name}: record {record}: " in shown.err


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["-o", "out"], "-o deduplicates files: name some"),
        (["before", "-o", "out", "--all"], "--all: not with -o"),
        (["before", "-o", "out", "--runner", "local", "--drop-old"], "--runner, --drop-old: not"),
        (["before", "before", "-o", "out"], "inputs of one name, nothing was written"),
        (["a", "b"], "name one crawl, or --all; or files and -o OUT"),
        ([], "name one crawl, or --all; or files and -o OUT"),
        (["empty", "-o", "out"], "no archive files found"),
    ],
)
def test_wrong_calls(
    before: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    answer: str,
) -> None:
    monkeypatch.chdir(before.parent)
    Path("empty").mkdir()
    run("dedupe", *words, code=Exit.WRONG_CALL)
    assert answer in capsys.readouterr().err
    assert not Path("out").exists()
