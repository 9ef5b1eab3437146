"""Revisits become the full records that `pinakes restore` makes of them, or stay, named."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
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
    write_set,
)

from pinakes.cli import main

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
    told = capsys.readouterr()
    wanted, by_verb = read_all(to), sorted(told.out.splitlines())
    shutil.rmtree(to)
    with run_by(runner) as as_asked:
        assert main([*words, *as_asked]) == status
    told_by_job = capsys.readouterr()
    assert sorted(told_by_job.out.splitlines()) == by_verb
    assert read_all(to) == wanted
    warnings = [
        sorted(text for text in err.splitlines() if "warning: " in text)
        for err in (told.err, told_by_job.err)
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
    assert read_all(tmp_path / "out") == {"1.warc.gz": (after / "1.warc.gz").read_bytes()}
    assert main([*words, "-o", str(tmp_path / "before")]) == 3
    assert "exists already and is not replaced" in capsys.readouterr().err
    assert inflated(tmp_path / "before" / "1.warc.gz") == recs[1].raw(1)
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
