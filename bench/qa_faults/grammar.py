"""Faults by grammar: any element, any harm, any size and place; put into the records of a page.

Each takes a page and dice, and gives the page with the fault, or None where it has nothing that
could be harmed so.  Harms of elements are done by a script at the end of the page, before its
first look: what is drawn is the same as if the records were so.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files

from bench.qa_training.html_edits import before_body_end, inside, top_of_body
from bench.qa_training.recorded import Page

Fault = Callable[[Page, random.Random], Page | None]
_BODY = re.compile(rb"<body\b[^>]*>", re.IGNORECASE)
_PARTS = "p,li,h1,h2,h3,h4,td,th,dt,dd,a,span,code,pre,label,figcaption,blockquote"
_BLOCKS = "p,ul,ol,table,section,article,nav,header,footer,aside,figure,form,pre,div"
_LARGE = 100_000
_ELEMENTS: Mapping[str, tuple[str, int, int]] = {
    "text-gone": (_PARTS, 8, _LARGE),
    "text-cut": (_PARTS, 8, _LARGE),
    "text-other": (_PARTS, 8, _LARGE),
    "text-more": (_PARTS, 8, _LARGE),
    "hide-space": (_BLOCKS, 8, 400),
    "hide-whole": (_BLOCKS, 8, 400),
    "move-across": (_BLOCKS + "," + _PARTS, 8, 600),
    "move-down": (_BLOCKS + "," + _PARTS, 8, 600),
    "size-text": (_PARTS, 8, _LARGE),
    "size-box": (_BLOCKS, 40, _LARGE),
    "colour-text": (_PARTS, 8, _LARGE),
    "background-gone": ("*", 8, _LARGE),
    "background-other": (_BLOCKS, 8, _LARGE),
    "border-gone": ("*", 8, _LARGE),
    "font-other": (_PARTS, 8, _LARGE),
    "pseudo-gone": ("*", 1, _LARGE),
}
_PICTURES = "img,svg,i,canvas,object"
_ERRORS = (
    "Fatal error: Uncaught PDOException: SQLSTATE[HY000] [2002] Connection refused in db.php:31",
    "Warning: mysqli_connect(): (HY000/1045): Access denied for user 'www'@'localhost'",
    "<h1>503 Service Unavailable</h1><p>No server is available to handle this request.</p>",
    "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx/1.22.1</center>",
    "<h1>Server Error in '/' Application.</h1><p><i>Runtime Error</i></p>",
    "<h1>Internal Server Error</h1><p>The server was unable to complete your request.</p>",
    "<h1>We're sorry, but something went wrong (500)</h1>",
    "<h1>DisallowedHost at /</h1><pre>Invalid HTTP_HOST header</pre>",
    "<h1>Whitelabel Error Page</h1><p>There was an unexpected error (status=500).</p>",
    "<h1>HTTP Status 404 – Not Found</h1><hr><h3>Apache Tomcat/9.0.70</h3>",
)
"""As ten servers and frameworks word them."""


@cache
def _script() -> str:
    text = files("bench.qa_faults").joinpath("harm.js").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def _element(harm: str, page: Page, dice: random.Random) -> Page:
    selector, smallest, largest = _ELEMENTS[harm]
    return _harmed(page, dice, selector, smallest, largest, harm)


def _harmed(
    page: Page, dice: random.Random, selector: str, smallest: int, largest: int, harm: str
) -> Page:
    amount = dice.choice([2, 4, 6, 9, 13, 20, 40]) * dice.choice([1, -1])
    given = (selector, smallest, largest, dice.random(), harm, amount)
    script = f"<script>({_script()})({','.join(map(json.dumps, given))})</script>"
    return page.with_html(before_body_end(page.html.body, script.encode()))


def _icon(page: Page, dice: random.Random) -> Page:
    return _harmed(page, dice, _PICTURES, 6, 40, dice.choice(["hide-space", "hide-whole"]))


def _picture(page: Page, dice: random.Random) -> Page:
    return _harmed(page, dice, _PICTURES, 41, _LARGE, dice.choice(["hide-space", "hide-whole"]))


def _frame(page: Page, dice: random.Random) -> Page:
    return _harmed(page, dice, "iframe,frame,video,embed", 8, _LARGE, "hide-space")


def _control(page: Page, dice: random.Random) -> Page:
    return _harmed(page, dice, "input,button,select,textarea", 6, _LARGE, "hide-space")


def _one_rule(page: Page, dice: random.Random) -> Page:
    """One rule of a style sheet is not there."""
    script = (
        "const s=[...document.styleSheets].filter(s=>{try{return s.cssRules.length}catch(e)"
        "{return 0}});"
        f"if(s.length){{const t=s[Math.floor({dice.random()}*s.length)];"
        f"t.deleteRule(Math.floor({dice.random()}*t.cssRules.length))}}"
    )
    script = f"<script>addEventListener('load',()=>{{{script}}})</script>"
    return page.with_html(before_body_end(page.html.body, script.encode()))


def _cut(kind: str, page: Page, dice: random.Random) -> Page | None:
    """A record that ends before its end."""
    urls = [url for url in page.of_type(kind) if (r := page.records[url]) and len(r.body) > 400]
    if not urls:
        return None
    url = dice.choice(urls)
    record = page.records[url]
    assert record is not None
    end = int(len(record.body) * dice.uniform(0.2, 0.9))
    return page.other({url: replace(record, body=record.body[:end])})


def _thrown(share: float, page: Page, dice: random.Random) -> Page | None:
    """A script that throws at its start, in its middle, or at its end."""
    urls = page.of_type("text/javascript", "application/javascript", "application/x-javascript")
    if not urls:
        return None
    url = dice.choice(urls)
    record = page.records[url]
    assert record is not None
    lines = record.body.split(b"\n")
    at = int(len(lines) * share)
    thrown = b"\n".join([*lines[:at], b";throw new Error('harmed');", *lines[at:]])
    return page.other({url: replace(record, body=thrown)})


def _error_before(page: Page, dice: random.Random) -> Page:
    said = f"<div>{dice.choice(_ERRORS)}</div>".encode()
    return page.with_html(top_of_body(page.html.body, said))


def _error_within(page: Page, dice: random.Random) -> Page:
    return page.with_html(inside(page.html.body, f"<p>{dice.choice(_ERRORS)}</p>".encode(), dice))


def _error_instead(page: Page, dice: random.Random) -> Page:
    head = _BODY.split(page.html.body, maxsplit=1)[0] if dice.random() < 0.5 else b"<html>"
    return page.with_html(head + f"<body>{dice.choice(_ERRORS)}</body></html>".encode())


FAMILIES: Mapping[str, Fault] = {
    **{harm: partial(_element, harm) for harm in _ELEMENTS},
    "icon": _icon,
    "picture": _picture,
    "frame": _frame,
    "control": _control,
    "one rule": _one_rule,
    "sheet cut": partial(_cut, "text/css"),
    "picture cut": partial(_cut, "image/"),
    "script throws at its start": partial(_thrown, 0.0),
    "script throws in its middle": partial(_thrown, 0.5),
    "script throws at its end": partial(_thrown, 1.0),
    "error before": _error_before,
    "error within": _error_within,
    "error instead": _error_instead,
}
"""By family."""
