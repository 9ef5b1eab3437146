"""Which looks the training takes of a page: its dressing, benign changes, faults, browsers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from bench.qa_faults.grammar import FAMILIES
from bench.qa_training.benign import CHANGES, DRESSINGS
from bench.qa_training.faults import FAULTS, Fault, accented
from bench.qa_training.looks import Plan, Wanted
from bench.qa_training.recorded import Page, Recorded

FIRST, SECOND = "chromium", "firefox"
_BENIGN, _FAULTS, _FAULTS_ACROSS = 2, 9, 6
_ALL_FAULTS: Mapping[str, Fault] = {**FAMILIES, **FAULTS}
"""Of the grammar, and of a list of what archives lose; no kind sooner than another."""


def plan_of(page: Page, dice: random.Random) -> Plan:
    """How a page is looked at (`looks.Planning`)."""
    name = dice.choices(
        ["none", "date", "ad", "carousel", "film", "accents"], [40, 10, 14, 10, 10, 16]
    )[0]
    marks = dice.randrange(1 << 30)

    def dressed(state: int) -> Page:
        own = random.Random(marks)
        if name in DRESSINGS:
            return DRESSINGS[name](page, state, own)
        return accented(page, own) if name == "accents" else page

    def others(asked: Mapping[str, Recorded]) -> Iterator[Wanted]:
        moves = name in ("date", "ad", "carousel")
        both = (FIRST, SECOND)
        again, other = dressed(1), dressed(2)
        yield Wanted(variant="again", base="again", page=again, browsers=(FIRST,))
        base = "reference"
        if moves:
            base = f"benign:{name}"
            yield Wanted(variant=base, base=base, page=other, browsers=both)
        # What the dressing brought is not harmed, but for a film.
        whole = Page(url=page.url, records={**asked, page.url: other.html})
        if name == "film":
            whole = whole.other(other.records)
        kept = {url: record for url, record in other.records.items() if url not in whole.records}
        for number, (kind, made) in enumerate(_drawn(CHANGES, whole, _BENIGN - moves, dice)):
            browsers = both if number == 0 and not moves else (FIRST,)
            yield Wanted(
                variant=f"benign:{kind}", base=base, page=made.other(kept), browsers=browsers
            )
        first = {"film": "film_lost", "accents": "misread"}.get(name)
        for number, (kind, made) in enumerate(_drawn(_ALL_FAULTS, whole, _FAULTS, dice, first)):
            browsers = both if number < _FAULTS_ACROSS else (FIRST,)
            yield Wanted(
                variant=f"fault:{kind}", base=base, page=made.other(kept), browsers=browsers
            )

    return Plan(dressing=name, reference=dressed(0), others=others)


def _drawn(
    kinds: Mapping[str, object],
    page: Page,
    count: int,
    dice: random.Random,
    first: str | None = None,
) -> list[tuple[str, Page]]:
    """So many of those that the page can have."""
    order = list(kinds)
    dice.shuffle(order)
    if first is not None:
        order.sort(key=lambda kind: kind != first)
    found: list[tuple[str, Page]] = []
    for kind in order:
        if len(found) >= count:
            break
        made = kinds[kind](page, random.Random(dice.random()))  # type: ignore[operator]
        if made is not None:
            found.append((kind, made))
    return found
