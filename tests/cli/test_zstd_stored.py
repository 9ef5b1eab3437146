"""`pinakes zstd compress` and `decompress` of crawls: what is said, exit codes, names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from archive_builders import dictionary, dictionary_of_noise, gzip_file, plain_file
from killing import tree
from steps_here import INLINE, steps_here

from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.config import load_configuration
from pinakes.profile import open_stores

ARCHIVE = Path("pinakes-store/archive")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PINAKES_STORE", "pinakes-store")
    # Files this small do not shrink, by a dictionary least of all.
    monkeypatch.setenv("PINAKES_MIN_FILE_SAVING", "0")
    Path("a.warc.gz").write_bytes(gzip_file())
    Path("b.warc").write_bytes(plain_file())
    Path("known").write_bytes(dictionary())
    assert main(["init", "-q"]) == Exit.DONE
    for crawl, file in (("spring", "a.warc.gz"), ("summer", "b.warc")):
        assert main(["ingest", "-q", file, "--crawl", crawl, "--collection", "news"]) == Exit.DONE
    return tmp_path


def keep(content: bytes) -> str:
    with open_stores(load_configuration()) as stores:
        return keep_dictionary(stores.archive, "news", content, token="kept").name


def stored() -> list[str]:
    found = (path for path in ARCHIVE.rglob("*.warc*") if not path.name.endswith(".parquet"))
    return sorted(str(path.relative_to(ARCHIVE)) for path in found)


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_crawl_there_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zstd", "compress", "spring", "--level", "3"]) == Exit.DONE
    shown = capsys.readouterr()
    size = (ARCHIVE / "spring/g2-gz/a.warc.zst").stat().st_size
    before = len(gzip_file())
    assert shown.out == (
        "spring/a.warc.gz -> spring/g2-gz/a.warc.zst: written, 1 metadata, 1 response, 1 warcinfo; "
        f"{before:,} -> {size:,} bytes ({size / before:.1%}); "
        f"verified, {len(plain_file())} bytes\n"
    )
    assert "news: to Zstandard, without a dictionary" in shown.err
    assert f"1 file written; {before:,} -> {size:,} bytes" in shown.err
    assert "until `pinakes generations --drop`" in shown.err
    assert main(["zstd", "decompress", "spring"]) == Exit.DONE
    assert "news: to gzip\n" in capsys.readouterr().err
    assert main(["zstd", "decompress", "spring"]) == Exit.DONE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert (
        "0 files written; 1 in this compression already, left (--again rewrites them)" in shown.err
    )
    assert stored() == [
        "spring/a.warc.gz", "spring/g2-gz/a.warc.zst", "spring/g3/a.warc.gz", "summer/b.warc"
    ]  # fmt: skip
    assert main(["cat", "spring/a.warc.gz:0"]) == Exit.DONE
    assert main(["fsck", "--full"]) == Exit.DONE


@pytest.mark.parametrize(
    ("words", "least", "said"),
    [
        ([], None, "1%"),
        (INLINE, None, "1%"),
        (["--plan"], "0.125", "12.5%"),
        (["--dry-run"], "1%", "1%"),
        ([], "0.99999", "100%"),
    ],
    ids=["here", "by tasks", "plan", "dry run", "all left"],
)
def test_a_file_that_would_not_shrink_is_left(
    words: list[str],
    least: str | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the dictionary that each file holds; a larger file of the same kind shrinks."""
    monkeypatch.delenv("PINAKES_MIN_FILE_SAVING")
    Path("large.warc").write_bytes(plain_file() * 1000)
    assert main(["ingest", "-q", "large.warc", "--crawl", "autumn", "--collection", "news"]) == 0
    keep(dictionary_of_noise())
    before = stored()
    capsys.readouterr()
    options = [] if least is None else ["--min-file-saving", least]
    with steps_here():
        assert main(["zstd", "compress", "news", *words, *options, "--json"]) == Exit.DONE
    shown = capsys.readouterr()
    outcomes = {
        str(line["file"]): line["outcome"] for line in map(json.loads, shown.out.splitlines())
    }
    left = [name for name, outcome in outcomes.items() if outcome == "saves too little"]
    of_all = sorted(before)
    is_none = said == "100%"
    assert sorted(left) == (of_all if is_none else [n for n in of_all if "large" not in n])
    assert f"{len(left)} files unchanged: would save less than {said}" in shown.err
    new = (
        []
        if is_none or "--plan" in words or "--dry-run" in words
        else ["autumn/g2-plain/large.warc.zst"]
    )
    assert stored() == sorted([*before, *new])
    assert main(["fsck", "--full", "-q"]) == Exit.DONE


def test_a_collection_with_the_dictionary_that_it_keeps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = keep(dictionary(2))
    assert main(["zstd", "compress", "news", "--json"]) == Exit.DONE
    one, other = told(capsys)
    assert (one["target"], other["target"]) == (
        "spring/g2-gz/a.warc.zst", "summer/g2-plain/b.warc.zst"
    )  # fmt: skip
    assert {one["dictionary"], other["dictionary"]} == {name}
    assert {one["collection"], other["collection"]} == {"news"}
    assert main(["zstd", "compress", "news", "--json", "--dictionary", "known"]) == Exit.DONE
    assert [one["outcome"] for one in told(capsys)] == ["left", "left"]
    again = ["zstd", "compress", "news", "--again", "--dictionary", "known"]
    assert main([*again, "--plan", "--json"]) == Exit.DONE
    assert [one["outcome"] for one in told(capsys)] == ["planned", "planned"]
    assert main([*again, "--json"]) == Exit.DONE
    one, other = told(capsys)
    assert (one["target"], other["target"]) == (
        "spring/g3-gz/a.warc.zst", "summer/g3-plain/b.warc.zst"
    )  # fmt: skip
    assert main(again) == Exit.DONE
    shown = capsys.readouterr()
    assert shown.out.count(": unchanged, ") == 2
    assert "0 files written; 2 that would be as they are, left\n" in shown.err
    assert main(["zstd", "decompress", "summer", "--plain"]) == Exit.DONE
    assert (ARCHIVE / "summer/g4/b.warc").read_bytes() == plain_file()
    assert main(["zstd", "compress", "summer", "--dictionary", "known", "-j", "2"]) == Exit.DONE
    assert "with the dictionary given" in capsys.readouterr().err


def test_by_a_job(capsys: pytest.CaptureFixture[str]) -> None:
    keep(dictionary(1))
    shutil.copytree("pinakes-store", "other")
    capsys.readouterr()
    words = ["zstd", "compress", "news", "--level", "19", "-v"]
    with steps_here():
        assert main([*words, *INLINE]) == Exit.DONE
    by_job = capsys.readouterr()
    assert main([*words, "--store", "other"]) == Exit.DONE
    here = capsys.readouterr()
    assert sorted(by_job.out.splitlines()) == sorted(here.out.splitlines())
    assert len(by_job.out.splitlines()) == 2
    assert by_job.err.splitlines()[-2:] == here.err.splitlines()[-2:]
    assert tree(ARCHIVE) == tree(Path("other/archive"))
    assert main(["fsck", "--full"]) == Exit.DONE


def test_what_a_job_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("-j", "--plan", "--dry-run", "--stored"):
        words = [word, "2"] if word == "-j" else [word]
        assert main(["zstd", "compress", "news", *INLINE, *words]) == Exit.WRONG_CALL
        assert f"--runner does not support {word}" in capsys.readouterr().err
    assert main(["zstd", "compress", "news", "--runner", "hadoop"]) == Exit.WRONG_CALL
    assert "--runner hadoop is for profile = cluster" in capsys.readouterr().err
    assert stored() == ["spring/a.warc.gz", "summer/b.warc"]


@pytest.mark.parametrize("only", ["--plan", "--dry-run"])
def test_what_it_would_save(capsys: pytest.CaptureFixture[str], only: str) -> None:
    before = stored()
    keep(dictionary(1))
    assert main(["zstd", "compress", "news", only]) == Exit.DONE
    shown = capsys.readouterr()
    assert "spring/a.warc.gz -> spring/g2-gz/a.warc.zst: planned, 1 metadata" in shown.out
    assert "the dictionary that it keeps, +news/0001-" in shown.err
    assert "2 files to write; " in shown.err
    assert "the new ones would take" in shown.err
    assert stored() == before


def test_what_stays_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    path = ARCHIVE / "spring/a.warc.gz"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert main(["zstd", "compress", "news"]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert "spring/a.warc.gz: is not what was stored" in shown.err
    assert "summer/b.warc -> summer/g2-plain/b.warc.zst: written" in shown.out
    assert "1 that stay or have findings, named above" in shown.err


def test_a_name_that_no_other_ending_fits_behind(capsys: pytest.CaptureFixture[str]) -> None:
    """It stays as it is, and every other act on its crawl ends as it should."""
    name = "n" * 231 + ".warc.gz"
    Path(name).write_bytes(gzip_file())
    assert main(["ingest", "-q", name, "--crawl", "autumn", "--collection", "news"]) == Exit.DONE
    assert main(["zstd", "compress", "autumn"]) == Exit.SOME_FAILED
    assert "names longer than 255 bytes" in capsys.readouterr().err
    assert main(["withdraw", "http://example.org/1", "--reason", "x"]) == Exit.DONE
    assert f"autumn/g2/{name}" in stored()
    assert main(["dedupe", "--all", "--collection", "news", "--drop-old", "--grace", "0"]) == 0
    assert main(["fsck", "--full"]) == Exit.DONE
    assert main(["crawl", "purge", "autumn"]) == Exit.DONE
    assert [file for file in stored() if file.startswith("autumn")] == []


def test_files_and_crawls_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zstd", "compress", "a.warc.gz", "spring", "-o", "out"]) == Exit.SOME_FAILED
    assert "spring" in capsys.readouterr().err
    assert main(["zstd", "compress", "spring", "a.warc.gz"]) == Exit.WRONG_CALL
    assert "a.warc.gz: no crawl or collection of this name; for files give -o DIR" in (
        capsys.readouterr().err
    )
    assert stored() == ["spring/a.warc.gz", "summer/b.warc"]
    assert main(["zstd", "compress", "a.warc.gz", "--store", "none"]) == Exit.WRONG_CALL
    assert "a.warc.gz: for files give -o DIR; there is no store" in capsys.readouterr().err


def test_a_crawl_and_a_collection_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Verbs that read, and those that write, take a name for the same."""
    assert main(["ingest", "-q", "a.warc.gz", "--crawl", "news", "--collection", "other"]) == 0
    for verb in (["ls"], ["zstd", "compress", "--json"]):
        assert main([*verb, "news"]) == Exit.WRONG_CALL
        assert "give news/ for the crawl, or +news for the coll" in capsys.readouterr().err
    assert stored() == ["news/a.warc.gz", "spring/a.warc.gz", "summer/b.warc"]
    assert main(["zstd", "compress", "--json", "news/", "+news"]) == Exit.DONE
    assert [one["file"] for one in told(capsys)] == [
        "spring/a.warc.gz", "summer/b.warc", "news/a.warc.gz"
    ]  # fmt: skip
