"""Images are kept once, whole and readable; what a page says of itself is checked."""

from __future__ import annotations

import os
import stat
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.qa.browsers.kept import keep_image, png_size, read_image
from pinakes.qa.browsers.snapshot_builder import observation
from pinakes.qa.browsers.tab import PageRefused
from pinakes.qa.snapshot import Outcome, Snapshot

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
