"""Queries that differ but mean the same: parameters that change with each load of a page.

    /ads.js?_=1583000000&id=7      ~>   /ads.js?id=7
    /feed?callback=jquery12_34     ~>   /feed?callback=jquery

Pure, one declared table.  Works on urlkeys, which are in lower case with sorted parameters.  Used
only if no capture has the urlkey itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANY = r".*"
_METHOD_PARAMETER = "__wb_"


@dataclass(frozen=True, slots=True)
class FuzzyRule:
    """Parameters with this name and value are removed, or get another value (`becomes`)."""

    name: str
    parameter: str
    value: str
    becomes: str | None = None


# Fractions; seconds, milliseconds or microseconds since 1970, from 2001 on.
_FRACTION = r"0?\.\d{4,}"
_TIME = r"1\d{9}(?:\d{3,6})?"

RULES = (
    FuzzyRule(
        "cache-buster", r"_|cb|uncache|nocache|no_cache|rnd|rand|random", rf"\d{{4,}}|{_FRACTION}"
    ),
    # `r` may be a region, a revision, a room: only with such a value is it a cache buster.
    FuzzyRule("cache-buster", r"r", rf"{_TIME}|{_FRACTION}"),
    FuzzyRule("timestamp", r"t|_?ts|time|_?timestamp|(?:cache[_-]?)?bust(?:er)?", _TIME),
    FuzzyRule("jquery-callback", _ANY, r"jquery\d+_\d+(?:_\d+)?", "jquery"),
    FuzzyRule("jsonp-callback", r"callback|jsonp|cb", r"_?_?jsonp[\w.]*", "jsonp"),
    FuzzyRule("campaign", r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|mc_[ce]id|_ga", _ANY),
    # Long values only: a short one may be the number of an article.
    FuzzyRule("session", r"(?:php|j|asp)?sess(?:ion)?_?id|sid|s_id|zenid", r"[\w.~-]{16,}"),
)
"""In this order; the first that matches a parameter is applied."""

STATIC_RULE = "static-file"
"""The last rule: for files of these kinds the whole query is ignored.  Not for JSON and PDF,
whose content depends on the query."""

_STATIC = re.compile(
    r"[^/]\.(?:css|m?js|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|[to]tf|eot"
    r"|mp[34]|m4[av]|og[agv]|wav|webm|swf)\Z"
)

_COMPILED = tuple(
    (re.compile(rule.parameter), re.compile(rule.value, re.DOTALL), rule) for rule in RULES
)


def normal_key(urlkey: str) -> tuple[str, tuple[str, ...]]:
    """The urlkey without parameters that change with each load, and the rules that were used."""
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
    """The rules by which two urlkeys are one resource, joined by `+`; None if they are not."""
    asked_key, of_asked = normal_key(requested)
    captured_key, of_captured = normal_key(captured)
    if asked_key == captured_key:
        return "+".join(dict.fromkeys(of_asked + of_captured)) or None
    if path_of(requested) == path_of(captured) and is_static(requested):
        by_method = (_METHOD_PARAMETER in requested, _METHOD_PARAMETER in captured)
        return STATIC_RULE if by_method == (False, False) else None
    return None


def is_static(urlkey: str) -> bool:
    """Whether the path names a file whose query is only a version."""
    return _STATIC.search(path_of(urlkey)) is not None
