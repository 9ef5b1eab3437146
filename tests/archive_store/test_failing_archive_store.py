"""Publishing that fails at any call, and is done again, ends as if it had not failed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_contract import ArchiveStoreContract
from failing_archive_store import FailingArchiveStore

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, ArchiveStore, StoredFile
from pinakes.errors import StoreUnavailable


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
        failing = FailingArchiveStore(store, fail_at, applied=applied)
        if fail_at:
            with pytest.raises(StoreUnavailable, match=f"call {fail_at} fails"):
                land(failing)
        else:
            land(failing)
            assert failing.calls == calls
        assert list(store.list(ASIDE)) == []
        land(store)
        assert list(store.list()) == [StoredFile("c/new", 7), StoredFile("superseded/old", 3)]


class TestFailingStoreThatDoesNotFail(ArchiveStoreContract):
    @pytest.fixture
    def open_aside(self) -> Callable[[str], LocalArchiveStore]:
        return lambda place: LocalArchiveStore(Path(place))

    @pytest.fixture
    def store(self, tmp_path: Path) -> FailingArchiveStore:
        return FailingArchiveStore(LocalArchiveStore(tmp_path), 0)
