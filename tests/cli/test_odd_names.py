"""Names of files that are long, hold control characters, lead nowhere, or are no archive's."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from warc_sets import Rec, member

from pinakes.cli import main

CRAWL = b"".join(
    member(Rec(uri="http://example.org/", date=f"2020-01-0{day}T00:00:00Z").raw(day))
    for day in (1, 2)
)
LONGEST = "n" * 247 + ".warc.gz"


def chain(folder: Path, paths: list[Path]) -> int:
    """Manifest to `refs` and back; files in `folder`/after and `folder`/again."""
    manifest, decided = str(folder / "m"), str(folder / "d")
    names = list(map(str, paths))
    assert main(["-q", "manifest", *names, "-o", manifest]) == 0
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) == 0
    after = str(folder / "after")
    code = main(["refs", *names, "--manifest", decided, "-o", after, "--min-saving", "none"])
    written = sorted(map(str, (folder / "after").iterdir()))
    assert main(["restore", *written, "-o", str(folder / "again")]) == 0
    return code


@pytest.mark.parametrize("name", [LONGEST, "a\n\x1b[31mb.warc.gz", "\udcff.warc.gz"])
def test_the_chain_takes_any_name(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(CRAWL)
    assert chain(tmp_path, [path]) == 0
    assert gzip.decompress((tmp_path / "again" / name).read_bytes()) == gzip.decompress(CRAWL)
    said = capfd.readouterr().out.splitlines()
    assert len(said) == 2  # of `refs` and of `restore`, however the name is spelled
    assert all("\x1b" not in line for line in said)


def test_a_link_to_itself_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loop, manifest = tmp_path / "loop.warc.gz", tmp_path / "m"
    loop.symlink_to(loop.name)
    manifest.touch()
    assert main(["refs", str(loop), "--manifest", str(manifest), "-o", str(tmp_path / "o")]) == 3
    assert main(["restore", str(loop), "-o", str(tmp_path / "r"), "--dir", str(tmp_path)]) == 3
    assert capfd.readouterr().err.count("Too many levels of symbolic links") >= 2


def test_what_a_folder_holds_besides_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "crawl", ("--store", str(tmp_path / "store"))
    folder.mkdir()
    for name in ("A.WARC.GZ", ".hidden.warc.gz", "b.warc.gz.1", "c.log", "noext", "z.zip"):
        (folder / name).write_bytes(CRAWL)
    (folder / "link").symlink_to(tmp_path)
    assert main(["manifest", str(folder), "-o", str(tmp_path / "m")]) == 0
    assert "5 files skipped (not named as archive files" in capfd.readouterr().err
    assert main(["-q", "init", *store]) == 0
    ingest = ["ingest", *store, "--crawl", "c", str(folder)]
    assert main([*ingest, "--dry-run"]) == 3
    planned = capfd.readouterr()
    assert planned.out.splitlines() == [f"{folder}/A.WARC.GZ -> c/A.WARC.GZ"]
    assert "c/.hidden.warc.gz: not a relative path of plain names" in planned.err
    assert main(ingest) == 3
    landed = capfd.readouterr()
    assert len(landed.out.splitlines()) == 1
    assert "link, " in landed.err
    assert "b.warc.gz.1, " in landed.err


def test_a_plan_names_every_path_as_the_run_does(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of a folder and paths: what it lands, in order; what it refuses, in the same words."""
    folder, store = tmp_path / "crawl", ("--store", str(tmp_path / "store"))
    for name in ("a.warc.gz", "g2/b.warc.gz", f"{'n' * 231}.warc.gz", f"{'n' * 240}.warc.gz"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CRAWL)
    (folder / "h.warc").touch()
    (folder / "i.wacz").write_bytes(b"no package")
    (folder / "z.warc.gz").write_bytes(CRAWL)
    assert main(["-q", "init", *store]) == 0
    ingest = ["-q", "ingest", *store, "--crawl", "c", str(tmp_path / "none.warc"), str(folder)]
    assert main([*ingest, "--dry-run"]) == 3
    planned = capfd.readouterr()
    assert main(ingest) == 3
    done = capfd.readouterr()
    landed = [line.partition(": landed")[0] for line in done.out.splitlines()]
    assert [line.partition(" -> ")[2] for line in planned.out.splitlines()] == landed
    assert landed == ["c/a.warc.gz", f"c/{'n' * 231}.warc.gz", "c/z.warc.gz"]
    refused = sorted(done.err.splitlines())
    assert sorted(planned.err.splitlines()) == refused
    assert len(refused) == 5


def test_a_name_that_would_be_too_long_is_named_and_the_rest_is_done(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain %d\n"
    head = b"1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
    names = ["a.arc", "n" * 251 + ".arc", "z.arc"]
    for name in names:
        (tmp_path / name).write_bytes(line % len(head) + head + b"\n")
    paths = [str(tmp_path / name) for name in names]
    assert main(["convert", *paths, "-o", str(tmp_path / "o")]) == 3
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == ["a.warc", "z.warc"]
    assert "too long" in capfd.readouterr().err


@pytest.mark.parametrize("words", [("ls",), ("cdx",), ("validate", "--refs")], ids=" ".join)
def test_what_a_wacz_file_has_by_its_format_is_not_called_skipped(
    words: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.wacz"
    usual = ("datapackage.json", "datapackage-digest.json", "pages/pages.jsonl", "logs/a.log")
    with zipfile.ZipFile(path, "w") as package:
        for name in (*usual, "indexes/index.cdxj", "note.txt"):
            package.writestr(name, "{}")
        package.writestr("archive/a.warc.gz", CRAWL)
    assert main([*words, str(path)]) == 0
    skipped = [line for line in capfd.readouterr().err.splitlines() if "skipped" in line]
    why = "not named as archive files, or behind links to folders"
    assert skipped == [f"1 file skipped ({why}): a.wacz/note.txt"]
