"""The differences of two snapshots besides pixels and words: boxes, resources, failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pinakes.qa.snapshot import Overlay, Rect, Resource, Snapshot

Kind = TypeVar("Kind")
_GRID = 8
_SHIFT = 64
"""CSS pixels; more than letters differ in width between browsers."""

_FAILED_STATUS = 400
_MAX_NAMED = 100
ASKED_ONCE = "/favicon.ico"
"""Requested by the browser itself, for the first page of a site."""

_NOTHING_TO_PLAY = 3
"""HTMLMediaElement.NETWORK_NO_SOURCE."""

_STYLES = (("stylesheet", "css", "link"), (".css",))
_IMAGES = (("image", "img", "imageset"), (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"))
"""Kinds, as browsers call them, and how their names end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDifference:
    """Counts of the second snapshot minus those of the first, which may be negative."""

    height_ratio: float
    """The lower height divided by the higher; 1 if one is unknown."""
    boxes_gone: float
    """Boxes of the first without one of their kind, left edge and width in the second."""
    boxes_new: float
    boxes_shifted: float
    """Boxes of both, by kind, tag and order, that lie elsewhere across or are of another width."""
    tags_gone: float
    """As `boxes_gone`, wherever they are."""
    tags_new: float
    images: int
    zero_size: int
    broken: int
    style_rules_ratio: float
    """Rules of the second to those of the first; 1 where the first has none."""
    style_rules: tuple[int, int]
    heights: tuple[int, int]
    """CSS pixels of both; 0 where one is unknown."""
    frames: int
    console: int
    failed: int
    """Resources that failed, or were answered with an error."""
    failed_urls: tuple[str, ...]
    """Those that failed in the second alone."""
    broken_urls: tuple[str, ...]
    """Images that are broken in the second alone."""
    failed_styles: int
    failed_images: int
    sheets: int
    media_failed: int
    """Videos and sounds with an error, or without anything to play."""
    overlay: int
    """1 if only the second is covered, -1 if only the first is."""


def compare_pages(first: Snapshot, second: Snapshot) -> PageDifference:
    """Compare two snapshots; nothing is read."""
    failed, now_failed = _failed(first.resources), _failed(second.resources)
    gone, new = _apart(_box_shapes(first), _box_shapes(second))
    tags_gone, tags_new = _apart(_tags(first), _tags(second))
    return PageDifference(
        height_ratio=_ratio(first.page_height, second.page_height),
        boxes_gone=gone,
        boxes_new=new,
        boxes_shifted=_shifted(first, second),
        tags_gone=tags_gone,
        tags_new=tags_new,
        images=_pictures(second)[0] - _pictures(first)[0],
        zero_size=_pictures(second)[1] - _pictures(first)[1],
        broken=_pictures(second)[2] - _pictures(first)[2],
        style_rules_ratio=_rules(second) / _rules(first) if _rules(first) else 1.0,
        style_rules=(_rules(first), _rules(second)),
        heights=(first.page_height or 0, second.page_height or 0),
        frames=second.frames_total - first.frames_total,
        console=second.console_total - first.console_total,
        failed=len(now_failed) - len(failed),
        failed_urls=tuple(sorted(now_failed - failed))[:_MAX_NAMED],
        broken_urls=tuple(sorted(_broken_urls(second) - _broken_urls(first)))[:_MAX_NAMED],
        failed_styles=_count(now_failed, second, _STYLES) - _count(failed, first, _STYLES),
        failed_images=_count(now_failed, second, _IMAGES) - _count(failed, first, _IMAGES),
        sheets=_sheets(second) - _sheets(first),
        media_failed=_media_failed(second) - _media_failed(first),
        overlay=_overlay(first.overlay, second.overlay),
    )


def lost_payloads(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[str, ...]:
    """URLs that were answered for the first page and not for the second."""
    lost = first.keys() - second.keys()
    return tuple(sorted(url for url in lost if not url.endswith(ASKED_ONCE)))


def other_payloads(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[str, ...]:
    """URLs answered for both pages with different payloads: URL to digest.

    Two generations of an unharmed capture have none: this is a proof, not a similarity.
    """
    shared = first.keys() & second.keys()
    return tuple(sorted(url for url in shared if first[url] != second[url]))


def _overlay(first: Overlay | None, second: Overlay | None) -> int:
    """Pages may consist of fixed elements: those in both, by tag and name, do not count."""
    if second is None:
        return -(first is not None)
    return int(first is None or (first.tag, first.identity) != (second.tag, second.identity))


def _apart(one: Counter[Kind], other: Counter[Kind]) -> tuple[float, float]:
    return (
        (one - other).total() / max(1, one.total()),
        (other - one).total() / max(1, other.total()),
    )


def _tags(snapshot: Snapshot) -> Counter[tuple[str, str]]:
    return Counter((box.kind, box.tag) for box in snapshot.boxes)


def _shifted(first: Snapshot, second: Snapshot) -> float:
    """Of those that both have; 0 where there are none."""
    places: list[dict[tuple[str, str], list[Rect]]] = [defaultdict(list), defaultdict(list)]
    for snapshot, found in zip((first, second), places, strict=True):
        for box in snapshot.boxes:
            found[box.kind, box.tag].append(box.rect)
    pairs = [
        (one, other)
        for kind, rects in places[0].items()
        for one, other in zip(rects, places[1].get(kind, ()))  # noqa: B905  (as many as both have)
    ]
    moved = sum(_is_shifted(one, other) for one, other in pairs)
    return moved / max(1, len(pairs))


def _is_shifted(one: Rect, other: Rect) -> bool:
    wider = abs(one.width - other.width) > max(_SHIFT, one.width // 4)
    return wider or abs(one.x - other.x) > _SHIFT


def _box_shapes(snapshot: Snapshot) -> Counter[tuple[str, str, int, int]]:
    """By kind, tag, left edge and width: how far down they are is left to the image."""
    return Counter(
        (box.kind, box.tag, round(box.rect.x / _GRID), round(box.rect.width / _GRID))
        for box in snapshot.boxes
    )


def _failed(resources: Iterable[Resource]) -> set[str]:
    return {
        resource.url
        for resource in resources
        if (resource.failure is not None or (resource.status or 0) >= _FAILED_STATUS)
        and not resource.url.endswith(ASKED_ONCE)
    }


def _count(urls: set[str], snapshot: Snapshot, kind: tuple[tuple[str, ...], ...]) -> int:
    """The resources of a kind, by their names; by the browser's type if the name has none."""
    said = {resource.url: resource.kind.lower() for resource in snapshot.resources}
    names, ends = kind
    return sum(
        url.partition("?")[0].lower().endswith(ends)
        or ("." not in url.rpartition("/")[2] and said.get(url) in names)
        for url in urls
    )


def _sheets(snapshot: Snapshot) -> int:
    return snapshot.styles.sheets if snapshot.styles else 0


def _pictures(snapshot: Snapshot) -> tuple[int, int, int]:
    pictures = snapshot.pictures
    return (pictures.total, pictures.zero_size, pictures.broken) if pictures else (0, 0, 0)


def _broken_urls(snapshot: Snapshot) -> set[str]:
    return set(snapshot.pictures.broken_urls) if snapshot.pictures else set()


def _rules(snapshot: Snapshot) -> int:
    return snapshot.styles.rules if snapshot.styles else 0


def _media_failed(snapshot: Snapshot) -> int:
    return sum(
        media.error is not None or media.network_state == _NOTHING_TO_PLAY
        for media in snapshot.media
    )


def _ratio(first: int | None, second: int | None) -> float:
    if not first or not second:
        return 1.0
    return min(first, second) / max(first, second)
