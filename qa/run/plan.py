"""What a run compares: views of each page, in which browsers.  Pure."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import NamedTuple

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.browsers.browser_list import browser_named
from pinakes.qa.results.pair_key import side_name
from pinakes.qa.sample.draw import Drawn
from pinakes.qa.snapshot import Rect
from pinakes.qa.views.access_urls import AccessUrls

GENERATIONS = ("before", "current")
_LISTS = ("browsers", "masked_selectors", "models")
ACCESS, STORED, LIVE = "access", "stored", "live"


class Pair(NamedTuple):
    """Names of two sides, as `side_name` has them: the reference, and what is compared with it."""

    reference: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The same for all processes and tasks of a run.

    A view is `before` or `current` (replayed by us), `access:URL-PREFIX`, `stored` or `live`.
    """

    run: str
    act_time_ms: int
    """The timestamp of all cells that the run writes."""
    reference: str = "before"
    other: str = "current"
    browsers: tuple[str, ...] = ("chromium",)
    collection: str | None = None
    """What archive and index have beside it is not replayed: it may not be for the same readers."""
    across: bool = False
    """Whether `other` in the first browser is compared with itself in each of the others, too."""
    prove_first: bool = False
    """Whether a page is shown once only, where all that it asked for is the same now."""
    masked: tuple[Rect, ...] = ()
    """Regions of every page that are not compared."""
    masked_selectors: tuple[str, ...] = ()
    """CSS selectors of what is not compared, where the reference has it."""
    models: tuple[str, ...] = ()
    """Model files that judge in place of those of the package, as their text."""

    def __post_init__(self) -> None:
        """Raises ConfigError for what cannot be compared."""
        for view in (self.reference, self.other):
            word, colon, detail = view.partition(":")
            known = view in (*GENERATIONS, STORED, LIVE) or (word == ACCESS and colon and detail)
            if not known:
                raise ConfigError(
                    f"{view!r} is no view: take before, current, access:URL-PREFIX, stored or live"
                )
            if word == ACCESS:
                AccessUrls(detail)
        if self.reference == self.other and not self.across:
            raise ConfigError(f"{self.other} would be compared with itself")
        if self.reference != self.other and all(map(is_access, (self.reference, self.other))):
            # A side has one name in rows and results, which does not tell them apart.
            raise ConfigError("two access systems: compare each of them with current")
        if STORED in (self.reference, self.other) and self.masked_selectors:
            raise ConfigError("a stored screenshot has no elements: mask regions instead")
        if self.other == STORED:
            raise ConfigError("a stored screenshot is a reference, and nothing else")
        if len(set(self.browsers)) < len(self.browsers) or not self.browsers:
            raise ConfigError("each browser once, and one at least")
        if self.across and len(self.browsers) < 2:
            raise ConfigError("comparing across browsers wants two of them")
        for name in self.browsers:
            browser_named(name)

    @property
    def pairs(self) -> list[Pair]:
        """In each browser the reference and the other; then, where asked for, across them."""
        pairs = [
            Pair(view_in(self.reference, browser), view_in(self.other, browser))
            for browser in self.browsers
            if self.reference != self.other
        ]
        if self.across:
            first, *rest = (view_in(self.other, browser) for browser in self.browsers)
            pairs += [Pair(first, other) for other in rest]
        return pairs

    def pairs_left(self, drawn: Drawn, judged: Collection[PairKey]) -> list[Pair]:
        """The pairs of a page that are not judged yet."""
        key = drawn.page.row_key
        return [
            pair
            for pair in self.pairs
            if PairKey(self.run, key, pair.reference, pair.other) not in judged
        ]


def is_access(view: str) -> bool:
    """Whether it is what an access system shows; of a side's kind, too."""
    return view.startswith(f"{ACCESS}:")


def kind_of(view: str) -> str:
    """How a result names a view."""
    return f"replay:{view}" if view in GENERATIONS else view


def view_in(view: str, browser: str) -> str:
    """The name of a side; a stored screenshot is shown by no browser."""
    return side_name(kind_of(view), "" if view == STORED else browser)


def encode_plan(plan: RunPlan) -> str:
    """One line of JSON."""
    return json.dumps(asdict(plan), sort_keys=True)


def decode_plan(text: str) -> RunPlan:
    """Undo `encode_plan`.

    Raises:
        MalformedRecord: it is no plan.
    """
    try:
        entry = json.loads(text)
        masked = tuple(Rect(**rect) for rect in entry.pop("masked"))
        entry |= {name: tuple(entry[name]) for name in _LISTS if name in entry}
        return RunPlan(**entry, masked=masked)
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise MalformedRecord(f"no plan of a QA run: {error}") from error
