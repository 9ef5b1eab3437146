"""Files become those that `pinakes zstd compress` and `decompress` make, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from arc_builders import arc_gz, arc_record
from archive_builders import HTTP, dictionary, frame, gzip_file, skippable, three, warc, zstd_file
from jobs_and_verbs import require_same
from killing import dies, tree
from steps_here import INLINE, run_by, steps_here
from zstandard import ZstdCompressionDict

from pinakes.application.recompressing import without_clashes
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.config import load_configuration
from pinakes.errors import ConfigError, DigestMismatch
from pinakes.mr_jobs.driver.running import JobRequest
from pinakes.mr_jobs.form_options import DICTIONARY, form_options
from pinakes.mr_jobs.recompress import RecompressJob
from pinakes.mr_jobs.writing_job import run_writing_job
from pinakes.recompression.forms import in_zstd
from pinakes.rewrite.recompress import zstd_form

CONTENT = b"".join(three())
FILES = {
    "a.warc.gz": gzip_file(),
    "é %41.warc": CONTENT + b"junk",
    "one-member.warc.gz": gzip.compress(CONTENT),
    "bzip2.warc.bz2": bz2.compress(CONTENT),
    "known.warc.zst": zstd_file(compressed=True),
    "left-out.warc.zst": b"".join(frame(record) + skippable(b"x") for record in three()),
    "cut-off.warc": CONTENT[:-20],
    "large.warc.gz": gzip.compress(warc(HTTP + bytes(5 << 20) + b"end", number=7)),
    "x.arc.gz": arc_gz(arc_record()),
    "damaged.warc.gz": gzip_file()[:-30],
    "checksum.warc.zst": zstd_file()[:-1] + bytes([zstd_file()[-1] ^ 1]),
    "unbounded.warc": warc(HTTP + b"hello", length="none") + CONTENT,
    "words.warc": b"some words\n",
}
REFUSED = ("damaged.", "checksum.", "words.", "missing.")
REFUSED_IN_MEMBERS = ("unbounded.",)
NAMES = [f"in/{name}" for name in (*FILES, "missing.warc")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Names are relative to it; tasks work elsewhere."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name, data in FILES.items():
        Path("in", name).write_bytes(data)
    Path("known").write_bytes(dictionary())
    return tmp_path


@pytest.mark.parametrize(
    ("call", "runner"),
    [
        ("compress --level 1", "here"),
        ("compress --dictionary known", "inline"),
        ("compress --dictionary in/known.warc.zst --level 19", "local in turn"),
        ("decompress", "here"),
        ("decompress --plain", "here"),
    ],
)
def test_files_and_lines_are_those_of_the_verb(
    call: str, runner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    to = Path("é out")
    refused = REFUSED if "--plain" in call else REFUSED + REFUSED_IN_MEMBERS
    # -v: every warning is compared, not the first three that either meets.
    words = ["zstd", *call.split(), *NAMES, "-o", f"{to}/", "--json", "-v"]
    with run_by(runner) as as_asked:
        files, lines, warnings = require_same(words, [*words, *as_asked], to, capsys)
    assert len(files) == len(lines) == len(NAMES) - len(refused)
    for name in refused:
        assert sum(f"in/{name}" in text for text in warnings) == 1


def lines_of(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The outcome of each file."""
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["file"]: line["outcome"] for line in said}


def test_an_equal_file_is_left_and_another_one_never_replaced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["zstd", "compress", "in/a.warc.gz", "in/x.arc.gz", "-o", "z", *INLINE]
    with steps_here():
        assert main([*words, "--json"]) == Exit.DONE
        wanted, before = tree(Path("z")), Path("z/a.warc.zst").stat()
        Path("z/x.arc.zst").unlink()
        capsys.readouterr()
        assert main([*words, "--json"]) == Exit.DONE
        assert lines_of(capsys) == {"in/a.warc.gz": "unchanged", "in/x.arc.gz": "written"}
        after = Path("z/a.warc.zst").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert tree(Path("z")) == wanted
        assert main([*words, "--level", "1", "--dictionary", "known"]) == Exit.SOME_FAILED
        err = capsys.readouterr().err
        for name in ("a.warc.zst", "x.arc.zst"):
            assert f"z/{name}: exists already with other content" in err
        assert tree(Path("z")) == wanted


def test_people_are_told_as_by_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["zstd", "decompress", "in/known.warc.zst", "-o"]
    assert main([*words, "verb"]) == Exit.DONE
    text = capsys.readouterr().out.replace("verb", "job")
    with steps_here():
        assert main([*words, "job", *INLINE]) == Exit.DONE
    said = capsys.readouterr()
    assert said.out == text
    assert f"bytes before: {len(FILES['known.warc.zst']):,}\n" in said.err


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["in/a.warc.gz", "other/a.warc"], "in/a.warc.gz and other/a.warc"),
        (["in/a.warc.gz", "in/a.warc.gz"], "in/a.warc.gz and in/a.warc.gz"),
    ],
    ids=["clash", "twice"],
)
def test_inputs_with_one_target_name_are_refused_before_a_task_begins(
    names: Sequence[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other").mkdir()
    Path("other/a.warc").write_bytes(CONTENT)
    assert main(["zstd", "compress", *names, "-o", "z", *INLINE]) == Exit.WRONG_CALL
    assert f"nothing was written: {why}" in capsys.readouterr().err
    assert not Path("z").exists()


def test_a_folder_may_be_that_of_the_output_also_when_it_is_done_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there already is compared, and not taken for an input of the same name."""
    Path("both").mkdir()
    for name in ("a.warc.gz", "x.arc.gz"):
        shutil.copy(f"in/{name}", "both")
    with steps_here():
        for folder in ("both", f"{(here / 'both').as_uri()}/"):
            words = ["zstd", "compress", folder, "-o", str(here / "both"), "--json", *INLINE]
            assert main(words) == Exit.DONE
        outcomes = [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()]
        assert outcomes == ["written"] * 2 + ["unchanged"] * 2


@pytest.mark.parametrize("folder", ["hdfs://there/d", "hdfs://there/d/"])
def test_so_may_one_in_hdfs(folder: str) -> None:
    names = ["hdfs://there/d/a.warc.zst", "hdfs://there/d/a.warc.gz"]
    assert without_clashes(names, Path(folder), zstd_form(9)) == names[1:]
    for other in (Path("hdfs://elsewhere/d"), None):
        with pytest.raises(ConfigError, match="two inputs"):
            without_clashes(names, other, zstd_form(9))


def test_folders_stand_for_the_archive_files_in_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("empty", "some"):
        (here / name).mkdir()
    Path("some/note.txt").write_text("no archive file")
    for name in ("a.warc.gz", "bzip2.warc.bz2"):
        shutil.copy(f"in/{name}", "some")
    with steps_here():
        for number, folder in enumerate(("some", f"{(here / 'some').as_uri()}/")):
            to = f"z{number}"
            assert main(["zstd", "compress", folder, "-o", to, *INLINE]) == Exit.DONE
            assert sorted(tree(Path(to))) == ["a.warc.zst", "bzip2.warc.zst"]
            assert "1 file skipped" in capsys.readouterr().err
        assert tree(Path("z0")) == tree(Path("z1"))
        words = ["zstd", "compress", "empty", "some", "-o", "z2", *INLINE]
        assert main(words) == Exit.SOME_FAILED
        assert "empty: no archive files in it" in capsys.readouterr().err
        assert tree(Path("z2")) == tree(Path("z0"))
        assert main(["zstd", "compress", "empty", "-o", "z3", *INLINE]) == Exit.SOME_FAILED
        folder = f"{(here / 'empty').as_uri()}/"
        assert main(["zstd", "compress", folder, "-o", "z3", *INLINE]) == Exit.WRONG_CALL
        assert f"{folder}: no archive files in this folder" in capsys.readouterr().err


def test_files_of_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "-q"]) == Exit.DONE
    assert main(["ingest", "-q", "in/a.warc.gz", "--crawl", "spring"]) == Exit.DONE
    assert main(["zstd", "compress", "in/a.warc.gz", "-o", "z"]) == Exit.DONE
    with steps_here():
        words = ["zstd", "compress", "spring/a.warc.gz", "-o", "stored", "--stored", *INLINE]
        assert main(words) == Exit.DONE
    assert tree(Path("stored")) == tree(Path("z"))
    assert "spring/a.warc.gz -> stored/a.warc.zst: written" in capsys.readouterr().out


def test_by_hand_paths_begin_in_the_folder_where_it_is_called() -> None:
    """And not in that of a task."""
    Path("list").write_text("in/a.warc.gz\n")
    words = [sys.executable, "-m", "pinakes.mr_jobs.recompress", "-r", "local", "--to", "z", "list"]
    refused = subprocess.run(words, capture_output=True, check=False)
    assert refused.returncode == Exit.WRONG_CALL
    assert b"give --output-dir" in refused.stderr
    subprocess.run([*words, "--output-dir", "done"], check=True)
    [part] = Path("done").glob("part-*")
    assert [json.loads(line)["outcome"] for line in part.read_text().splitlines()] == ["written"]
    [written] = Path("done/_written").glob("*/*")
    assert main(["zstd", "compress", "in/a.warc.gz", "-o", "z"]) == Exit.DONE
    assert written.read_bytes() == Path("z/a.warc.zst").read_bytes()


@pytest.mark.parametrize(
    ("named", "sent"),
    [(dictionary(), dictionary(2)), (dictionary(), None), (None, dictionary())],
    ids=["another", "none", "one-that-was-not-named"],
)
def test_a_task_takes_no_other_dictionary_than_that_of_the_job(
    named: bytes | None, sent: bytes | None
) -> None:
    request = JobRequest(
        job=RecompressJob,
        names=["in/a.warc.gz"],
        options=form_options(in_zstd(9, ZstdCompressionDict(named) if named else None)),
        files={} if sent is None else {DICTIONARY: sent},
    )
    configuration = load_configuration(None)
    with steps_here(), pytest.raises(DigestMismatch, match="the dictionary of this job"):
        run_writing_job(request, "z", "inline", configuration, BytesIO())
    assert not list(Path("z").glob("*.zst"))


@pytest.mark.slow
def test_killed_at_any_step_nothing_half_written_is_seen(here: Path) -> None:
    """Driver and tasks die at once; the same call goes on, and leaves nothing else behind."""
    to = here / "z"
    words = ["zstd", "compress", "in/a.warc.gz", "-o", str(to), *INLINE]
    with steps_here(tasks=1):
        assert main(words) == Exit.DONE
        wanted = tree(to)
        seen, step, killed = set(), 0, True
        while killed:
            shutil.rmtree(to)
            killed = dies(words, to, step)
            visible = {path.name: path.read_bytes() for path in to.glob("*.zst")}
            assert visible.items() <= wanted.items()
            seen.add(len(visible))
            assert main(words) == Exit.DONE
            assert tree(to) == wanted
            step += 1
    assert seen == {0, 1}
