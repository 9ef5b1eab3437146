"""The verdict on a pair: by proof for before and after deduplication, else by looks.

Our own proxy answered both views, so the bytes that each was sent are known.  A page that was
sent the same bytes is the same, however a browser drew it; one that was sent other bytes for a
URL, or lacks a resource that it had before, was harmed.  If the two sent different requests, as
some pages do on each load, nothing is proven, and looks decide: to the pixel in one browser, by a
model in two, and where a page is never the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pinakes.counts import count_of
from pinakes.qa.compare.page import ASKED_ONCE, other_payloads
from pinakes.qa.compare.pairs import Comparison
from pinakes.qa.compare.steady import PagePlace, SteadyDifference
from pinakes.qa.judging.model import Model
from pinakes.qa.replay.page_log import LoggedExchange, PageLog
from pinakes.qa.results import Verdict
from pinakes.qa.snapshot import Fontless, Outcome, Snapshot

MODEL = "proof 2"
RULE = "outcomes 1"
"""Judges pairs of which one page was not shown to the end: no model can."""
FONTS = "fonts 1"
"""Judges pairs of which too many letters were drawn as boxes to be distinguished."""
STEADY = "to the pixel 1"
"""Judges pairs in one browser: what is the same is drawn the same."""
LEAST_SEEN = 24
"""CSS pixels; an icon of 8 by 8 px that is gone is more."""
_RESTLESS = 0.4
_DIFFERS, _SAME = 0.98, 0.99
_RESTLESS_SAME = 0.9
"""On pages that differ from themselves; what faults were missed, were missed there."""
_BELOW_SAME = 0.9
"""Where the rest of the page is known by its elements alone."""
_LEAST_SURE = 0.6
_ROUNDED = 2
"""CSS pixels, by which heights are rounded."""
_LACKS = "lacks:WebGL"
"""What pins.js notes of a page that asked for it in vain."""
_FEW_WORDS, _LONGEST_WORD = 8, 40
_BOXES = 0.01
"""Of the letters; a word or two of another script do not make a page unreadable."""
_PROVEN = 1.0
_UNPROVEN = 0.5
_SHOWN = {Outcome.COMPLETE, Outcome.STILL_LOADING}
_NAMED = 20
_WORDS = {"miss": "missing now", "fault": "unreadable now"}


class Decision(NamedTuple):
    """A verdict, its confidence, what judged, and why; `harm` comes before all other reasons."""

    verdict: Verdict
    confidence: float
    model: str
    harm: tuple[str, ...] = ()

    def saying(self, *harm: str) -> Decision:
        """The same, with more to say."""
        return self._replace(harm=(*self.harm, *harm))

    def left_open(self) -> Decision:
        """The same, as uncertain."""
        return self._replace(verdict=Verdict.UNCERTAIN, confidence=_UNPROVEN)


def prove(
    comparison: Comparison, before: PageLog, after: PageLog, *, complete: bool = True
) -> Decision | None:
    """The proven verdict on a page before and after deduplication; None if nothing is proven.

    `complete`: the browser showed the complete page both times.
    """
    others = _other_bodies(comparison.payloads or (), before, after)
    harm = (*others, *_lost(before, after), *_other_heads(before, after))
    if harm:
        return Decision(Verdict.DISSIMILAR, _PROVEN, MODEL, harm)
    sent = before.payloads
    if not sent:
        nothing = ("before deduplication no resource of it was sent whole",)
        return Decision(Verdict.UNCERTAIN, _UNPROVEN, MODEL, nothing)
    same = sent == after.payloads and not changed_outcomes(before, after)
    if complete and same and _is_whole(before) and _is_whole(after):
        return Decision(Verdict.SIMILAR, _PROVEN, MODEL)
    return None


def changed_outcomes(before: PageLog, after: PageLog) -> set[str]:
    """Requests of both with another outcome now, for example a fault instead of a miss."""
    was, now = before.outcomes, after.outcomes
    return {key for key in was.keys() & now.keys() if was[key] != now[key]}


def _is_whole(log: PageLog) -> bool:
    hits = (exchange for exchange in log.exchanges if exchange.outcome == "hit")
    return not (log.left_out or log.has_unfinished) and all(hit.is_whole for hit in hits)


def _other_bodies(keys: Sequence[str], before: PageLog, after: PageLog) -> tuple[str, ...]:
    """Requests answered with other bytes: what they were, and what came instead, and whose."""
    was, now = _whole_hits(before), _whole_hits(after)
    owners = {digest: key for key, digest in before.payloads.items()}
    found = []
    for key in keys[:_NAMED]:
        owner = owners.get(after.payloads[key])
        whose = f", the bytes of {owner}" if owner not in (None, key) else ""
        found.append(f"other bytes: {key}: {_body(was[key])} before, now {_body(now[key])}{whose}")
    if len(keys) > _NAMED:
        found.append(f"other bytes: {len(keys) - _NAMED:,} more")
    return tuple(found)


def _whole_hits(log: PageLog) -> dict[str, LoggedExchange]:
    return {one.key: one for one in log.exchanges if one.outcome == "hit" and one.is_whole}


def _body(exchange: LoggedExchange) -> str:
    return f"{exchange.media_type or 'of no type'}, {exchange.sent_bytes:,} bytes"


def _lost(before: PageLog, after: PageLog) -> tuple[str, ...]:
    """Requests answered before that are a miss or a fault now."""
    never = {exchange.key for exchange in before.exchanges if exchange.outcome in _WORDS}
    had = before.payloads.keys() - never
    gone = {
        exchange.key: exchange
        for exchange in after.exchanges
        if exchange.outcome in _WORDS and exchange.key in had
    }
    return tuple(
        f"{_WORDS[exchange.outcome]}: {key}{f' ({exchange.problem})' if exchange.problem else ''}"
        for key, exchange in gone.items()
    )[:_NAMED]


def _other_heads(before: PageLog, after: PageLog) -> tuple[str, ...]:
    """Requests with the same body as before, but another status, type or other header field."""
    same_body = before.payloads.items() & after.payloads.items()
    had, has = before.heads, after.heads
    return tuple(
        f"answered with another header: {key}"
        for key, _ in sorted(same_body)
        if had.get(key) != has.get(key)
    )[:_NAMED]


def judge_outcomes(reference: Snapshot, other: Snapshot, *, have_images: bool) -> Decision | None:
    """Judge two views of which one was not shown to the end; None if both were."""
    if reference.outcome is Outcome.COMPLETE and other.outcome not in _SHOWN:
        how = other.outcome.value.replace("_", " ")
        return Decision(
            Verdict.DISSIMILAR, _UNPROVEN, RULE, (f"the reference was shown; this view: {how}",)
        )
    shown = reference.outcome is other.outcome is Outcome.COMPLETE
    if not shown or not have_images:
        return Decision(Verdict.UNCERTAIN, _UNPROVEN, RULE)
    return None


def judge_visits(
    model: Model, features: Mapping[str, float], reference: Snapshot, other: Snapshot
) -> Decision:
    """Judge by a model two views that were shown to the end."""
    verdict, confidence = model.judge(features)
    decision = _given_fonts(Decision(verdict, confidence, model.title), reference, other)
    lacking = [view.browser for view in (reference, other) if _LACKS in view.reasons]
    if len(lacking) != 1 or decision.verdict is Verdict.SIMILAR:
        return decision
    said = f"{lacking[0]} has no WebGL here, which the page asked for"
    return decision.saying(said).left_open()


def given_height(
    decision: Decision, seen: int, height: int, *, are_elements_known: bool
) -> Decision:
    """The same; of a page `height` pixels high, of which images have the first `seen`, nothing is
    said more surely than what was looked at allows.

    A screenshot shows nothing of elements below it.
    """
    if height - seen <= _ROUNDED or decision.verdict is Verdict.DISSIMILAR:
        return decision
    below = "below them elements are compared" if are_elements_known else "the rest is not compared"
    said = f"images have the first {seen:,} of {height:,} px; {below}"
    decision = decision.saying(said)
    if decision.verdict is Verdict.UNCERTAIN:
        return decision
    most = _BELOW_SAME if are_elements_known else 1 - (height - seen) / height / 2
    if most < _LEAST_SURE:
        return decision.left_open()
    return decision._replace(confidence=min(decision.confidence, most))


def judge_across(decision: Decision, reference: PageLog, other: PageLog, browser: str) -> Decision:
    """A verdict by looks on one generation in two browsers, of which `browser` is the other.

    Where both were sent the same for what both asked, and the other lacks nothing of its own, a
    difference is how it draws, and no harm of the archive.
    """
    harm = (
        *_other_bodies(other_payloads(reference.payloads, other.payloads), reference, other),
        *_lacking(reference, other, browser),
    )
    if harm or decision.verdict is not Verdict.DISSIMILAR:
        return decision.saying(*harm)
    said = f"{browser} was sent the same bytes for all that both asked, and lacks nothing more"
    return decision.saying(said)._replace(verdict=Verdict.BY_BROWSER)


def _lacking(reference: PageLog, other: PageLog, browser: str) -> tuple[str, ...]:
    """What the other asked for and was not given, and the reference did not lack."""
    known = {exchange.key for exchange in reference.exchanges if exchange.outcome in _WORDS}
    lacking = {
        exchange.key: exchange
        for exchange in other.exchanges
        if exchange.outcome in _WORDS and exchange.key not in known
    }
    words = {"miss": "the archive lacks", "fault": "unreadable"}
    return tuple(
        f"{words[exchange.outcome]}, for {browser} alone: {key}"
        for key, exchange in lacking.items()
        if not key.endswith(ASKED_ONCE)
    )[:_NAMED]


def judge_steady(
    steady: SteadyDifference, reference: Snapshot, other: Snapshot, *, is_masked: bool
) -> Decision | None:
    """Judge two sides in one browser by what differs each time; None for a page of which too much
    differs from itself to decide.

    `is_masked`: words do not count by themselves, since those of masked elements are among them.
    """
    if steady.restless > _RESTLESS:
        return None
    is_said_otherwise = not is_masked and (steady.gone or steady.new)
    differs = steady.pixels >= LEAST_SEEN or is_said_otherwise or steady.below
    said = tuple(_in_places(steady))
    if differs:
        return Decision(Verdict.DISSIMILAR, _DIFFERS, STEADY, said)
    confidence = _RESTLESS_SAME if steady.restless else _SAME
    return _given_fonts(Decision(Verdict.SIMILAR, confidence, STEADY, said), reference, other)


def _in_places(steady: SteadyDifference) -> Iterator[str]:
    """What differs, in words."""
    if steady.pixels >= LEAST_SEEN:
        yield f"looks different: {_count(steady)}, the largest {_largest(steady.places[0])}"
    for words, how in ((steady.gone, "gone"), (steady.new, "new")):
        if words:
            some = " ".join(word[:_LONGEST_WORD] for word in words[:_FEW_WORDS])
            yield f"words {how}: {len(words):,}: {some}"
    if steady.below:
        first = steady.below[0]
        yield (
            f"elements below the image differ: {len(steady.below):,}, the first <{first.tag}> at "
            f"{first.rect.x}, {first.rect.y}"
        )
    if steady.restless:
        yield f"differs from itself in {steady.restless:.1%} of its area, which is not compared"


def _count(steady: SteadyDifference) -> str:
    return count_of(len(steady.places), "place")


def _largest(place: PagePlace) -> str:
    rect, tag = place.rect, place.tag
    size = f"{rect.width} × {rect.height} px at {rect.x}, {rect.y}"
    return f"{size} (<{tag}>)" if tag is not None else size


def _given_fonts(decision: Decision, reference: Snapshot, other: Snapshot) -> Decision:
    """The same; of pages that were drawn as boxes none is called similar."""
    boxes = _drawn_as_boxes(reference, other)
    if boxes is None:
        return decision
    decision = decision.saying(_in_words(boxes))
    if decision.verdict is Verdict.DISSIMILAR or boxes.letters < _BOXES * boxes.total:
        return decision
    return decision.left_open()._replace(model=FONTS)


def _drawn_as_boxes(reference: Snapshot, other: Snapshot) -> Fontless | None:
    """Of the view that has the larger share of them."""
    found = [view.fontless for view in (reference, other) if view.fontless is not None]
    return max(found, key=lambda one: one.letters / one.total, default=None)


def _in_words(boxes: Fontless) -> str:
    return (
        f"letters without a font on this machine, drawn as boxes: {boxes.letters:,} of "
        f"{boxes.total:,} ({', '.join(boxes.scripts)})"
    )
