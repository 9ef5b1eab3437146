"""A snapshot is written and read as it was; what is none is refused."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.qa.browsers.kept import (
    keep_image,
    png_size,
    read_image,
    read_snapshot,
    write_snapshot,
)
from pinakes.qa.browsers.looking import observation
from pinakes.qa.browsers.tab import PageRefused
from pinakes.qa.snapshot import Media, Outcome, Overlay, Snapshot, decode_snapshot, encode_snapshot

TAKEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
BLANK = Snapshot(
    url="http://a.example/",
    browser="chromium",
    browser_version="131.0",
    taken=TAKEN,
    clock=None,
    seed=None,
    outcome=Outcome.CUT_OFF,
    viewport_width=800,
    viewport_height=600,
)
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes([0, 0, 3, 32, 0, 0, 2, 88]) + b"\x08\x02" * 4
) + b"rest of it"

aware = st.datetimes(timezones=st.just(timezone.utc))
numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(), max_size=20)  # lone surrogates too: pages have them
snapshots = st.builds(
    Snapshot,
    taken=aware,
    clock=st.none() | aware,
    text=words,
    media=st.lists(st.builds(Media, duration_s=st.none() | numbers, url=words)).map(tuple),
    overlay=st.none() | st.builds(Overlay, viewport_share=numbers, text=words),
)


@given(snapshots)
def test_what_is_encoded_is_decoded(snapshot: Snapshot) -> None:
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


def test_every_cut_of_a_snapshot_is_refused() -> None:
    whole = encode_snapshot(BLANK)
    for length in range(len(whole)):
        with pytest.raises(MalformedRecord):
            decode_snapshot(whole[:length])


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"url": 5},
        {"viewport_width": "800"},
        {"viewport_width": True},
        {"outcome": "splendid"},
        {"boxes": [{"tag": "p"}]},
        {"boxes": {}},
        {"timings_ms": [["loaded"]]},
        {"taken": "yesterday"},
        {"taken": "2026-01-02T03:04:05"},
        {"more": 1},
        {"image": []},
    ],
    ids=repr,
)
def test_a_lying_document_is_refused(change: dict[str, object]) -> None:
    document = {**json.loads(encode_snapshot(BLANK)), **change}
    with pytest.raises(MalformedRecord):
        decode_snapshot(json.dumps(document).encode())


@pytest.mark.parametrize("document", [b"", b"[]", b"null", b"1", b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_document_is_refused(document: bytes) -> None:
    with pytest.raises(MalformedRecord):
        decode_snapshot(document)


def test_a_file_is_named_when_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    write_snapshot(file, BLANK)
    assert read_snapshot(file) == BLANK
    file.write_bytes(b"{")
    with pytest.raises(MalformedRecord, match=r"one\.json: not a snapshot"):
        read_snapshot(file)
    assert [entry.name for entry in tmp_path.iterdir()] == ["one.json"]


def test_an_image_is_kept_once_under_its_digest(tmp_path: Path) -> None:
    image = keep_image(tmp_path, PNG)
    assert keep_image(tmp_path, PNG) == image
    assert (image.width, image.height) == (800, 600)
    assert [entry.name for entry in tmp_path.iterdir()] == [image.name]
    assert read_image(tmp_path, image) == PNG
    (tmp_path / image.name).write_bytes(PNG[:-1])
    with pytest.raises(DigestMismatch):
        read_image(tmp_path, image)


@pytest.mark.parametrize("left", [b"", PNG[:-1], bytes(len(PNG))], ids=["empty", "cut", "zeros"])
def test_an_image_that_is_damaged_is_replaced(tmp_path: Path, left: bytes) -> None:
    image = keep_image(tmp_path, PNG)
    (tmp_path / image.name).write_bytes(left)
    assert keep_image(tmp_path, PNG) == image
    assert read_image(tmp_path, image) == PNG
    assert [entry.name for entry in tmp_path.iterdir()] == [image.name]


def test_an_image_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[list[str]] = []
    monkeypatch.setattr("os.fsync", lambda _: names.append([e.name for e in tmp_path.iterdir()]))
    image = keep_image(tmp_path, PNG)
    assert [image.name in there for there in names] == [False]
    assert keep_image(tmp_path, PNG) == image
    assert len(names) == 1


def test_a_disk_that_is_full_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        keep_image(tmp_path, PNG)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_an_image_is_as_readable_as_the_umask_has_it(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        image = keep_image(tmp_path, PNG)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / image.name).stat().st_mode) == mode


@pytest.mark.parametrize("content", [b"", PNG[:32], b"GIF89a" + PNG[6:], PNG.replace(b"H", b"h")])
def test_what_is_no_png_is_refused(tmp_path: Path, content: bytes) -> None:
    assert png_size(content) is None
    with pytest.raises(PageRefused):
        keep_image(tmp_path, content)
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_lies_about_itself_is_refused() -> None:
    assert observation(BLANK, {"title": "x", "page_height": 5}, None).page_height == 5
    for told in ({"title": 1}, {"page_height": "high"}, {"boxes": "x"}, {"unheard": 1}):
        with pytest.raises(MalformedRecord):
            observation(BLANK, told, None)
    with pytest.raises(MalformedRecord):
        observation(BLANK, {}, {"tag": "div"})
