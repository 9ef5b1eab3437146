"""Equal files of a store were made links to one another, as programs that save space do."""

from __future__ import annotations

import errno
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


def test_crawls_on_another_disk_lead_to_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    """Their folders are links, as is allowed; there, equal files were made links."""
    for crawl in ("one", "two"):
        land(crawl, "a.warc.gz", gzip_file(), crawl)
        os.makedirs("disk", exist_ok=True)
        (ARCHIVE / crawl).rename(f"disk/{crawl}")
        (ARCHIVE / crawl).symlink_to(Path("disk", crawl).absolute())
    assert main(["fsck", "--full"]) == Exit.DONE
    link(Path("disk/two/a.warc.gz"), Path("disk/one/a.warc.gz"))
    assert main(["fsck", "--full"]) == Exit.FOUND
    assert "two/a.warc.gz: checksum: a link to one/a.warc.gz" in capsys.readouterr().out
    assert main(["crawl", "cancel", "one"]) == Exit.SOME_FAILED
    assert main(["cat", "two/a.warc.gz:0"]) == Exit.SOME_FAILED
    assert Path("disk/two/a.warc.gz").read_bytes() == gzip_file()


@pytest.mark.parametrize("gone", ["one", "two"])
def test_two_crawls_are_one_folder_elsewhere(gone: str, capsys: pytest.CaptureFixture[str]) -> None:
    land("one", "a.warc.gz", gzip_file(), "one")
    land("two", "a.warc.gz", gzip_file(), "two")
    (ARCHIVE / "one").rename("disk")
    for path in (ARCHIVE / "two").iterdir():
        path.unlink()
    (ARCHIVE / "two").rmdir()
    for crawl in ("one", "two"):
        (ARCHIVE / crawl).symlink_to(Path("disk").absolute())
    assert main(["crawl", "cancel", gone]) == Exit.SOME_FAILED
    assert Path("disk/a.warc.gz").read_bytes() == gzip_file()


WAYS = ("file", "relative", "folder", "archive", "loop")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_on_another_disk_is_backed_up(way: str) -> None:
    name = land("one", "a.warc.gz", gzip_file())
    os.makedirs("disk")
    moved = {"folder": name.parent, "loop": name.parent, "archive": ARCHIVE}.get(way, name)
    place = Path("disk", moved.name)
    moved.rename(place)
    leads_to = os.path.relpath(place, moved.parent) if way == "relative" else place.absolute()
    moved.symlink_to(leads_to)
    if way == "loop":
        (place / "again").symlink_to(place.absolute())
    assert main(["backup", "saved"]) == Exit.DONE
    assert main(["backup", "--verify", "saved"]) == Exit.DONE
    assert main(["restore-backup", "saved", "--store", "new"]) == Exit.DONE
    assert Path("new/archive/one/a.warc.gz").read_bytes() == gzip_file()
    assert main(["fsck", "--full", "--store", "new"]) == Exit.DONE


def test_what_no_listing_shows_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A link to a folder that holds the archive is not entered, or a walk would never end."""
    name = land("one", "a.warc.gz", gzip_file())
    name.parent.rename("outer")
    Path("s").rename("outer/s")
    os.symlink("outer/s", "s")
    Path("outer/s/archive/one").symlink_to(Path("outer").absolute())
    assert main(["backup", "saved"]) == Exit.SOME_FAILED
    assert "one/a.warc.gz: is missing in the archive" in capsys.readouterr().err


@pytest.mark.parametrize(
    "call",
    [
        ["backup", "loop"],
        ["backup", "loop/x"],
        ["restore-backup", "loop", "--store", "n"],
        ["restore-backup", "saved", "--store", "loop"],
        ["zstd", "compress", "loop", "-o", "z"],
        ["zstd", "compress", "a.warc.gz", "-o", "loop"],
    ],
    ids=" ".join,
)
def test_a_link_to_itself_is_named(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    land("one", "a.warc.gz", gzip_file())
    assert main(["backup", "saved"]) == Exit.DONE
    os.symlink("loop", "loop")
    capsys.readouterr()
    assert main(call) in (Exit.WRONG_CALL, Exit.SOME_FAILED)
    assert "loop" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["dangling", "a.warc.gz"])
def test_a_backup_goes_into_a_folder(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    land("one", "a.warc.gz", gzip_file())
    os.symlink("nowhere", "dangling")
    assert main(["backup", place]) == Exit.WRONG_CALL
    assert f"{place}: is no folder" in capsys.readouterr().err
    assert Path("a.warc.gz").read_bytes() == gzip_file()


@pytest.mark.parametrize("place", ["disk/one/saved", "s/archive/one/saved"])
def test_no_backup_goes_into_the_store_by_another_name(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    land("one", "a.warc.gz", gzip_file())
    (ARCHIVE / "one").rename("disk")
    os.makedirs("d")
    Path("disk").rename("d/one")
    Path("d").rename("disk")
    (ARCHIVE / "one").symlink_to(Path("disk/one").absolute())
    assert main(["backup", place]) == Exit.WRONG_CALL
    assert "this is in the store" in capsys.readouterr().err


def test_a_crawl_on_another_disk_is_written_to() -> None:
    """No file system has a file on two disks: a copy gets the name, once it was read back."""
    land("one", "a.warc.gz", gzip_file())
    (ARCHIVE / "one").rename("disk")
    (ARCHIVE / "one").symlink_to(Path("disk").absolute())
    link_here = os.link

    def link(old: os.PathLike[str], new: os.PathLike[str], **how: bool) -> None:
        if (".landing" in str(old)) == ("archive/one" in str(new)):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(new))
        link_here(old, new, **how)

    with pytest.MonkeyPatch.context() as two_disks:
        two_disks.setattr(os, "link", link)
        assert main(["-q", "zstd", "decompress", "one", "--plain"]) == Exit.DONE
        land("one", "b.warc.gz", gzip_file())
    assert main(["fsck", "--full"]) == Exit.DONE
    assert Path("disk/b.warc.gz").read_bytes() == gzip_file()
    [plain] = Path("disk").glob("g2*/a.warc")
    assert plain.read_bytes() == plain_file()
    hidden = [path for path in Path("disk").rglob(".*") if path.is_file()]
    assert hidden == []
