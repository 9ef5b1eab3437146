"""Changes that are no fault: what moves on a page by itself, fonts, pictures sent with more loss.

Words or boxes that were not there are none of them: beside a bar for consent or a headline that is
new, an error's text is a small change, and models that were shown both missed it.  How old a live
page is, and strips for consent, are policies of a run.

A dressing gives a page something that has a state: a date, an ad, a carousel.  In each state it
is the same page; `again` has another state than the reference, so that it can be masked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from bench.qa_training.html_edits import before_body_end, inside, top_of_body
from bench.qa_training.pictures import film, picture, recoded
from bench.qa_training.recorded import Page, Recorded

Dressing = Callable[[Page, int, random.Random], Page]
Change = Callable[[Page, random.Random], Page | None]

_WORDS = (
    "archive", "library", "page", "letter", "house", "river", "winter", "paper", "market",
    "garden", "morning", "music", "road", "history", "village", "number", "picture", "reader",
    "window", "island", "people", "summer", "stone", "water", "question",
)  # fmt: skip
_MONTHS = ("January", "February", "March", "April", "May", "June")


def sentence(dice: random.Random, words: int) -> str:
    """So many words, of no meaning."""
    return " ".join(dice.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _png(seed: int, width: int, height: int) -> Recorded:
    return Recorded(body=picture(seed, width, height), media_type="image/png")


def _beside(page: Page, name: str) -> str:
    return page.url.rsplit("/", 1)[0] + "/" + name


def dated(page: Page, state: int, dice: random.Random) -> Page:
    """A line with the date, and a counter."""
    day, month = dice.randint(1, 28), dice.choice(_MONTHS)
    times = random.Random(f"{page.url} {state}")
    line = (
        f"<p>{(day + state) % 28 + 1} {month} 2024, {times.randint(0, 23)}:"
        f"{times.randint(10, 59)}. {times.randint(100, 99999)} readers so far.</p>"
    )
    return page.with_html(inside(page.html.body, line.encode(), dice))


def advertised(page: Page, state: int, dice: random.Random) -> Page:
    """A box of an advertiser's, in a frame or not: another picture in each state."""
    width, height = dice.choice([(728, 90), (300, 250), (468, 60), (160, 600)])
    seed = dice.randrange(1 << 30) + state
    framed, words = dice.random() < 0.6, sentence(random.Random(seed), 4)
    image = "http://ads.example/banner.png"
    inner = f'<a href="#"><img src="{image}" width={width} height={height} alt=""></a>'
    records: dict[str, Recorded | None] = {image: _png(seed, width, height)}
    if framed:
        document = f"<body style='margin:0'>{inner if state % 2 else inner + words}</body>"
        records["http://ads.example/slot.html"] = Recorded(
            body=document.encode(), media_type="text/html"
        )
        inner = (
            f'<iframe src="http://ads.example/slot.html" width={width} height={height} '
            'frameborder=0 scrolling=no title="ad"></iframe>'
        )
    style = "margin:10px auto;text-align:center"
    box = f'<div class="ad" style="{style}">{inner}</div>'.encode()
    html = page.html.body
    put = top_of_body(html, box) if dice.random() < 0.3 else inside(html, box, dice)
    return page.with_html(put).other(records)


def carouselled(page: Page, state: int, dice: random.Random) -> Page:
    """A picture of several, by turns, with its caption."""
    width, height = dice.choice([(900, 320), (640, 360), (1100, 260)])
    seed = dice.randrange(1 << 30) + 7 * state
    image = _beside(page, "carousel.png")
    caption = sentence(random.Random(seed), 6)
    box = (
        f'<div class="carousel-of-page" style="margin:12px auto;width:{width}px;max-width:100%">'
        f'<img src="{image}" width={width} height={height} style="max-width:100%" alt="">'
        f"<div>{caption}</div></div>"
    )
    page = page.with_html(inside(page.html.body, box.encode(), dice))
    return page.other({image: _png(seed, width, height)})


def filmed(page: Page, state: int, dice: random.Random) -> Page:
    """A film, the same in each state."""
    seed = dice.randrange(1000)
    url = _beside(page, "film.webm")
    film_of_page = film(seed)
    box = (
        f'<p><video src="{url}" controls width=480 height=270 preload=auto '
        'style="background:#222"></video></p>'
    )
    page = page.with_html(inside(page.html.body, box.encode(), dice))
    return page.other(
        {url: Recorded(body=film_of_page, media_type="video/webm") if film_of_page else None}
    )


DRESSINGS: Mapping[str, Dressing] = {
    "date": dated,
    "ad": advertised,
    "carousel": carouselled,
    "film": filmed,
}


def missing_font(page: Page, dice: random.Random) -> Page | None:
    """Fonts that are not there; None where it has none."""
    del dice
    fonts = page.of_type("font/", "application/font", "application/vnd.ms-fontobject")
    return page.other(dict.fromkeys(fonts)) if fonts else None


def blocked_counter(page: Page, dice: random.Random) -> Page:
    """A script that counts visitors, and is not there."""
    number = dice.randint(1, 3)
    tags = "".join(
        f'<script async src="http://stats{n}.example/count.js"></script>' for n in range(number)
    )
    missing: dict[str, Recorded | None] = {
        f"http://stats{n}.example/count.js": None for n in range(number)
    }
    return page.with_html(before_body_end(page.html.body, tags.encode())).other(missing)


def blocked_pixel(page: Page, dice: random.Random) -> Page:
    """Somebody's picture of one pixel that counts visitors, and is not there."""
    url = f"http://pixel{dice.randint(1, 9)}.example/p.gif?page={dice.randint(1, 999)}"
    hidden = dice.choice(["width=1 height=1", 'style="position:absolute;left:-9px;width:1px"'])
    tag = f'<img src="{url}" {hidden} alt="">'
    return page.with_html(before_body_end(page.html.body, tag.encode())).other({url: None})


def lossy(page: Page, dice: random.Random) -> Page | None:
    """Pictures sent again with a little more loss, as servers do."""
    del dice
    records: dict[str, Recorded | None] = {}
    for url in page.of_type("image/jpeg")[:10]:
        record = page.records[url]
        body = recoded(record.body, 70) if record is not None else None
        if record is not None and body is not None:
            records[url] = replace(record, body=body)
    return page.other(records) if records else None


CHANGES: Mapping[str, Change] = {
    "missing_font": missing_font,
    "blocked_counter": blocked_counter,
    "blocked_pixel": blocked_pixel,
    "recoded": lossy,
}
