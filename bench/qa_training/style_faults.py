"""Faults of style sheets, put into the records of a page: lost, cut, or placing things wrongly."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from bench.qa_training.html_edits import in_head
from bench.qa_training.recorded import Page, Recorded

_LAYOUT = re.compile(
    rb"(display\s*:\s*(?:inline-)?(?:flex|grid)|float\s*:\s*\w+|(?:max-)?width\s*:[^;}]+|"
    rb"position\s*:\s*(?:absolute|fixed|relative)|margin[-a-z]*\s*:[^;}]+)",
    re.IGNORECASE,
)
_INLINE = re.compile(rb"<style\b.*?</style\s*>", re.IGNORECASE | re.DOTALL)
_FEW = 200


def style_lost(page: Page, dice: random.Random) -> Page | None:
    """No style sheet is there."""
    sheets = page.of_type("text/css")
    lost = page.other(dict.fromkeys(sheets))
    if dice.random() < 0.5:
        lost = lost.with_html(_INLINE.sub(b"", page.html.body))
    return lost if sheets else None


def style_halved(page: Page, dice: random.Random) -> Page | None:
    """The largest style sheet ends in its middle, or every sheet but the first is gone."""
    sheets = {url: page.records[url] for url in page.of_type("text/css")}
    if not sheets:
        return None
    url, largest = max(sheets.items(), key=lambda one: len(one[1].body if one[1] else b""))
    assert largest is not None
    if len(sheets) > 2 and dice.random() < 0.3:
        return page.other(dict.fromkeys(list(sheets)[len(sheets) // 2 :]))
    if len(largest.body) < _FEW:
        return None
    cut = int(len(largest.body) * dice.uniform(0.25, 0.6))
    return page.other({url: replace(largest, body=largest.body[:cut])})


def layout(page: Page, dice: random.Random) -> Page | None:
    """Style sheets have lost what places things."""
    sheets = page.of_type("text/css")
    records: dict[str, Recorded | None] = {}
    for url in sheets:
        record = page.records[url]
        if record is not None:
            records[url] = replace(record, body=_LAYOUT.sub(b"", record.body))
    if not records or dice.random() < 0.3:
        style = dice.choice(
            [
                "body *{float:left}",
                "body{width:320px;margin-left:600px}",
                "div,section,main,article{position:absolute;top:0}",
                "div{transform:rotate(3deg) scale(.8)}",
                "img,p,table{width:90px;overflow:hidden}",
            ]
        )
        return page.with_html(in_head(page.html.body, f"<style>{style}</style>".encode()))
    return page.other(records)


_PARTS = (
    "p", "li", "h1,h2,h3", "td,th", "img", "pre,code", "ul,ol,dl", "table", "nav,header,footer",
    "section,article,main", "div>div", "body>*", "a", "span,b,em", "p,ul,table,pre",
)  # fmt: skip


def misplaced(page: Page, dice: random.Random) -> Page | None:
    """A rule more: parts of one kind lie over others, aside, squeezed, or far apart."""
    some, many, away = dice.randint(40, 160), dice.randint(160, 500), dice.choice([-1, 1])
    places = dice.choice(
        [
            f"margin-top:-{some}px!important",
            f"margin-bottom:{many}px!important",
            f"padding:{some}px!important",
            f"position:relative;left:{away * many}px",
            f"position:relative;top:{away * some}px",
            f"position:absolute;left:{some}px",
            f"position:fixed;right:0;bottom:{some}px",
            f"width:{some}px!important",
            f"height:{dice.randint(4, 14)}px!important",
            f"height:{dice.randint(4, 14)}px!important;overflow:hidden",
            f"float:right;width:{dice.randint(15, 40)}%",
            f"letter-spacing:{dice.randint(8, 24)}px",
            f"font-size:{dice.randint(220, 400)}%!important",
            f"text-indent:{many}px",
            f"columns:{dice.randint(4, 9)}",
            f"transform:scale({dice.choice([0.4, 0.6, 1.5, 2])})",
            f"transform:translateX({away * many}px)",
            "display:inline!important",
            "display:table-cell!important",
        ]
    )
    style = f"<style>{dice.choice(_PARTS)}{{{places}}}</style>"
    return page.with_html(in_head(page.html.body, style.encode()))
