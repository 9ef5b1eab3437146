"""The job finds what `pinakes validate` finds, line for line, on whatever was done to a set."""

from __future__ import annotations

import io
import json
import random
import shutil
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from archive_builders import frame
from steps_here import INLINE, run_by
from warc_sets import (
    OTHER,
    PAGE,
    ArchiveFile,
    Rec,
    member,
    plan,
    records_of,
    refs,
    revisit,
    write_set,
)

from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.dedupe.validate.folders import Validation
from pinakes.errors import PinakesError
from pinakes.mr_jobs.driver.running import JobRequest, run_job
from pinakes.mr_jobs.lines.pairs import FilePair, OriginalsFile, format_pair
from pinakes.mr_jobs.validate import ValidateJob
from pinakes.mr_jobs.validating import Receipted, run_validation

DATES = ("2020-01-01T00:00:00Z", "2020-02-02T00:00:00Z", "2021-03-03T00:00:00Z")
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def write_before(folder: Path, dice: random.Random) -> list[Path]:
    """Three files, of few URIs, seconds and bodies; some revisits of others among them."""
    files = []
    for name in ("a", "sub/b", "sub/é c"):
        recs = []
        for _ in range(dice.randrange(3, 9)):
            uri = f"http://example.org/{dice.randrange(5)}"
            rec = Rec(uri=uri, date=dice.choice(DATES), body=dice.choice((PAGE, OTHER)))
            if dice.randrange(4) == 0:
                profile = dice.choice((IDENTICAL, NOT_MODIFIED))
                date = dice.choice(DATES)
                rec = revisit(rec, of_number=dice.randrange(9), profile=profile, date=date)
            recs.append(rec)
        files.append(ArchiveFile(name, recs, dice.choice(("gzip", "plain", "dictionary"))))
    (folder / "sub").mkdir(parents=True)
    return write_set(folder, files)


def disturb(folder: Path, dice: random.Random) -> None:
    """Bytes of records change, records are lost, exchanged or twice, or a file is."""
    path = dice.choice(sorted(p for p in folder.rglob("*.warc*") if p.is_file()))
    records = [
        record.header.raw + b"".join(record.chunks()) + b"\r\n\r\n" for record in records_of(path)
    ]
    at = dice.randrange(len(records))
    act = dice.randrange(6)
    if act == 0:
        del records[at]
    elif act == 1:
        records.insert(at, dice.choice(records))
    elif act == 2:
        dice.shuffle(records)
    elif act == 3:
        records[at] = records[at].replace(b"org/1", b"org/2")
    elif act == 4:
        records[at] = records[at].replace(b"2020-", b"2019-")
    else:
        other = path.with_name("other.warc.gz")
        shutil.move(path, other)
        return
    forms = {".gz": member, ".zst": frame}
    pieces = map(forms[path.suffix], records) if path.suffix in forms else records
    path.write_bytes(b"".join(pieces))


def write_after(before: Path, paths: list[Path], after: Path) -> None:
    refs(paths, plan(paths), after / "flat")
    for path in paths:
        target = after / path.relative_to(before)
        target.parent.mkdir(exist_ok=True)
        shutil.move(after / "flat" / path.name, target)
    (after / "flat").rmdir()


@pytest.mark.parametrize(
    ("seed", "runner"),
    [
        *((seed, "here") for seed in (1, 2, 3, 5, 9, 10)),
        (11, "inline"),
        (7, "local"),
    ],
)
def test_job_finds_what_the_verb_finds(
    seed: int, runner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(seed)
    before, after, receipt = (tmp_path / name for name in ("before", "after", "receipt"))
    paths = write_before(before, dice)
    write_after(before, paths, after)
    for _ in range(seed % 4):
        disturb(after, dice)
    if seed % 5 == 0:
        before, after = after, before  # restored
    capsys.readouterr()
    words = [str(before), str(after)]
    status = main(["validate", *words, "--json", "--receipt", str(receipt)])
    by_verb = sorted(capsys.readouterr().out.splitlines())
    with run_by(runner) as by:
        assert main(["validate", *words, "--json", *by]) == status
        said = capsys.readouterr()
        assert sorted(said.out.splitlines()) == by_verb
        value = json.loads(receipt.read_text())
        assert_counted(value, len(by_verb), said.err)
        assert status == bool(by_verb)

        by_job = tmp_path / "by-job"
        assert main(["validate", *words, "--json", *INLINE, "--receipt", str(by_job)]) == status
        assert sorted(capsys.readouterr().out.splitlines()) == by_verb
        assert comparable(json.loads(by_job.read_text())) == comparable(value)
        if by_verb:
            accept = tmp_path / "accept"
            whys = [{**json.loads(text), "who": "A. Reader", "why": "seen"} for text in by_verb[1:]]
            accept.write_text("".join(json.dumps(why) + "\n" for why in whys))
            again = [*words, "--receipt", str(tmp_path / "accepted"), "--accept", str(accept)]
            assert main(["validate", "--json", *INLINE, *again]) == 1
            assert capsys.readouterr().out.splitlines() == by_verb[:1]


def assert_counted(receipt: dict[str, Any], found: int, said: str) -> None:
    counted = {
        "records": receipt["records"],
        "rewritten": receipt["rewritten"],
        "restored": receipt["restored"],
        "found": found,
        **{f"references: {outcome}": n for outcome, n in receipt["references"].items()},
    }
    for name, count in counted.items():
        assert not count or f"{name}: {count}\n" in said


def comparable(receipt: dict[str, Any]) -> dict[str, Any]:
    """But for the time; what has no order, in one."""
    del receipt["made"]
    receipt["files"].sort(key=itemgetter("name"))
    receipt["discrepancies"].sort(
        key=lambda found: (found["file"], found["ordinal"], found["code"])
    )
    return receipt


@pytest.fixture
def parted(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder before and after whose one file refers to a file elsewhere: the third path."""
    files = [
        ArchiveFile("a", [Rec(), Rec(uri="http://example.org/2", body=OTHER)]),
        ArchiveFile("b", [Rec(uri="http://b/", date=DATES[1]), Rec(uri="http://c/", body=b"c")]),
    ]
    paths = write_set(tmp_path / "all", files)
    assert refs(paths, plan(paths), tmp_path / "rewritten").records == 1
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, of in ((before, paths[1]), (after, tmp_path / "rewritten" / paths[1].name)):
        folder.mkdir()
        shutil.copy(of, folder)
    return before, after, paths[0]


def test_originals_may_be_in_files_that_are_not_compared(
    parted: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after, originals = str(parted[0]), str(parted[1]), str(parted[2].parent)
    assert main(["validate", "--json", *INLINE, before, after]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "dangling"
    job = ("validate", *INLINE, before, after, "--originals", originals)
    assert main([*job]) == 0
    assert capsys.readouterr().out == ""


def run_on(before: Path, after: Path, originals: OriginalsFile) -> tuple[int, list[PinakesError]]:
    """How many discrepancies, and what is wrong with files."""
    name = "b.warc.gz"
    pair = FilePair(name=name, before=f"{before}/{name}", after=f"{after}/{name}")
    lines = [format_pair(pair), format_pair(originals)]
    out = io.BytesIO()
    configuration = load_configuration(None, environment={}, folder=before)
    report = run_job(JobRequest(job=ValidateJob, names=lines), "inline", configuration, out)
    return len(out.getvalue().splitlines()), report.findings


@pytest.mark.parametrize(("at", "found"), [(0, 0), (1, 1)])
def test_some_places_of_such_a_file_are_enough(
    at: int, found: int, parted: tuple[Path, Path, Path]
) -> None:
    before, after, originals = parted
    record = records_of(originals)[at]
    places = [(record.offset, record.inner_offset)]
    some = OriginalsFile(name=str(originals), at=places)
    assert run_on(before, after, some) == (found, [])


def test_originals_that_are_not_there_are_named(parted: tuple[Path, Path, Path]) -> None:
    before, after, originals = parted
    missing = OriginalsFile(name=f"{originals}-missing")
    found, [problem] = run_on(before, after, missing)
    assert (found, problem.file) == (1, missing.name)


@pytest.mark.parametrize("lost", ["", "-missing"])
def test_of_some_places_that_cannot_be_read_the_references_tell(
    lost: str, parted: tuple[Path, Path, Path]
) -> None:
    before, after, originals = parted
    places = [(1, 0), *((record.offset, record.inner_offset) for record in records_of(originals))]
    some = OriginalsFile(name=f"{originals}{lost}", at=places)
    assert run_on(before, after, some) == (bool(lost), [])


def test_unreadable_files_give_no_receipt(parted: tuple[Path, Path, Path]) -> None:
    before, after, originals = parted
    results: list[Validation] = []
    configuration = load_configuration(None, environment={}, folder=before)
    for lost, known in (("", 1), ("-lost", 1)):
        name = "b.warc.gz"
        pair = FilePair(name=name, before=f"{before}/{name}", after=f"{after}/{name}{lost}")
        lines = [format_pair(pair), format_pair(OriginalsFile(name=str(originals)))]
        what = Receipted(
            request=JobRequest(job=ValidateJob, names=lines), folders=[str(before), str(after)]
        )
        out = io.BytesIO()
        report = run_validation(what, "inline", configuration, out, on_result=results.append)
        said = [problem.file for problem in report.findings]
        assert said == ([pair.after, None] if lost else [])
        assert len(results) == known
    assert results[0].files[0]["before"]["name"] == "b.warc.gz"


def test_two_folders_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *INLINE, str(tmp_path)]) == 2
    assert main(["validate", *INLINE, str(tmp_path), str(tmp_path)]) == 2
    assert "no pair of archive files" in capsys.readouterr().err
