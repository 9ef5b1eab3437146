"""Revisits become the full records that `pinakes restore` makes of them, or stay, named."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from replayed_set import replayed_files
from steps_here import INLINE, run_by
from warc_sets import (
    OTHER,
    PAGE,
    ArchiveFile,
    Rec,
    inflated,
    plan,
    refs,
    revisit,
    write_manifest,
    write_set,
)

from pinakes.cli import main
from pinakes.index.manifest import format_line, parse_line

DATES = ("2020-01-01T00:00:00Z", "2020-02-02T00:00:00Z", "2021-03-03T00:00:00Z")
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


def write_rewritten(folder: Path, dice: random.Random) -> tuple[list[Path], list[Path]]:
    """Files before and after duplicates became revisits; others' revisits among them."""
    files = []
    for number in range(3):
        recs = []
        for _ in range(dice.randrange(3, 12)):
            uri = f"http://example.org/é{dice.randrange(40)}"
            rec = Rec(uri=uri, date=dice.choice(DATES), body=dice.choice((PAGE, OTHER, b"x" * 99)))
            if dice.randrange(6) == 0:
                rec = revisit(rec, of_number=1, profile=IDENTICAL, date=DATES[2])
            recs.append(rec)
        layout = dice.choice(("gzip", "plain", "shared", "pairs", "dictionary", "one frame"))
        files.append(ArchiveFile(f"é {number}", recs, layout))
    before = write_set(folder / "before", files)
    refs(before, plan(before), folder / "after")
    return before, [folder / "after" / path.name for path in before]


def read_all(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.warc*")}


@pytest.mark.parametrize(
    ("seed", "runner"),
    [
        *((seed, "here") for seed in (0, 2, 3, 6)),
        (1, "inline"),
        (7, "local in turn"),
        pytest.param(7, "local", marks=pytest.mark.large),
    ],
)
def test_files_and_lines_are_those_of_the_verb(
    seed: int, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(seed)
    before, after = write_rewritten(tmp_path, dice)
    given = after if seed % 2 else after[: dice.randrange(1, 3)]
    to, folder = tmp_path / "out", str(tmp_path / "after")
    originals = ("--dir", folder) if seed % 3 else ()
    # -v: every warning is compared, not the first three that either meets.
    words = ["restore", *map(str, given), "-o", str(to), "--json", "-v", *originals]
    status = main(words)
    reported = capsys.readouterr()
    wanted, by_verb = read_all(to), sorted(reported.out.splitlines())
    shutil.rmtree(to)
    with run_by(runner) as as_asked:
        assert main([*words, *as_asked]) == status
    told_by_job = capsys.readouterr()
    assert sorted(told_by_job.out.splitlines()) == by_verb
    assert read_all(to) == wanted
    warnings = [
        sorted(text for text in err.splitlines() if "warning: " in text)
        for err in (reported.err, told_by_job.err)
    ]
    assert warnings[0] == warnings[1]
    if seed % 3 or given == after:
        assert status == 0
        for path in before:
            if path.name in wanted:
                assert inflated(to / path.name) == inflated(path)


def test_no_other_body_is_taken_and_no_file_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recs = [Rec(uri="http://a/"), Rec(uri="http://b/", date=DATES[1])]
    before = write_set(tmp_path / "before", [ArchiveFile(str(n), recs[n : n + 1]) for n in (0, 1)])
    assert refs(before, plan(before), tmp_path / "after").records == 1
    after = tmp_path / "after"
    other = Rec(uri="http://a/", body=PAGE[:-1] + b"!")
    write_set(after, [ArchiveFile("0", [other])])
    words = ["restore", *INLINE, str(after / "1.warc.gz"), "--dir", str(after)]
    assert main([*words, "-o", str(tmp_path / "out")]) == 3
    assert "another body" in capsys.readouterr().err
    assert read_all(tmp_path / "out") == {}
    rights = ["restore", *INLINE, str(after / "1.warc.gz"), "--dir", str(tmp_path / "before")]
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "1.warc.gz").write_bytes(b"another file")
    assert main([*rights, "-o", str(tmp_path / "there")]) == 3
    assert "exists already and is not replaced" in capsys.readouterr().err
    assert (tmp_path / "there" / "1.warc.gz").read_bytes() == b"another file"
    clash = [str(tmp_path / folder / "1.warc.gz") for folder in ("before", "after")]
    assert main(["restore", *INLINE, *clash, "-o", str(tmp_path / "new")]) == 2


def test_a_file_that_cannot_be_opened_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, after = write_rewritten(tmp_path, random.Random(0))
    lost = tmp_path / "lost.warc.gz"
    words = ["restore", *map(str, after), str(lost)]
    with run_by("here"):
        for by, job in (("verb", words), ("job", [*words, *INLINE])):
            to = tmp_path / by
            assert main([*job, "-o", str(to)]) == 3
            assert f"warning: {lost}: cannot be read: No such file" in capsys.readouterr().err
            assert sorted(read_all(to)) == [path.name for path in after]


# --- The job writes what `pinakes refs` writes, byte for byte, and leaves full what that leaves


def decided(folder: Path) -> tuple[list[str], Path]:
    """Archive files of many kinds, and decisions on them."""
    paths = write_set(folder / "before", replayed_files())
    return [str(path) for path in paths], write_manifest(
        folder / "decided", plan(paths, resources=True)
    )


def results(text: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return sorted(found, key=lambda result: str(result["file"]))


def write(
    folder: Path, names: list[str], lines: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, object]], int, list[dict[str, object]]]:
    by_verb, by_job = folder / "by-verb", folder / "by-job"
    refs = ["refs", "--manifest", str(lines), "--run", "r", "--min-saving", "none", "--json"]
    status = main([*refs, *names, "-o", str(by_verb)])
    said = results(capsys.readouterr().out)
    job_status = main([*refs, *INLINE, "-o", str(by_job)])
    return status, said, job_status, results(capsys.readouterr().out)


def test_files_are_those_of_refs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, lines = decided(tmp_path)
    status, by_verb, job_status, by_job = write(tmp_path, names, lines, capsys)
    assert (status, job_status) == (0, 0)
    named = {line.file for line in map(parse_line, lines.read_text().splitlines())
             if line.is_duplicate}  # fmt: skip
    assert by_job == [result for result in by_verb if result["file"] in named]
    assert sum(int(str(result["revisits"])) for result in by_job) > 10
    for name in named:
        base = Path(name).name
        assert (tmp_path / "by-job" / base).read_bytes() == (
            tmp_path / "by-verb" / base
        ).read_bytes()
    assert len([*(tmp_path / "by-job").glob("*.warc*")]) == len(named)


def test_text_and_run_are_those_of_refs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, lines = decided(tmp_path)
    words = ["refs", "--manifest", str(lines), "-o"]
    assert main([*words, str(tmp_path / "by-verb"), *names]) == 0
    by_verb = capsys.readouterr().out.splitlines()
    assert main([*words, str(tmp_path / "by-job"), *INLINE]) == 0
    by_job = capsys.readouterr().out.splitlines()
    assert by_job
    assert set(by_job) <= set(by_verb)
    for path in (tmp_path / "by-job").glob("*.warc*"):
        assert path.read_bytes() == (tmp_path / "by-verb" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("seed", "runner"), [(0, "inline"), *((seed, "here") for seed in range(1, 6))]
)
def test_false_manifest_is_handled_as_by_refs(
    seed: int, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Originals that are duplicates, of other bodies, the record itself, or nowhere."""
    names, path = decided(tmp_path)
    dice = random.Random(seed)
    lines = [parse_line(text) for text in path.read_text().splitlines()]
    for number, line in enumerate(lines):
        if line.is_duplicate and dice.random() < 0.5:
            other = dice.choice(lines)
            lines[number] = line._replace(
                original_file=other.file,
                original_offset=other.offset + dice.choice((0, 0, 0, 1)),
                original_length=other.length,
                original_inner_offset=other.inner_offset,
                original_uri=other.target_uri,
                original_date=other.date,
            )
    path.write_text("".join(format_line(line) + "\n" for line in lines))
    with run_by(runner):
        status, by_verb, job_status, by_job = write(tmp_path, names, path, capsys)
    assert status == job_status
    left = {str(result["file"]): result for result in by_verb}
    assert by_job == [left[str(result["file"])] for result in by_job]
    for result in by_job:
        base = Path(str(result["file"])).name
        assert (tmp_path / "by-job" / base).read_bytes() == (
            tmp_path / "by-verb" / base
        ).read_bytes()


def test_unproven_file_is_not_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A duplicate rots behind the manifest: its trailer still says what it should be."""
    record = Rec(body=bytes(range(256)) * 64)
    again = Rec(body=record.body, uri="http://example.org/2", date="2020-02-02T00:00:00Z")
    [path] = write_set(tmp_path / "before", [ArchiveFile("a", [record, again])])
    first, second = plan([path])
    lines = write_manifest(tmp_path / "decided", [first, second])
    rotten = bytearray(path.read_bytes())
    rotten[second.offset + second.length - 20] ^= 1
    path.write_bytes(rotten)
    status, by_verb, job_status, by_job = write(tmp_path, [str(path)], lines, capsys)
    assert (status, job_status) == (3, 3)
    left = {"file": str(path), "revisits": 0, "saved_bytes": 0, "left_full": {"unproven": 1}}
    assert (by_verb, by_job) == ([left], [left])
    for folder in ("by-verb", "by-job"):
        assert (tmp_path / folder / path.name).read_bytes() == rotten
