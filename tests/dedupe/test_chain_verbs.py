"""`pinakes resolve`, `process` and `split`: from a manifest to decisions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from warc_sets import DECLARED, OTHER, PAGE, ArchiveFile, Rec, write_set

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.index.manifest import ManifestLine, parse_lines, place_of

RECORDS = [
    Rec(uri="http://example.org/1"),
    Rec(uri="http://example.org/2", date="2020-01-02T00:00:00Z"),
    Rec(uri="http://example.org/3", date="2020-01-03T00:00:00Z", body=OTHER),
    Rec(uri="http://example.org/4", date="2020-01-04T00:00:00Z", status=404),
    Rec(uri="http://example.org/5", date="2020-01-05T00:00:00Z", body=b""),
    Rec(uri="http://example.org/100%", date="2020-01-06T00:00:00Z"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two archive files and their manifest, in the working directory."""
    monkeypatch.chdir(tmp_path)
    later = [replace(rec, uri=rec.uri + "b", date=f"2021{rec.date[4:]}") for rec in RECORDS]
    write_set(Path(), [ArchiveFile("a", RECORDS), ArchiveFile("b", later, "plain")])
    for algorithm in ("sha1", "sha256"):
        name = f"{algorithm}.manifest"
        arguments = ["a.warc.gz", "b.warc", "--digest", algorithm, "-o", name]
        assert main(["manifest", *arguments]) == Exit.DONE
    return tmp_path


def lines_of(name: str) -> list[ManifestLine]:
    with Path(name).open(encoding="utf-8", errors="surrogateescape", newline="\n") as texts:
        return list(parse_lines(texts))


def references(name: str) -> dict[str, str | None]:
    return {line.target_uri[19:]: line.original_uri for line in lines_of(name) if not line.skip}


EXPECTED = {
    "1": None, "2": "http://example.org/1", "3": None, "4": None, "100%": "http://example.org/1",
    "1b": "http://example.org/1", "2b": "http://example.org/1", "3b": "http://example.org/3",
    "4b": "http://example.org/4", "100%b": "http://example.org/1",
}  # fmt: skip


def test_resolve_then_process_is_resolve_with_process(folder: Path) -> None:
    assert main(["resolve", "sha1.manifest", "-o", "resolved"]) == Exit.DONE
    assert main(["process", "resolved", "-o", "processed"]) == Exit.DONE
    assert main(["resolve", "sha1.manifest", "-o", "both", "--process"]) == Exit.DONE
    assert Path("processed").read_bytes() == Path("both").read_bytes()
    assert references("processed") == EXPECTED
    done = lines_of("processed")
    assert [place_of(line) for line in done] == sorted(map(place_of, done))
    assert {line.skip for line in done} == {None, "empty"}


def test_trusted_digests_decide_the_same_and_read_nothing(folder: Path) -> None:
    Path("a.warc.gz").unlink()
    arguments = ["resolve", "sha256.manifest", "--compare", "none", "--process", "-o", "processed"]
    assert main([*arguments, "--stats", "stats"]) == Exit.DONE
    assert references("processed") == EXPECTED
    stats = json.loads(Path("stats").read_text())
    assert stats["records"] == len(EXPECTED)
    # Digests are not counted, for nothing is sorted.
    assert [stats[name] for name in ("clusters", "contents", "duplicates")] == [None] * 3
    assert stats["process"]["duplicates"] == sum(uri is not None for uri in EXPECTED.values())


def test_weak_digests_are_not_trusted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["resolve", "sha1.manifest", "--compare", "none", "-o", "resolved"]
    assert main(arguments) == Exit.WRONG_CALL
    assert "--digest sha256" in capsys.readouterr().err
    assert not Path("resolved").exists()


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_target_of_revisit_without_reference_stays_full(
    algorithm: str, declared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the manifest's algorithm, and what the declared digest is over."""
    monkeypatch.chdir(tmp_path)
    first = Rec(declared=declared, framing=True)
    target = replace(first, uri="http://example.org/2", date="2021-01-01T00:00:00Z")
    naming = replace(target, type="revisit", date="2022-01-01T00:00:00Z")
    write_set(Path(), [ArchiveFile("a", [first, target, naming])])
    assert main(["manifest", "a.warc.gz", "--digest", algorithm, "-o", "m"]) == Exit.DONE
    assert main(["resolve", "m", "-o", "resolved"]) == Exit.DONE
    assert main(["process", "resolved", "-o", "processed"]) == Exit.DONE
    assert [line.full for line in lines_of("processed")] == [None, "pinned", None]


def test_statistics(folder: Path) -> None:
    arguments = ["resolve", "sha1.manifest", "--process", "-o", "p", "--stats", "stats.json"]
    assert main(arguments) == Exit.DONE
    stats = json.loads(Path("stats.json").read_text())
    process = stats.pop("process")
    assert stats == {
        "records": 10, "clusters": 2, "contents": 2, "duplicates": 8,
        "compared_bytes": 7 * len(PAGE) + len(OTHER), "believed": 0, "skipped": {"empty": 2},
        "second_digests_unread": 0,
        "collisions": [], "unreadable": [], "compare": "bytes",
    }  # fmt: skip
    assert (process["originals"], process["duplicates"]) == (3, 7)
    assert process["skipped"] == {"empty": 2}


def test_standard_output_holds_only_the_manifest(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["resolve", "sha1.manifest", "--process"]) == Exit.DONE
    shown = capfdbinary.readouterr()
    assert len(list(parse_lines(shown.out.decode().splitlines()))) == 12
    assert b"10 records, 2 digests, 2 contents" in shown.err
    assert b"3 records stay full, 7 duplicates" in shown.err


def test_json_lines(folder: Path) -> None:
    assert main(["resolve", "sha1.manifest", "-o", "resolved", "--json"]) == Exit.DONE
    found = [json.loads(text) for text in Path("resolved").read_text().splitlines()]
    assert {line["hash_extension"] for line in found if "skip" not in line} == {0}


def test_a_plain_manifest_is_completed_from_the_records(folder: Path) -> None:
    assert main(["manifest", "--plain", "a.warc.gz", "b.warc", "-o", "plain"]) == Exit.DONE
    assert "=" not in Path("plain").read_text()
    assert main(["resolve", "plain", "--process", "-o", "from-plain"]) == Exit.DONE
    assert main(["resolve", "sha1.manifest", "--process", "-o", "from-ours"]) == Exit.DONE
    assert lines_of("from-plain") == [line for line in lines_of("from-ours") if not line.skip]


def test_foreign_manifest_without_encoding_is_accepted(folder: Path) -> None:
    rows = [
        f"{line.file} {line.offset}  {line.length} {line.target_uri} {line.date} {line.digest}\n"
        for line in lines_of("sha1.manifest")
    ]
    Path("foreign").write_text("".join(rows))
    assert main(["resolve", "foreign", "--process", "-o", "processed"]) == Exit.DONE
    assert references("processed") == EXPECTED


def test_a_foreign_line_without_its_record_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("foreign").write_text("a.warc.gz 1 2 u d sha1:X\nno.warc 0 9 u d sha1:X\n")
    assert main(["resolve", "foreign", "-o", "resolved"]) == Exit.SOME_FAILED
    assert [line.skip for line in lines_of("resolved")] == ["unreadable", "unreadable"]
    shown = capsys.readouterr().err
    assert "a.warc.gz:1: no capture begins here" in shown
    assert "no.warc:0: not found" in shown


def test_files_are_found_under_a_folder_and_by_a_table(folder: Path) -> None:
    Path("elsewhere").mkdir()
    Path("a.warc.gz").rename("elsewhere/a.warc.gz")
    Path("b.warc").rename("elsewhere/renamed")
    Path("table").write_text("b.warc elsewhere/renamed\n")
    arguments = ["resolve", "sha1.manifest", "--process", "-o", "processed"]
    assert main([*arguments, "--dir", "elsewhere"]) == Exit.SOME_FAILED
    assert main([*arguments, "--dir", "elsewhere", "--locations", "table"]) == Exit.DONE
    assert references("processed") == EXPECTED


def test_broken_line_is_named_and_others_are_processed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken").write_text("what is this\n" + Path("sha1.manifest").read_text())
    assert main(["resolve", "broken", "--process", "-o", "processed"]) == Exit.SOME_FAILED
    assert "broken: line 1 is not a manifest line: 'what is this'" in capsys.readouterr().err
    assert references("processed") == EXPECTED


def test_refs_names_a_broken_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken").write_text("what is this\n")
    assert main(["refs", "a.warc.gz", "--manifest", "broken", "-o", "out"]) == Exit.SOME_FAILED
    assert "broken: line 1 is not a manifest line: 'what is this'" in capsys.readouterr().err
    assert not Path("out").exists()


def test_refs_names_an_undecided_manifest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refs", "a.warc.gz", "--manifest", "sha1.manifest", "-o", "out"]) == Exit.DONE
    assert "sha1.manifest: contains no duplicates" in capsys.readouterr().err


def test_an_unresolved_manifest_is_not_processed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["process", "sha1.manifest", "-o", "processed"]) == Exit.WRONG_CALL
    assert "run `pinakes resolve`" in capsys.readouterr().err
    assert not Path("processed").exists()
    assert [name for name in os.listdir() if name.startswith(".")] == []


def test_missing_manifest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["process", "no"]) == Exit.SOME_FAILED
    assert "no: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("parts", [1, 3])
def test_processing_parts_equals_processing_the_whole(folder: Path, parts: int) -> None:
    assert main(["split", "sha1.manifest", "-n", str(parts), "-o", "parts"]) == Exit.DONE
    names = sorted(os.listdir("parts"))
    assert names == [f"part-{number:03d}" for number in range(parts)]
    found: dict[str, str | None] = {}
    for name in names:
        assert main(["resolve", f"parts/{name}", "--process", "-o", f"done-{name}"]) == Exit.DONE
        found |= references(f"done-{name}")
    assert found == EXPECTED


def test_split_without_writing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["split", "sha1.manifest", "-n", "2", "-o", "parts", "--dry-run", "--json"]
    assert main(arguments) == Exit.DONE
    shown = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert sum(part["lines"] for part in shown) == 12
    assert not Path("parts").exists()


@pytest.mark.parametrize("count", ["0", "-1", "100000"])
def test_an_odd_number_of_parts(folder: Path, count: str) -> None:
    assert main(["split", "sha1.manifest", "-n", count, "-o", "parts"]) == Exit.WRONG_CALL


def test_collisions_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    folder = shared_data / "collisions"
    contents = [(folder / f"sha1-{number}.pdf").read_bytes() for number in (1, 2, 1, 2)]
    records = [
        Rec(uri=f"http://example.org/{number}", date=f"202{number}-01-01T00:00:00Z", body=content)
        for number, content in enumerate(contents)
    ]
    write_set(Path(), [ArchiveFile("a", records)])
    assert main(["manifest", "a.warc.gz", "-o", "m"]) == Exit.DONE
    assert len({line.digest for line in lines_of("m")}) == 1
    assert main(["resolve", "m", "--process", "-o", "p", "--stats", "s"]) == Exit.DONE
    assert "collision: sha1:" in capsys.readouterr().err
    assert references("p") == {
        "0": None, "1": None, "2": "http://example.org/0", "3": "http://example.org/1",
    }  # fmt: skip
    (collision,) = json.loads(Path("s").read_text())["collisions"]
    assert [c["target_uri"] for c in collision["captures"]] == [rec.uri for rec in records[:2]]


def test_png2_of_warcdedupe_stays_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    # One URI twice in one second: warcdedupe makes the second a revisit of its own address.
    monkeypatch.chdir(tmp_path)
    (file,) = (shared_data / "archives" / "tari_warcdedupe").rglob("png2.warc")
    assert main(["manifest", str(file), "-o", "m"]) == Exit.DONE
    assert main(["resolve", "m", "--process", "-o", "p"]) == Exit.DONE
    assert [line.full for line in lines_of("p") if line.type is None] == [
        None,
        "ambiguous-reference",
    ]
