"""The pages of `serve` as a client gets them, parsed strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from asgi_client import Answer, Client
from landed_stores import LandedStore

from pinakes.access.asgi_site import AsgiSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views

VOID = {"meta", "link", "input", "br"}
Ask = Callable[[str], Answer]


class Outline(HTMLParser):
    """Parses a page strictly: every element closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def links(self, part: str) -> list[str]:
        return [href for one in self.all("a") if part in (href := one["href"] or "")]


def check_page(answer: Answer) -> Outline:
    """A page that keeps to what all of them promise."""
    assert answer.mimetype == "text/html"
    assert HEADERS.items() <= dict(answer.headers).items()
    outline = Outline(answer.text)
    for tag in ("main", "h1", "header", "footer", "title"):
        assert len(outline.all(tag)) == 1, tag
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    named = [one.get("aria-labelledby") for one in outline.all("section")]
    assert {name for name in named if name} <= set(ids)
    assert {one["for"] for one in outline.all("label")} <= set(ids)
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(one.get("scope") in ("row", "col") for one in outline.all("th"))
    assert all("style" not in attributes for _, attributes in outline.tags)
    assert not any(name.startswith("on") for _, attributes in outline.tags for name in attributes)
    for one in outline.all("a"):
        assert re.match(r"[/?#]|http://replay\.example/", one["href"] or ""), one
    return outline


@pytest.fixture
def site(store: LandedStore) -> Iterator[Callable[..., Ask]]:
    with ExitStack() as stack:

        def make(**named: Any) -> Ask:
            rules = {"rules": named.pop("rules")} if "rules" in named else {}
            captures = ReadableCaptures(store.rows, store.archive, **rules)
            views = Views(store.rows, store.archive, shows_crawl=captures.shows_crawl)
            stack.callback(views.close)
            client = Client(AsgiSite(Site(views, captures, **named), hosts=None, headers=HEADERS))
            return client.get

        yield make
