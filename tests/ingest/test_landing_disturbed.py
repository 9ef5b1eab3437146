"""A source that changes while it lands, a disk that stores something else: refused, then landed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from landed_stores import LandedStore, page

from pinakes.archive_store.local import store as local
from pinakes.archive_store.local.files import LocalAsideIO
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.file_rows import read_entry
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.index.urlkey import urlkey

URI = "http://example.org/"
# Several windows of the reader, none of which compresses.
RECORDS = [page(f"{URI}{number}", random.Random(number).randbytes(200_000)) for number in range(4)]
HALF = sum(map(len, RECORDS)) // 2


def once_half_is_copied(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[LocalAsideIO], None]
) -> None:
    """Do something, once, as soon as half of the source has been written to its copy."""
    done: list[LocalAsideIO] = []

    class Watched(LocalAsideIO):
        def write(self, data: Any, /) -> int:
            written = super().write(data)
            if not done and self.tell() >= HALF:
                done.append(self)
                act(self)
            return written

    monkeypatch.setattr(local, "LocalAsideIO", Watched)


def seen(store: LandedStore) -> dict[str, object]:
    """What readers see: captures of every page, and files."""
    return {
        "captures": [
            capture.facts.target_uri
            for number in range(len(RECORDS))
            for capture in scan_captures_of(store.rows, urlkey(f"{URI}{number}"))
        ],
        "files": [file.name for file in store.archive.list()],
    }


def shorten(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(HALF + 10)


def move_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    move_away(path)
    path.write_bytes(b"".join(RECORDS))


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize(
    ("disturb", "message"),
    [
        pytest.param(grow, "changed while it was read", id="grows"),
        pytest.param(shorten, "became shorter while it was read", id="shrinks"),
        pytest.param(move_away, "was replaced while it was read", id="renamed-away"),
        pytest.param(replace, "was replaced while it was read", id="replaced-by-its-like"),
        pytest.param(Path.unlink, "was replaced while it was read", id="deleted"),
    ],
)
def test_a_source_that_does_not_stand_still(
    store: LandedStore,
    monkeypatch: pytest.MonkeyPatch,
    disturb: Callable[[Path], None],
    message: str,
) -> None:
    path = store.inbox / "c" / "a.warc.gz"
    with monkeypatch.context() as patch:
        once_half_is_copied(patch, lambda _: disturb(path))
        with pytest.raises(InputRefused, match=message):
            store.land("c", "a.warc.gz", *RECORDS)
    assert seen(store) == {"captures": [], "files": []}
    assert store.names() == []  # nothing aside either
    landed = store.land("c", "a.warc.gz", *RECORDS)
    assert (landed.was_there, landed.captures, landed.errors) == (False, len(RECORDS), {})
    assert len(seen(store)["captures"]) == len(RECORDS)  # type: ignore[arg-type]
    assert (store.folder / "archive" / "c" / "a.warc.gz").read_bytes() == b"".join(RECORDS)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.truncate(HALF), id="lost-its-end"),
        pytest.param(lambda file: (file.seek(-1, 1), file.write(b"\0")), id="lost-a-byte"),
    ],
)
def test_a_disk_that_stores_something_else(
    store: LandedStore, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[LocalAsideIO], object]
) -> None:
    with monkeypatch.context() as patch:
        once_half_is_copied(patch, spoil)
        with pytest.raises(DigestMismatch, match="what was stored is not what was read"):
            store.land("c", "a.warc.gz", *RECORDS)
    assert seen(store) == {"captures": [], "files": []}
    assert read_entry(store.rows, archive_file("c", "a.warc.gz")).state == "refused"
    store.land("c", "a.warc.gz", *RECORDS)
    assert len(seen(store)["captures"]) == len(RECORDS)  # type: ignore[arg-type]
