"""The job decides as `pinakes process` does."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manifest_sets import Bodies, collections, processed, resolved
from mrjob.inline import InlineMRJobRunner

from bench.skew import lines as bench_lines
from pinakes.cli import main
from pinakes.dedupe.counting import ProcessCount
from pinakes.dedupe.process import process_lines
from pinakes.index.manifest import ManifestLine, format_line, parse_line, place_of


def decided_by_job(lines: list[ManifestLine], *options: str) -> list[ManifestLine]:
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "given"), Path(folder, "out")
        given.write_text("".join(format_line(line) + "\n" for line in lines))
        job = ["-q", "job", "flag_duplicates", str(given), "-o", str(out)]
        assert main([*job, f"--options={' '.join(options)}"]) == 0
        return [parse_line(text) for text in out.read_text().splitlines()]


@given(collections(), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_it_decides_as_process_does(
    collection: tuple[list[ManifestLine], Bodies], twice: bool
) -> None:
    lines = resolved(*collection)
    if not lines:
        return
    if twice:  # earlier decisions are dropped
        lines = processed(lines)
    assert sorted(decided_by_job(lines), key=format_line) == sorted(
        processed(lines), key=format_line
    )


@given(
    collections(),
    st.sampled_from((1, 2, 4)),
    st.sampled_from((1, 2, 100)),
    st.sampled_from((1, 3)),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_a_content_that_is_divided_is_decided_as_a_whole(
    collection: tuple[list[ManifestLine], Bodies], content_lines: int, shard_lines: int, cores: int
) -> None:
    lines = resolved(*collection)
    if not lines:
        return
    options = f"--content-lines {content_lines} --shard-lines {shard_lines}"
    # With three, mrjob makes up to six tasks of each step, one behind the other.
    with patch.object(InlineMRJobRunner, "_num_cores", return_value=cores):
        decided = decided_by_job(lines, options)
    assert sorted(decided, key=format_line) == sorted(processed(lines), key=format_line)


def test_one_content_with_a_third_of_all_captures(tmp_path: Path) -> None:
    """Small, what `bench.skew` is large: several tasks set aside, and copies count up."""
    folder, out, done = (tmp_path / name for name in ("given", "out", "done"))
    folder.write_text("".join(bench_lines(1200, None)))
    options = "--content-lines 60 --shard-lines 40 -D mapreduce.job.reduces=6"
    with patch.object(InlineMRJobRunner, "_num_cores", return_value=3):
        job = ["job", "flag_duplicates", str(folder), "-o", str(out), f"--options={options}"]
        assert main(job) == 0
    assert main(["process", str(folder), "-o", str(done)]) == 0
    assert sorted(out.read_text().splitlines()) == sorted(done.read_text().splitlines())
    copies = [parse_line(text).copy_number for text in out.read_text().splitlines()]
    assert sorted(copy for copy in copies if copy != 1) == list(range(2, 401))


@given(collections(collisions=False))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
def test_resources_take_part_where_they_are_asked_to(
    collection: tuple[list[ManifestLine], Bodies],
) -> None:
    lines = [
        line._replace(type="resource", ctype="text/html") if line.type is None else line
        for line in resolved(*collection)
    ]
    if not lines:
        return
    wanted = process_lines(lines, count=ProcessCount(), resources=True)
    assert sorted(decided_by_job(lines, "--resources"), key=format_line) == sorted(
        wanted, key=format_line
    )


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
        (line for line in found if (line.copy_number or 0) > 1), key=place_of
    )


def test_an_unresolved_line_is_refused(tmp_path: Path) -> None:
    line = ManifestLine("f", 1, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", size=3)
    manifest = tmp_path / "manifest"
    manifest.write_text(format_line(line) + "\n")
    assert main(["job", "flag_duplicates", str(manifest)]) == 2


def test_a_failure_in_several_processes_is_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ManifestLine("f", 1, 2, "http://a.example/", "2020-01-01T00:00:00Z", "sha1:X", size=3)
    manifest = tmp_path / "manifest"
    manifest.write_text("".join(f"{format_line(line._replace(offset=n))}\n" for n in range(9)))
    options = "--options=--num-cores 3"
    assert main(["-q", "job", "flag_duplicates", str(manifest), "--runner", "local", options]) == 4
    told = capfd.readouterr().err
    assert told.count("pinakes: error: ") == 1
    # The end of one task's log is quoted, and nothing printed of those that watch tasks.
    assert told.count("Traceback") <= 1
    assert "Terminated" not in told
    assert "this line has no hash extension" in told
