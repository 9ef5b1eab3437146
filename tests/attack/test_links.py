"""Equal files of a store were made links to one another, as programs that save space do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from archive_builders import gzip_file, plain_file

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

ARCHIVE = Path("s/archive")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PINAKES_STORE", "s")
    monkeypatch.setenv("PINAKES_MIN_FILE_SAVING", "0")
    assert main(["init", "-q"]) == Exit.DONE


def land(crawl: str, name: str, content: bytes, collection: str = "default") -> Path:
    Path(name).write_bytes(content)
    call = ["ingest", "-q", name, "--crawl", crawl, "--collection", collection]
    assert main(call) == Exit.DONE
    return ARCHIVE / crawl / name


def link(name: Path, to: Path) -> None:
    assert name.read_bytes() == to.read_bytes()
    name.unlink()
    name.symlink_to(os.path.relpath(to, name.parent))


def test_the_current_generation_leads_to_an_old_one(capsys: pytest.CaptureFixture[str]) -> None:
    land("one", "a.warc.gz", gzip_file())
    for words in (["decompress", "--plain"], ["compress"], ["decompress", "--plain"]):
        assert main(["-q", "zstd", words[0], "one", *words[1:]]) == Exit.DONE
    old, current = sorted(ARCHIVE.rglob("a.warc"))
    link(current, old)
    assert main(["fsck", "--full"]) == Exit.FOUND
    assert "a link to one/g2" in capsys.readouterr().out
    call = ["dedupe", "--all", "--drop-old", "--grace", "0"]
    assert main(call) == Exit.SOME_FAILED
    assert current.read_bytes() == plain_file()


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_file_of_another_crawl_leads_to_one_that_goes(
    way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = land("one", "a.warc.gz", gzip_file())
    stays = land("two", "a.warc.gz", gzip_file(), "other")
    if way == "file":
        link(stays, gone)
    else:
        stays.parent.rename("two")
        stays.parent.symlink_to("one")
    assert main(["crawl", "cancel", "one"]) == Exit.SOME_FAILED
    assert "is a link to it, and would lead nowhere" in capsys.readouterr().err
    assert stays.read_bytes() == gzip_file()
    assert main(["crawl", "cancel", "two"]) == Exit.SOME_FAILED
    assert gone.read_bytes() == gzip_file()


def test_a_file_on_another_disk_is_read_and_taken_out() -> None:
    name = land("one", "a.warc.gz", gzip_file())
    elsewhere = Path("elsewhere.warc.gz")
    name.rename(elsewhere)
    name.symlink_to(elsewhere.absolute())
    assert main(["fsck", "--full"]) == Exit.DONE
    assert main(["cat", "one/a.warc.gz:0"]) == Exit.DONE
    assert main(["crawl", "cancel", "one"]) == Exit.DONE
    assert not name.is_symlink()
    assert elsewhere.read_bytes() == gzip_file()
