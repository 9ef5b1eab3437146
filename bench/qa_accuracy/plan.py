"""Which looks the test takes of a page."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from bench.qa_training.looks import Plan, Wanted
from bench.qa_training.pictures import film
from bench.qa_training.recorded import Page, Recorded

from .changes import MOVING, ONCE, after_paragraph
from .harms import HARMS, lettered

FIRST, SECOND = "chromium", "firefox"
_WEAK = ("wrong_image", "images_missing", "style_half", "encoding")
_HARMS, _HARMS_ACROSS = 5, 4


def plan_of(page: Page, dice: random.Random) -> Plan:
    """How a page is looked at (`training.looks.Planning`)."""
    kind = dice.choice(["plain"] * 8 + list(MOVING) * 2 + ["film"] * 2 + ["letters"] * 4)
    seed = dice.randrange(1 << 30)

    def shown(state: int) -> Page:
        own = random.Random(seed)
        if kind in MOVING:
            return MOVING[kind](page, state, own)
        if kind == "letters":
            return lettered(page)
        return _filmed(page, own) if kind == "film" else page

    def others(asked: Mapping[str, Recorded]) -> Iterator[Wanted]:
        both = (FIRST, SECOND)
        other, base = shown(2), "reference"
        yield Wanted(variant="again", base="again", page=shown(1), browsers=both[:1])
        if kind in MOVING:
            base = f"benign:{kind}"
            yield Wanted(variant=base, base=base, page=other, browsers=both)
        whole = Page(url=page.url, records={**asked, page.url: other.html})
        if kind == "film":
            whole = whole.other(other.records)
        brought = {url: it for url, it in other.records.items() if url not in whole.records}
        changes = [(name, made) for name, made in _all(ONCE, whole, dice) if made is not None]
        for name, made in changes[: 1 if kind in MOVING else 2]:
            yield Wanted(
                variant=f"benign:{name}", base=base, page=made.other(brought), browsers=both[:1]
            )
        harms = [(name, made) for name, made in _all(HARMS, whole, dice) if made is not None]
        harms.sort(key=lambda one: one[0] != "video")
        weak = [one for one in harms if one[0] in _WEAK][:3]
        chosen = (weak + [one for one in harms if one not in weak])[:_HARMS]
        if kind == "film":
            chosen = [harms[0], *chosen[: _HARMS - 1]]
        for number, (name, made) in enumerate(chosen):
            yield Wanted(
                variant=f"fault:{name}",
                base=base,
                page=made.other(brought),
                browsers=both if number < _HARMS_ACROSS else both[:1],
            )

    # `pairs` knows what moves by these names.
    dressing = {"last_changed": "date", "sponsored": "ad", "rotating": "carousel"}.get(kind, kind)
    return Plan(dressing=dressing, reference=shown(0), others=others)


def unaltered(page: Page, dice: random.Random) -> Plan:
    """A page as it is, twice: what is called dissimilar is a false alarm."""
    del dice
    again = Wanted(variant="again", base="again", page=page, browsers=(FIRST,))
    return Plan(dressing="plain", reference=page, others=lambda _: iter((again,)))


def _filmed(page: Page, dice: random.Random) -> Page:
    url = page.url.rsplit("/", 1)[0] + "/talk.webm"
    box = f"<div><video controls src='{url}' width=640 height=360></video></div>".encode()
    content = film(dice.randrange(50))
    film_of_page = Recorded(body=content, media_type="video/webm") if content else None
    return page.with_html(after_paragraph(page.html.body, box, dice.randint(0, 4))).other(
        {url: film_of_page}
    )


def _all(
    kinds: Mapping[str, object], page: Page, dice: random.Random
) -> Iterator[tuple[str, Page | None]]:
    names = list(kinds)
    dice.shuffle(names)
    for name in names:
        yield name, kinds[name](page, random.Random(dice.random()))  # type: ignore[operator]
