"""What a run compares: views of each page, in which browsers.  Pure."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import NamedTuple

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.browsers.browser_list import browser_named
from pinakes.qa.results import side_name
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Rect, value_of
from pinakes.qa.views.access_urls import AccessUrls

GENERATIONS = ("before", "current")
COOKIE_STRIP = "cookie-strip"
BENIGN = (COOKIE_STRIP,)
ACCESS, STORED, LIVE = "access", "stored", "live"
_REPLAY = "replay:"


class Pair(NamedTuple):
    """Names of two sides by `side_name`: the reference, and the one compared with it."""

    reference: str
    other: str

    @property
    def is_of_stored(self) -> bool:
        """Whether the reference is a stored screenshot."""
        return self._views[0] == STORED

    @property
    def has_access(self) -> bool:
        """Whether an access system is among them."""
        return ACCESS in self._views

    @property
    def are_generations(self) -> bool:
        """Whether this is before and after, in one browser."""
        return self._views == GENERATIONS and len(set(self._browsers)) == 1

    @property
    def is_two_browsers(self) -> bool:
        """Whether letters are drawn otherwise, so that images differ nearly everywhere."""
        one, other = self._browsers
        return bool(one and other) and one != other

    @property
    def is_across(self) -> bool:
        """Whether this is one generation in two browsers."""
        one, other = self._views
        return one == other and one in GENERATIONS and self.is_two_browsers

    @property
    def is_drawn_alike(self) -> bool:
        """Whether one browser shows both, with the clock and seed that we give it."""
        one, other = self._browsers
        return one == other != "" and set(self._views) <= {*GENERATIONS, ACCESS}

    @property
    def browsers(self) -> set[str]:
        """The browsers that show it; a stored screenshot has none."""
        return {name for name in self._browsers if name}

    @property
    def _views(self) -> tuple[str, ...]:
        return tuple(name.partition(".")[0] for name in self)

    @property
    def _browsers(self) -> tuple[str, ...]:
        return tuple(name.partition(".")[2] for name in self)


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
    """Only this collection is replayed: others may not be open to the same readers."""
    across: bool = False
    """Whether `other` in the first browser is also compared with `other` in each other browser."""
    prove_first: bool = False
    """Whether a page is captured only once if all its requests would be answered the same now."""
    masked: tuple[Rect, ...] = ()
    """Regions of every page that are not compared."""
    masked_selectors: tuple[str, ...] = ()
    """CSS selectors of elements of the reference that are not compared."""
    benign: tuple[str, ...] = ()
    """Of `BENIGN`: what is taken away from pages before they are captured."""
    models: tuple[str, ...] = ()
    """Texts of model files that replace models of the package."""

    def __post_init__(self) -> None:
        """Raise ConfigError for views that cannot be compared."""
        for view in (self.reference, self.other):
            word, colon, detail = view.partition(":")
            known = view in (*GENERATIONS, STORED, LIVE) or (word == ACCESS and colon and detail)
            if not known:
                raise ConfigError(
                    f"unknown view {view!r}: use before, current, access:URL-PREFIX, stored or live"
                )
            if word == ACCESS:
                AccessUrls(detail)
        if self.reference == self.other and not self.across:
            raise ConfigError(f"{self.other} would be compared with itself")
        if self.reference != self.other and all(map(is_access, (self.reference, self.other))):
            # They would have the same name in rows and results.
            raise ConfigError("cannot compare two access systems: compare each with current")
        if STORED in (self.reference, self.other) and (self.masked_selectors or self.benign):
            raise ConfigError(
                "a stored screenshot has no elements: use --mask, not --mask-selector or --benign"
            )
        if self.other == STORED:
            raise ConfigError("stored can only be the reference")
        if len(set(self.browsers)) < len(self.browsers) or not self.browsers:
            raise ConfigError("name at least one browser, and each only once")
        if self.across and len(self.browsers) < 2:
            raise ConfigError("comparing across browsers needs at least two browsers")
        for name in self.browsers:
            browser_named(name)

    @property
    def pairs(self) -> list[Pair]:
        """The reference and the other in each browser; then, with `across`, across browsers."""
        pairs = [
            Pair(view_in(self.reference, browser), view_in(self.other, browser))
            for browser in self.browsers
            if self.reference != self.other
        ]
        if self.across:
            first, *rest = (view_in(self.other, browser) for browser in self.browsers)
            pairs += [Pair(first, other) for other in rest]
        return pairs

    def pairs_left(self, drawn: SampledPage, judged: Collection[PairKey]) -> list[Pair]:
        """The pairs of a page not judged yet."""
        key = drawn.page.row_key
        return [
            pair
            for pair in self.pairs
            if PairKey(self.run, key, pair.reference, pair.other) not in judged
        ]


def is_access(view: str) -> bool:
    """Whether a view, or a side's kind, is an access system."""
    return view.startswith(f"{ACCESS}:")


def is_replay(kind: str) -> bool:
    """Whether a side's kind is a generation, replayed by us."""
    return kind.startswith(_REPLAY)


def kind_of(view: str) -> str:
    """The name of a view in results."""
    return f"{_REPLAY}{view}" if view in GENERATIONS else view


def view_in(view: str, browser: str) -> str:
    """The name of a side; a stored screenshot has no browser."""
    return side_name(kind_of(view), "" if view == STORED else browser)


def encode_plan(plan: RunPlan) -> str:
    """One line of JSON."""
    return json.dumps(asdict(plan), sort_keys=True)


def decode_plan(text: str) -> RunPlan:
    """Undo `encode_plan`.

    Raises:
        MalformedRecord: not a plan.
    """
    try:
        return value_of(RunPlan, json.loads(text))
    except (ValueError, RecursionError, MalformedRecord, ConfigError) as error:
        raise MalformedRecord(f"not a plan of a QA run: {error}") from error
