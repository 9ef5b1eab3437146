"""Filters of the list of pairs, as in the query of a URL.  Pure.

Filters reveal nothing hidden: a pair whose verdict is hidden matches no verdict and no
confidence, and faults named by others match only for viewers who may see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

from pinakes.errors import InputRefused
from pinakes.qa.results.pair_result import Verdict

from .judgement import FAULTS
from .settled import Standing
from .visible_pair import VisiblePair

HIDDEN = "hidden"
"""In place of a verdict: pairs whose verdict is hidden."""

_TEXT_CHARACTERS = 500


STATES: Mapping[str, Callable[[VisiblePair], bool]] = {
    "todo": lambda pair: pair.is_todo,
    "open": lambda pair: pair.is_open,
    "unreviewed": lambda pair: pair.standing is Standing.OPEN,
    "reviewed": lambda pair: pair.standing is not Standing.OPEN,
    "mine": lambda pair: pair.own is not None,
    "waiting": lambda pair: pair.standing is Standing.WAITING,
    "unsure": lambda pair: pair.standing is Standing.UNSURE,
    "disputed": lambda pair: pair.standing is Standing.DISPUTED,
    "settled": lambda pair: pair.standing is Standing.SETTLED,
    "audit": lambda pair: pair.pair.in_audit and pair.verdict is not None,
}
"""By NAME, the meaning of `state=NAME`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Empty or None: any.  Valid once built by `parse_filter`."""

    verdict: str = ""
    state: str = ""
    site: str = ""
    browsers: str = ""
    fault: str = ""
    text: str = ""
    low: float | None = None
    high: float | None = None

    def matches(self, pair: VisiblePair) -> bool:
        """Whether a pair matches."""
        return (
            self._verdict_fits(pair)
            and (not self.state or STATES[self.state](pair))
            and (not self.site or pair.pair.site == self.site)
            and (not self.browsers or pair.pair.browsers == self.browsers)
            and (not self.fault or self.fault in pair.faults)
            and (not self.text or self.text.casefold() in pair.pair.judged.result.url.casefold())
        )

    def _verdict_fits(self, pair: VisiblePair) -> bool:
        confidence = pair.confidence
        if self.low is not None and (confidence is None or confidence < self.low):
            return False
        if self.high is not None and (confidence is None or confidence > self.high):
            return False
        if not self.verdict:
            return True
        return pair.verdict is None if self.verdict == HIDDEN else self.verdict == pair.verdict


def parse_filter(query: Mapping[str, str]) -> Filter:
    """The filter of a query; unknown parameters are ignored.

    Raises:
        InputRefused: an unknown value.
    """
    text = {
        name: query.get(name, "")[:_TEXT_CHARACTERS]
        for name in ("verdict", "state", "site", "browsers", "fault", "text")
    }
    _one_of("verdict", text["verdict"], [*(verdict.value for verdict in Verdict), HIDDEN])
    _one_of("state", text["state"], STATES)
    _one_of("fault", text["fault"], FAULTS)
    return Filter(**text, low=_share(query, "low"), high=_share(query, "high"))


FILTER_NAMES = tuple(field.name for field in fields(Filter))


def _one_of(name: str, value: str, known: Iterable[str]) -> None:
    if value and value not in (names := list(known)):
        raise InputRefused(f"{name} is {value!r:.100}; it must be one of {', '.join(names)}")


def _share(query: Mapping[str, str], name: str) -> float | None:
    given = query.get(name, "")
    if not given:
        return None
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputRefused(f"{name} is {given!r:.100}; it must be between 0 and 1")
    return share
