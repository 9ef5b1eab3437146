"""Queries that differ and mean the same: what a page asks for anew each time it is loaded.

    /ads.js?_=1583000000&id=7      ~>   /ads.js?id=7
    /feed?callback=jquery12_34     ~>   /feed?callback=jquery

Pure, and one declared table.  Works on urlkeys, whose letters are lower case and whose
parameters are sorted.  Used only where no capture has the urlkey itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANY = r".*"
_METHOD_PARAMETER = "__wb_"


@dataclass(frozen=True, slots=True)
class FuzzyRule:
    """Parameters with such a name and such a value are left out, or have another value."""

    name: str
    parameter: str
    value: str
    becomes: str | None = None


# Fractions, and seconds or milliseconds since 1970, in 2001 or later.
_FRACTION = r"0?\.\d{4,}"
_TIME = r"1\d{9}(?:\d{3,6})?"

RULES = (
    FuzzyRule(
        "cache-buster", r"_|cb|uncache|nocache|no_cache|rnd|rand|random", rf"\d{{4,}}|{_FRACTION}"
    ),
    # A region, a revision, a room: one letter says too little, unless its value says the rest.
    FuzzyRule("cache-buster", r"r", rf"{_TIME}|{_FRACTION}"),
    FuzzyRule("timestamp", r"t|_?ts|time|_?timestamp|(?:cache[_-]?)?bust(?:er)?", _TIME),
    FuzzyRule("jquery-callback", _ANY, r"jquery\d+_\d+(?:_\d+)?", "jquery"),
    FuzzyRule("jsonp-callback", r"callback|jsonp|cb", r"_?_?jsonp[\w.]*", "jsonp"),
    FuzzyRule("campaign", r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|mc_[ce]id|_ga", _ANY),
    # So long that it is no number of a story, and no room's name.
    FuzzyRule("session", r"(?:php|j|asp)?sess(?:ion)?_?id|sid|s_id|zenid", r"[\w.~-]{16,}"),
)
"""In this order; the first that fits a parameter is applied to it."""

STATIC_RULE = "static-file"
"""The last: of files of these kinds the whole query is passed over.  Not of JSON and PDF: what
makes them looks at the query for what to put in."""

_STATIC = re.compile(
    r"[^/]\.(?:css|m?js|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|[to]tf|eot"
    r"|mp[34]|m4[av]|og[agv]|wav|webm|swf)\Z"
)

_COMPILED = tuple(
    (re.compile(rule.parameter), re.compile(rule.value, re.DOTALL), rule) for rule in RULES
)


def normal_key(urlkey: str) -> tuple[str, tuple[str, ...]]:
    """The urlkey without what changes from load to load, and the names of the rules used."""
    path, mark, query = urlkey.partition("?")
    if not mark:
        return urlkey, ()
    kept, used = [], []
    for parameter in query.split("&"):
        name, equals, value = parameter.partition("=")
        rule = _rule_of(name, value)
        if rule is None:
            kept.append(parameter)
            continue
        used.append(rule.name)
        if rule.becomes is not None:
            kept.append(f"{name}{equals}{rule.becomes}")
    if not used:
        return urlkey, ()
    query = "&".join(kept)
    return (f"{path}?{query}" if query else path), tuple(dict.fromkeys(used))


def _rule_of(name: str, value: str) -> FuzzyRule | None:
    for of_name, of_value, rule in _COMPILED:
        if of_value.fullmatch(value) and of_name.fullmatch(name):
            return rule
    return None


def path_of(urlkey: str) -> str:
    """The urlkey without its query."""
    return urlkey.partition("?")[0]


def fuzzy_rule(requested: str, captured: str) -> str | None:
    """By which rules two urlkeys are one resource, joined by `+`; None where they are not."""
    asked_key, of_asked = normal_key(requested)
    captured_key, of_captured = normal_key(captured)
    if asked_key == captured_key:
        return "+".join(dict.fromkeys(of_asked + of_captured)) or None
    if path_of(requested) == path_of(captured) and is_static(requested):
        by_method = (_METHOD_PARAMETER in requested, _METHOD_PARAMETER in captured)
        return STATIC_RULE if by_method == (False, False) else None
    return None


def is_static(urlkey: str) -> bool:
    """Whether the path names a file whose query only tells versions apart."""
    return _STATIC.search(path_of(urlkey)) is not None
