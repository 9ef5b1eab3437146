"""Small faults of many kinds, found across browsers on pages without any other difference."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import comparing  # noqa: F401
import pytest
from fault_kinds import BOXES, DRAWINGS, LETTERS, PICTURES, STATES, Kind
from loopback_proxy import Pages, page
from two_browsers import TwoBrowsers, two_browsers

from pinakes.qa.browsers.page_scripts import Limits, Pins
from pinakes.qa.browsers.session import Session
from pinakes.qa.compare.elements import compare_elements
from pinakes.qa.snapshot import Outcome, Snapshot

for name in ("cryptography", "selenium"):
    pytest.importorskip(name, reason="the extra qa is not here: make dev-qa")

pytestmark = pytest.mark.browsers
PINS = Pins(clock=datetime(2009, 5, 6, 7, 8, 9, tzinfo=timezone.utc), seed=7)
LIMITS = Limits(load_s=8, page_s=40, quiet_s=2)
URL = "http://site.example/"
SCENES = {
    "letters": LETTERS, "boxes": BOXES, "states": STATES, "pictures": PICTURES,
    "drawings": DRAWINGS,
}  # fmt: skip
FAULTS = [(scene, kind) for scene, kinds in SCENES.items() for kind in kinds]


def html_of(scene: str, fault: Kind | None = None) -> str:
    """All kinds of a scene, one of them with its fault."""
    pieces = [
        kind.html.replace(kind.was, kind.now, 1) if kind is fault else kind.html
        for kind in SCENES[scene]
    ]
    return "<!doctype html><meta charset=utf-8>" + "".join(
        f"<section>{one}</section>" for one in pieces
    )


@pytest.fixture(scope="module")
def browsers() -> Iterator[TwoBrowsers]:
    with two_browsers({}, LIMITS) as found:
        yield found


def look(pages: Pages, session: Session, html: str, folder: Path) -> Snapshot:
    pages.answers[URL] = page(html)  # type: ignore[index]
    seen = session.capture(URL, pins=PINS, folder=folder)
    assert seen.outcome is Outcome.COMPLETE, seen.reasons
    assert seen.boxes_total == len(seen.boxes) > 0
    return seen


@pytest.fixture(scope="module")
def references(
    browsers: TwoBrowsers, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Snapshot]:
    pages, chromium, _ = browsers
    folder = tmp_path_factory.mktemp("references")
    return {scene: look(pages, chromium, html_of(scene), folder) for scene in SCENES}


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_does_not_differ(
    browsers: TwoBrowsers, references: dict[str, Snapshot], tmp_path: Path,
    scene: str,
) -> None:  # fmt: skip
    pages, _, firefox = browsers
    found = compare_elements(references[scene], look(pages, firefox, html_of(scene), tmp_path))
    assert found.changed == 0, [change.what for change in found.changes]


@pytest.mark.parametrize(("scene", "fault"), FAULTS, ids=[f"{s}: {k.name}" for s, k in FAULTS])
def test_a_fault_of_this_kind_is_found(
    browsers: TwoBrowsers, references: dict[str, Snapshot], tmp_path: Path,
    scene: str, fault: Kind,
) -> None:  # fmt: skip
    pages, _, firefox = browsers
    assert fault.html.replace(fault.was, fault.now, 1) != fault.html
    seen = look(pages, firefox, html_of(scene, fault), tmp_path)
    assert compare_elements(references[scene], seen).changed > 0
