"""An original rots after it was decided on: no revisit relies on it, and its place is named."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import pytest
from rotten import dangling_in, flipped, whole_contents
from steps_here import INLINE
from warc_sets import (
    OTHER,
    ArchiveFile,
    Rec,
    inflated,
    manifest_of,
    plan,
    refer,
    refs,
    write_manifest,
    write_set,
)

from pinakes.cli import main
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.copy.reference_check import check_set
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.files_run import FilesRequest, FilesRun
from pinakes.dedupe.write import proofs
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.errors import PinakesError
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.index.manifest import ManifestLine

BODY = random.Random(48).randbytes(300).hex().encode()
# Larger than what is read of a member for its head.
MEDIUM = random.Random(50).randbytes(6000)
LARGE = random.Random(49).randbytes(9 << 20)
LAYOUTS = ("gzip", "shared", "split", "frames", "dictionary", "one frame", "plain")
SEVEN = 7
REASONS = {"original-unreadable", "body-differs", "original-unaddressable"}


class Decided(NamedTuple):
    """Two files: an original, and two records that are to refer to it."""

    paths: list[Path]
    lines: list[ManifestLine]
    original: ManifestLine


def decided(folder: Path, layout: str, body: bytes = BODY) -> Decided:
    files = [
        ArchiveFile("a", [Rec(body=body), Rec(uri="http://example.org/b", body=OTHER)], layout),
        ArchiveFile(
            "b",
            [
                Rec(uri=f"http://example.org/{n}", date=f"202{n}-01-01T00:00:00Z", body=body)
                for n in (1, 2)
            ],
            layout,
        ),
    ]
    paths = write_set(folder / "before", files)
    lines = plan(paths)
    assert [line.is_duplicate for line in lines] == [False, False, True, True]
    return Decided(paths, lines, lines[0])


def places(decision: Decided, step: int) -> range:
    """Bytes of the original's record, or of the members that it shares."""
    line = decision.original
    end = line.offset + (line.length or 0)
    return range(line.offset, min(end, decision.paths[0].stat().st_size), step)


def require_nothing_lost(before: list[Path], after: list[Path], body: bytes) -> None:
    assert any(body in content for content in whole_contents(before))
    assert any(body in content for content in whole_contents(after))
    assert dangling_in(whole_contents(after)) == set()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_bit_of_an_original_costs_a_body(layout: str, tmp_path: Path) -> None:
    decision = decided(tmp_path, layout)
    [rotting, other], sound = decision.paths, decision.paths[0].read_bytes()
    after = [tmp_path / "after" / path.name for path in decision.paths]
    kept = written = 0
    for at in places(decision, SEVEN):
        rotting.write_bytes(flipped(sound, at))
        for path in after:
            path.unlink(missing_ok=True)
        count = refs(decision.paths, decision.lines, tmp_path / "after")
        require_nothing_lost(decision.paths, after, BODY)
        assert after[0].read_bytes() == rotting.read_bytes()
        if count.records:
            written += 1
            assert count.records == 2
            continue
        kept += 1
        assert after[1].read_bytes() == other.read_bytes()
        assert set(count.left_full) < REASONS
        if "original-unaddressable" not in count.left_full:
            [problem] = count.problems
            assert (problem.file, problem.offset) == (str(rotting), decision.original.offset)
    # Some bits cost no body: a time in a member's header, the head of a record in a plain file.
    assert kept > written
    rotting.write_bytes(sound)
    assert refs(decision.paths, decision.lines, tmp_path / "sound").records == 2


@pytest.mark.parametrize("where", ["set", "further"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_reference_to_a_rotten_original_resolves(
    layout: str, where: str, tmp_path: Path
) -> None:
    decision = decided(tmp_path, layout)
    assert refs(decision.paths, decision.lines, tmp_path / "after").records == 2
    rotting, referring = (tmp_path / "after" / path.name for path in decision.paths)
    sound = rotting.read_bytes()
    paths = [str(rotting), str(referring)]
    places_of = {"set": (paths, []), "further": (paths[1:], paths[:1])}

    def outcomes() -> list[str]:
        given, further = places_of[where]
        return [one.outcome for one in check_set(given, further=further, on_refused=str)]

    assert outcomes() == ["resolves", "resolves"]
    found = Counter[str]()
    for at in places(decision, SEVEN):
        rotting.write_bytes(flipped(sound, at))
        contents = whole_contents([rotting, referring])
        is_there = any(BODY in one for one in contents) and not dangling_in(contents)
        for outcome in outcomes():
            assert is_there or outcome != "resolves", at
            found[outcome] += 1
    assert found["damaged"] > sum(found.values()) / 3


@pytest.mark.parametrize("layout", ["gzip", "frames"])
def test_no_bit_is_passed_over_where_members_are_read_in_pieces(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "_IN_MEMORY_BYTES", 100)
    test_no_bit_of_an_original_costs_a_body(layout, tmp_path)


@pytest.mark.parametrize("layout", ["gzip", "frames", "plain"])
def test_a_large_original_is_read_to_its_end(layout: str, tmp_path: Path) -> None:
    decision = decided(tmp_path, layout, LARGE)
    rotting, length = decision.paths[0], decision.original.length or 0
    sound = rotting.read_bytes()
    rotting.write_bytes(flipped(sound, decision.original.offset + int(length * 0.9)))
    count = refs(decision.paths, decision.lines, tmp_path / "after")
    assert (count.records, sum(count.left_full.values()), len(count.problems)) == (0, 2, 1)
    rotting.write_bytes(sound)
    assert refs(decision.paths, decision.lines, tmp_path / "sound").records == 2


@pytest.mark.parametrize("layout", ["gzip", "shared", "frames", "plain"])
def test_a_rotten_duplicate_stays_as_it_is_and_is_named(layout: str, tmp_path: Path) -> None:
    decision = decided(tmp_path, layout)
    rotting, line = decision.paths[1], decision.lines[2]
    sound = rotting.read_bytes()
    end = min(line.offset + (line.length or 0), len(sound))
    for at in range(line.offset, end, 5 * SEVEN):
        rotting.write_bytes(flipped(sound, at))
        count = refs(decision.paths, decision.lines, tmp_path / f"after-{at}")
        after = tmp_path / f"after-{at}" / rotting.name
        if count.left_full:
            assert count.problems, count.left_full
        gone = [raw for raw in whole_contents([rotting]) if BODY in raw]
        assert count.records <= len(gone) * 2
        if not count.records:
            assert after.read_bytes() == rotting.read_bytes()


def test_an_original_is_read_once_however_many_refer_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [
        Rec(uri=f"http://example.org/{n}", date=f"2020-01-{n:02}T00:00:00Z", body=BODY)
        for n in range(1, 20)
    ]
    [path] = write_set(tmp_path, [ArchiveFile("a", records)])
    first, *others = manifest_of([path])
    read = []
    read_original = OriginalReader._read_original

    def watch(self: OriginalReader, *place: object) -> object:
        read.append(place)
        return read_original(self, *place)  # type: ignore[arg-type]

    monkeypatch.setattr(OriginalReader, "_read_original", watch)
    for is_rotten in (False, True):
        if is_rotten:
            path.write_bytes(flipped(path.read_bytes(), first.offset + (first.length or 0) // 2))
        read.clear()
        with ArchiveFiles() as files:
            reader = OriginalReader(files)
            found = [_outcome(reader, refer(line, first)) for line in others]
        assert len(read) == 1
        assert set(found) == {"original-unreadable" if is_rotten else "found"}


def _outcome(reader: OriginalReader, line: ManifestLine) -> str:
    try:
        reader.find(line)
    except Exception as reason:  # noqa: BLE001
        return str(reason)
    return "found"


@pytest.mark.parametrize("layout", ["gzip", "frames", "plain"])
@pytest.mark.parametrize("compare", ["bytes", "sha256", "none"])
def test_files_that_rot_between_deciding_and_writing(
    compare: str, layout: str, tmp_path: Path
) -> None:
    decision = decided(tmp_path, layout)
    rotting, line = decision.paths[0], decision.original
    problems: list[PinakesError] = []
    request = FilesRequest(
        names=[str(path) for path in decision.paths],
        compare=compare != "none",
        trust=Trust(sample=0.0, seed="") if compare == "sha256" else None,
        min_saving_bytes=None,
        now=datetime(2026, 1, 1, tzinfo=timezone.utc),
        space=DEFAULT_SPACE,
    )
    with FilesRun(request, problems.append) as run:
        run.decide()
        assert problems == []
        at = line.offset + (line.length or 0) - 40
        rotting.write_bytes(flipped(rotting.read_bytes(), at))
        done = list(run.write(tmp_path / "after"))
    assert [one.refs.records for one in done] == [0, 0]
    assert sum(done[1].refs.left_full.values()) == 2
    [problem] = problems
    assert (problem.file, problem.offset) == (str(rotting), line.offset)
    require_nothing_lost(
        decision.paths, [tmp_path / "after" / path.name for path in decision.paths], BODY
    )


@pytest.mark.parametrize("layout", ["gzip", "frames", "plain"])
@pytest.mark.parametrize("how", ["-o", "--in-place", "job"])
def test_refs_says_so(
    how: str, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decision = decided(tmp_path, layout, MEDIUM)
    rotting, line = decision.paths[0], decision.original
    manifest = write_manifest(tmp_path / "decided", decision.lines)
    at = line.offset + (line.length or 0) - 40
    rotting.write_bytes(flipped(rotting.read_bytes(), at))
    before = [path.read_bytes() for path in decision.paths]
    names = [str(path) for path in decision.paths]
    words = {
        "-o": [*names, "-o", str(tmp_path / "after")],
        "--in-place": [*names, "--in-place"],
        "job": [*INLINE, "-o", str(tmp_path / "after")],
    }
    assert main(["refs", "--manifest", str(manifest), *words[how], "--min-saving", "none"]) == 3
    assert f"{rotting}:{line.offset}: " in capsys.readouterr().err
    assert [path.read_bytes() for path in decision.paths] == before
    if how != "--in-place":
        assert inflated(tmp_path / "after" / decision.paths[1].name) == inflated(decision.paths[1])


@pytest.mark.parametrize("layout", ["gzip", "frames", "plain"])
def test_validate_says_so(layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decision = decided(tmp_path, layout, MEDIUM)
    refs(decision.paths, decision.lines, tmp_path / "after")
    rotting, referring = (tmp_path / "after" / path.name for path in decision.paths)
    line = decision.original
    rotting.write_bytes(flipped(rotting.read_bytes(), line.offset + (line.length or 0) - 40))
    assert main(["validate", "--refs", str(tmp_path / "after")]) == 1
    said = capsys.readouterr()
    for number in (0, 1):
        assert f"{referring}: record {number}: damaged: the original is damaged" in said.out
    assert "references: 2 damaged" in said.err


def test_bits_that_isal_passes_over_are_seen(tmp_path: Path) -> None:
    """Reserved flags of a member's header (RFC 1952 §2.3.1.2): zlib refuses the member."""
    decision = decided(tmp_path, "gzip")
    rotten = bytearray(decision.paths[0].read_bytes())
    rotten[decision.original.offset + 3] ^= 0x20
    decision.paths[0].write_bytes(rotten)
    count = refs(decision.paths, decision.lines, tmp_path / "after")
    assert (count.records, count.left_full) == (0, {"original-unreadable": 2})


def test_bits_that_isal_passes_over_are_seen_in_references(tmp_path: Path) -> None:
    decision = decided(tmp_path, "gzip")
    refs(decision.paths, decision.lines, tmp_path / "after")
    rotting, referring = (tmp_path / "after" / path.name for path in decision.paths)
    rotten = bytearray(rotting.read_bytes())
    rotten[decision.original.offset + 3] ^= 0x20
    rotting.write_bytes(rotten)
    found = check_set([str(rotting), str(referring)], on_refused=str)
    assert [one.outcome for one in found] == ["damaged", "damaged"]
