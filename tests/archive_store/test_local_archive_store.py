"""A folder: both contracts, and what is the file system's own."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from archive_contract import (
    FILES,
    ArchiveReaderContract,
    ArchiveStoreContract,
    process_is_root,
    put_file,
)
from failing_store import failing_archive

from pinakes.archive_store.local import files as local_files
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, ArchiveStore, PublishedFile
from pinakes.errors import InputRefused, StoreUnavailable
from pinakes.warc.source import Source


@pytest.fixture
def store(tmp_path: Path) -> LocalArchiveStore:
    return LocalArchiveStore(tmp_path / "archive")


@pytest.fixture
def open_aside() -> Callable[[str], LocalArchiveStore]:
    return lambda place: LocalArchiveStore(Path(place))


class TestLocalReader(ArchiveReaderContract):
    @pytest.fixture
    def reader(self, tmp_path: Path) -> LocalArchiveStore:
        for name, content in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return LocalArchiveStore(tmp_path)


class TestLocalStore(ArchiveStoreContract):
    pass


class TestLocalStoreWithoutHardLinks(ArchiveStoreContract):
    """Some file systems have none; the look before the rename is then not atomic."""

    @pytest.fixture(autouse=True)
    def _no_links(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")

        monkeypatch.setattr(os, "link", refuse)

    test_of_many_that_publish_one_name_one_does = None  # type: ignore[assignment]


def test_non_utf_8_name_is_listed_unchanged(store: LocalArchiveStore) -> None:
    name = os.fsdecode(b"crawl/\xff.warc.gz")
    put_file(store, name, b"x")
    assert [file.name for file in store.list("crawl")] == [name]


def test_change_while_reading_is_noticed(store: LocalArchiveStore) -> None:
    put_file(store, "a", b"x" * 100)
    with store.open("a") as file:
        source = Source(file, name="a")
        source.check_unchanged()
        with store.path_of("a").open("ab") as other:
            other.write(b"more")
        with pytest.raises(InputRefused, match="changed while it was read"):
            source.check_unchanged()


def test_pipe_is_not_opened(store: LocalArchiveStore) -> None:
    store.folder.mkdir()
    os.mkfifo(store.folder / "pipe")
    with pytest.raises(InputRefused, match="not a regular file"):
        store.open("pipe")
    assert store.size("pipe") is None
    assert list(store.list()) == []


def test_publication_interrupted_after_link_keeps_the_file(
    store: LocalArchiveStore,
) -> None:
    # Killed between link and unlink: the published file has a second name in .landing.
    put_file(store, "a", b"published")
    os.link(store.folder / "a", store.folder / ASIDE / "t")
    with store.create_aside("t") as aside:
        aside.file.write(b"again")
        assert store.size("a") == len(b"published")
        with pytest.raises(InputRefused, match="exists already"):
            aside.publish("a")
    with store.open("a") as file:
        assert file.read() == b"published"


def test_rename_interrupted_after_link_is_completed(store: LocalArchiveStore) -> None:
    put_file(store, "a", b"x")
    os.link(store.folder / "a", store.folder / "b")
    store.rename("a", "b")
    assert [file.name for file in store.list()] == ["b"]


def test_file_is_synced_before_it_gets_its_name(
    store: LocalArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records the calls; the order is what a power loss would test."""
    calls: list[str] = []
    real_sync, real_link = os.fsync, os.link

    def sync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        calls.append(f"sync {path.relative_to(store.folder.parent)}")
        real_sync(descriptor)

    def link(old: Path, new: Path, **options: bool) -> None:
        calls.append(f"link {Path(new).relative_to(store.folder.parent)}")
        real_link(old, new, **options)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "link", link)
    put_file(store, "c/d/a", b"x")
    assert calls[-6:] == [
        "sync archive/.landing/t",  # for the checksum
        "sync archive/.landing/t",
        "sync archive",  # holds c
        "sync archive/c",  # holds d
        "link archive/c/d/a",
        "sync archive/c/d",
    ]
    assert calls[:-6] == ["sync .", "sync archive"]  # hold archive, .landing


def test_unreadable_folder_is_an_error(
    store: LocalArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(store, "c/a", b"x")
    real = os.scandir

    def scandir(path: Path) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "c":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path)  # type: ignore[return-value]

    with monkeypatch.context() as patched:  # pytest itself lists folders afterwards
        patched.setattr(local_files.os, "scandir", scandir)
        with pytest.raises(StoreUnavailable, match="Permission denied"):
            list(store.list())


def test_file_in_place_of_the_store_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = LocalArchiveStore(tmp_path / "file" / "archive")
    with pytest.raises((InputRefused, StoreUnavailable)), store.create_aside("t"):
        pass


WRITE = """
import resource, sys
from pathlib import Path
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.errors import StoreUnavailable
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
store = LocalArchiveStore(Path(sys.argv[1]))
try:
    with store.create_aside("t") as aside:
        for _ in range(100):
            aside.file.write(b"x" * 100_000)
        aside.publish("a")
except StoreUnavailable as error:
    print(error)
"""


def write_ten_megabytes(folder: Path, limit_bytes: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITE, str(folder), str(limit_bytes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_file_size_limit_publishes_nothing(store: LocalArchiveStore) -> None:
    assert "the disk is full" in write_ten_megabytes(store.folder, 1_000_000)
    assert list(store.list()) == list(store.list(ASIDE)) == []
    assert write_ten_megabytes(store.folder) == ""
    assert store.size("a") == 10_000_000


@pytest.mark.slow
def test_full_disk_publishes_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if not process_is_root() or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root may mount a small disk; a file that may not grow was tried")
    try:
        store = LocalArchiveStore(disk / "archive")
        put_file(store, "first", b"x")
        assert "the disk is full" in write_ten_megabytes(store.folder)
        assert [file.name for file in store.list()] == ["first"]
        assert list(store.list(ASIDE)) == []
        put_file(store, "small", b"x" * 100_000)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_killed_while_writing(store: LocalArchiveStore) -> None:
    code = WRITE.replace("for _ in range(100)", "print('go', flush=True)\n        while True")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(store.folder), "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"go\n"
        writer.kill()
    assert list(store.list()) == []
    assert [file.name for file in store.list(ASIDE)] == [f"{ASIDE}/t"]
    put_file(store, "a", b"again", token="t")
    assert list(store.list(ASIDE)) == []
    shutil.rmtree(store.folder)


# --- Publishing that fails at any call, and is done again, ends as if it had not failed


def land(store: ArchiveStore) -> None:
    """Write a file, compare, publish, and clear away what it replaces: landing, in small."""
    with store.create_aside("t") as aside:
        aside.file.write(b"content")
        wanted = hashlib.sha256(b"content").hexdigest()
        assert aside.checksum() == wanted
        if store.size("c/new") is None:
            aside.publish("c/new")
    assert store.checksum("c/new") == wanted
    if store.size("c/old") is not None:
        store.rename("c/old", "superseded/old")


@pytest.mark.parametrize("applied", [False, True], ids=["not done", "done, answer lost"])
def test_failing_at_every_call(tmp_path: Path, applied: bool) -> None:
    calls = 7
    for fail_at in range(calls + 1):
        store = LocalArchiveStore(tmp_path / f"{fail_at}")
        with store.create_aside("t") as aside:
            aside.file.write(b"old")
            aside.publish("c/old")
        failing = failing_archive(store, fail_at, applied=applied)
        if fail_at:
            with pytest.raises(StoreUnavailable, match=f"call {fail_at} fails"):
                land(failing)
        else:
            land(failing)
            assert failing.calls == calls
        assert list(store.list(ASIDE)) == []
        land(store)
        assert list(store.list()) == [PublishedFile("c/new", 7), PublishedFile("superseded/old", 3)]


class TestFailingStoreThatDoesNotFail(ArchiveStoreContract):
    @pytest.fixture
    def open_aside(self) -> Callable[[str], LocalArchiveStore]:
        return lambda place: LocalArchiveStore(Path(place))

    @pytest.fixture
    def store(self, tmp_path: Path) -> Any:
        return failing_archive(LocalArchiveStore(tmp_path), 0)


def test_the_working_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = LocalArchiveStore(Path("archive"))
    put_file(store, "c/a", b"1")
    monkeypatch.chdir("/")
    assert [*store.list()] == [PublishedFile("c/a", 1)]
