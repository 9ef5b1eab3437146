"""Which queries are asked, and how each server wants them written.  Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from .drawn import CROWD, DrawnCapture

Pairs = tuple[tuple[str, str], ...]
QUERIES = 20_000
PREFIX_LINES = 100
_SEED = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A URL with all of its captures, as (time, digest)."""

    url: str
    captures: tuple[tuple[str, str], ...]

    @property
    def section(self) -> str:
        return self.url.rpartition("/")[0] + "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kind of query: `of_crowded` is about URLs of 300 captures."""

    name: str
    draw: Callable[[random.Random, Url], Pairs]
    of_crowded: bool = False


def _exact(_: random.Random, url: Url) -> Pairs:
    return (("url", url.url),)


def _closest(chance: random.Random, url: Url) -> Pairs:
    day = chance.choice(url.captures)[0][:8]
    return (("url", url.url), ("closest", f"{day}120000"), ("limit", "1"), ("sort", "closest"))


def _prefix(_: random.Random, url: Url) -> Pairs:
    return (("url", url.section), ("matchType", "prefix"), ("limit", str(PREFIX_LINES)))


def _digest(chance: random.Random, url: Url) -> Pairs:
    return (("url", url.url), ("filter", f"=digest:{chance.choice(url.captures)[1]}"))


CASES = (
    Case(name="exact", draw=_exact),
    Case(name="closest", draw=_closest),
    Case(name="closest of 300", draw=_closest, of_crowded=True),
    Case(name="all of 300", draw=_exact, of_crowded=True),
    Case(name="prefix, 100 lines", draw=_prefix),
    Case(name="digest among 300", draw=_digest, of_crowded=True),
)


def urls_of(drawn: Iterable[DrawnCapture]) -> list[Url]:
    """Group captures, which are sorted by URL."""
    found: dict[str, list[tuple[str, str]]] = {}
    for capture in drawn:
        found.setdefault(capture.url, []).append((capture.time_14, capture.digest))
    return [Url(url=url, captures=tuple(of_it)) for url, of_it in found.items()]


def queries_of(case: Case, urls: Sequence[Url], *, count: int = QUERIES) -> list[Pairs]:
    """Draw queries of a case about these URLs; the same ones for the same URLs."""
    chance = random.Random(f"{case.name} {_SEED}")
    among = [url for url in urls if len(url.captures) == CROWD] if case.of_crowded else urls
    return [case.draw(chance, url) for url in chance.choices(among, k=count)]


def target(path: str, query: Pairs, *, plain_filter: bool = False) -> str:
    """A request's target; `plain_filter` for OutbackCDX, whose filters have no `=`."""
    if plain_filter:
        query = tuple((k, v.removeprefix("=") if k == "filter" else v) for k, v in query)
    return f"{path}?{urlencode(query)}"
