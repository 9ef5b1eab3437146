"""The job decides as `pinakes process` does."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from manifest_sets import (
    BODIES,
    POLICIES,
    SECONDS,
    URIS,
    Bodies,
    collections,
    good_digest,
    processed,
    resolved,
    weak_digest,
)
from steps_here import INLINE, LOCAL, by_mrjob, steps_here

from bench.skew import lines as bench_lines
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.policy import scope_of
from pinakes.dedupe.decide.process import process_lines
from pinakes.index.manifest import ManifestLine, format_line, parse_line, place_of
from pinakes.mr_jobs import flag_duplicates
from pinakes.mr_jobs.driver.running import JobRequest, run_job
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob

Collection = tuple[list[ManifestLine], Bodies]
Decide = Callable[..., list[ManifestLine]]
CONFIGURATION = load_configuration(None, environment={}, folder=Path("/"))


def some_of_each(digest_of: Callable[[bytes], str] = weak_digest) -> Collection:
    """For mrjob's own runner: copies, clashes, revisits of both kinds, what takes no part, and what
    is behind another in its member."""
    bodies = [BODIES[number % len(BODIES)] for number in range(18)]
    lines = [
        ManifestLine(
            file="abc"[number % 3],
            offset=100 * number,
            length=90,
            target_uri=URIS[number % len(URIS)],
            date=SECONDS[number * 5 % len(SECONDS)],
            digest=digest_of(body),
            size=len(body),
            status=200,
            record_id=f"urn:{number}",
            inner_offset=700 if number in (5, 10) else 0,
        )
        for number, body in enumerate(bodies)
    ]
    revisit = lines[15]._replace(type="revisit", size=None, digest=lines[7].digest)
    lines[15] = revisit._replace(refers_id=lines[7].record_id)
    lines[16] = revisit._replace(
        offset=1600, refers_uri=lines[11].target_uri, refers_date=lines[11].date
    )
    lines[17] = lines[17]._replace(skip="truncated")
    return lines, Bodies(dict(zip(map(place_of, lines), bodies, strict=True)))


def some_under_policies() -> Collection:
    lines, bodies = some_of_each()
    marked = (
        line._replace(marks=POLICIES[number % len(POLICIES)]) if line.type is None else line
        for number, line in enumerate(lines)
    )
    return list(marked), bodies


def decided_by_job(lines: list[ManifestLine], *options: str, tasks: int = 4) -> list[ManifestLine]:
    with tempfile.TemporaryDirectory() as folder, by_mrjob(tasks=tasks):
        given, out = write_lines(Path(folder, "given"), lines), Path(folder, "out")
        job = ["-q", "process", *INLINE, str(given), "-o", str(out)]
        asked = [f"--options={' '.join(options)}"] if options else []
        assert main([*job, *asked]) == 0
        return [parse_line(text) for text in out.read_text().splitlines()]


def decided_here(lines: list[ManifestLine], *options: str, tasks: int = 4) -> list[ManifestLine]:
    """The same, for a third of the time."""
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, steps_here(tasks=tasks):
        given = write_lines(Path(folder, "given"), lines)
        request = JobRequest(job=FlagDuplicatesJob, names=[str(given)], options=options)
        assert run_job(request, "inline", CONFIGURATION, out).findings == []
    return [parse_line(text) for text in out.getvalue().decode().splitlines()]


def write_lines(path: Path, lines: list[ManifestLine]) -> Path:
    path.write_text("".join(format_line(line) + "\n" for line in lines))
    return path


@example(some_of_each(), False, decided_by_job)
@example(some_of_each(), True, decided_by_job)
@given(collections(), st.booleans(), st.just(decided_here))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_job_decides_as_process_does(collection: Collection, twice: bool, decide: Decide) -> None:
    lines = resolved(*collection)
    if not lines:
        return
    if twice:  # earlier decisions are dropped
        lines = processed(lines)
    assert sorted(decide(lines), key=format_line) == sorted(processed(lines), key=format_line)


@example(some_of_each(), 2, 2, 6, decided_by_job)
@given(
    collections(),
    st.sampled_from((1, 2, 4, 12)),
    st.sampled_from((1, 2, 100)),
    st.sampled_from((2, 6)),
    st.just(decided_here),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_content_that_is_divided_is_decided_as_a_whole(
    collection: Collection,
    content_lines: int,
    shard_lines: int,
    tasks: int,
    decide: Decide,
) -> None:
    lines = resolved(*collection)
    if not lines:
        return
    options = ("--content-lines", str(content_lines), "--shard-lines", str(shard_lines))
    decided = decide(lines, *options, tasks=tasks)
    assert sorted(decided, key=format_line) == sorted(processed(lines), key=format_line)


def decided_in_two(
    lines: list[ManifestLine], *options: str, tasks: int = 4, decide: Decide = decided_here
) -> list[ManifestLine]:
    """As the driver of a run does it where policies have scopes."""
    once = decide(lines, *options, tasks=tasks)
    scopes = sorted({scope for line in lines if (scope := scope_of(line.marks))})
    if not scopes:
        return once
    return decide(once, *options, "--scopes", "+".join(scopes), tasks=tasks)


@example(some_under_policies(), 2, 2, 6, decided_by_job)
@given(
    collections(policies=True),
    st.sampled_from((1, 2, 4, 12)),
    st.sampled_from((1, 2, 100)),
    st.sampled_from((2, 6)),
    st.just(decided_here),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_scopes_are_decided_in_another_run(
    collection: Collection, content_lines: int, shard_lines: int, tasks: int, decide: Decide
) -> None:
    lines = resolved(*collection)
    if not lines:
        return
    options = ("--content-lines", str(content_lines), "--shard-lines", str(shard_lines))
    decided = decided_in_two(lines, *options, tasks=tasks, decide=decide)
    assert sorted(decided, key=format_line) == sorted(processed(lines), key=format_line)


def test_one_content_with_a_third_of_all_captures(tmp_path: Path) -> None:
    """Small, what `bench.skew` is large: several tasks set aside, and copies count up."""
    folder, out, done = (tmp_path / name for name in ("given", "out", "done"))
    folder.write_text("".join(bench_lines(1200, None)))
    options = "--content-lines 60 --shard-lines 40 -D mapreduce.job.reduces=6"
    with by_mrjob(tasks=6):
        job = ["process", *INLINE, str(folder), "-o", str(out), f"--options={options}"]
        assert main(job) == 0
    assert main(["process", str(folder), "-o", str(done)]) == 0
    assert sorted(out.read_text().splitlines()) == sorted(done.read_text().splitlines())
    copies = [parse_line(text).copy_number for text in out.read_text().splitlines()]
    assert sorted(copy for copy in copies if copy != 1) == list(range(2, 401))


@example(some_of_each(good_digest), decided_by_job)
@given(collections(collisions=False), st.just(decided_here))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
def test_resources_take_part_where_they_are_asked_to(
    collection: Collection, decide: Decide
) -> None:
    lines = [
        line._replace(type="resource", ctype="text/html") if line.type is None else line
        for line in resolved(*collection)
    ]
    if not lines:
        return
    wanted = process_lines(lines, count=ProcessCount(), resources=True)
    decided = decide(lines, "--resources")
    assert sorted(decided, key=format_line) == sorted(wanted, key=format_line)


@pytest.mark.parametrize("content_lines", [1, 100])
def test_duplicates_alone_are_those_of_the_whole(content_lines: int) -> None:
    line = ManifestLine("f", 0, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", 0, size=3)
    lines = [
        line._replace(offset=n, target_uri=f"http://a.example/{n}", record_id=f"urn:{n}")
        for n in range(5)
    ]
    lines.append(line._replace(offset=9, skip="type"))
    options = f"--content-lines {content_lines} --shard-lines 2"
    found = decided_by_job(lines, options)
    assert len(found) == 6
    assert sorted(decided_by_job(lines, options, "--duplicates-only"), key=place_of) == sorted(
        (line for line in found if line.is_duplicate), key=place_of
    )


def test_more_ids_than_a_map_remembers_pin_their_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flag_duplicates, "_KNOWN_IDS", 2)
    line = ManifestLine("f", 0, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", 0, size=3)
    lines = [
        line._replace(offset=n, target_uri=f"http://a.example/{n}", record_id=f"urn:{n}")
        for n in range(7)
    ]
    revisit = line._replace(type="revisit", target_uri="http://b.example/", hash_extension=None)
    lines += [revisit._replace(offset=10 + n, refers_id=f"urn:{n}") for n in range(1, 6)]
    decided = sorted(decided_here(lines, tasks=1), key=place_of)
    assert [found.copy_number for found in decided[:7]] == [1, 1, 1, 1, 1, 1, 2]
    assert decided == sorted(processed(lines), key=place_of)


def test_an_unresolved_line_is_refused(tmp_path: Path) -> None:
    line = ManifestLine("f", 1, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", size=3)
    manifest = tmp_path / "manifest"
    manifest.write_text(format_line(line) + "\n")
    assert main(["process", *INLINE, str(manifest)]) == 2


def test_a_failure_in_several_processes_is_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ManifestLine("f", 1, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", size=3)
    manifest = tmp_path / "manifest"
    manifest.write_text("".join(f"{format_line(line._replace(offset=n))}\n" for n in range(4)))
    options = "--options=--num-cores 3"
    assert main(["-q", "process", str(manifest), *LOCAL, options]) == 4
    said = capfd.readouterr().err
    assert said.count("pinakes: error: ") == 1
    # The end of one task's log is quoted, and nothing printed of those that watch tasks.
    assert said.count("Traceback") <= 1
    assert "Terminated" not in said
    assert "this line has no hash extension" in said
