"""Access rules: which captures may be given out, checked in one place for every way out.

Pure.  A rule holds for captures of a URL prefix, a collection, a crawl, an age; it blocks or
allows them.  The last rule that fits decides, and without one a capture is given out: so general
rules come first, and exceptions after them, as in a `.gitignore`.

    [[access]]
    block = "http://example.org/private/"    how URLs begin; `*.example.org`: a host and those below

    [[access]]
    allow = "http://example.org/private/open/"
    collection = "news"

    [[access]]
    block = "*"
    younger_than = "90 days"                 an embargo

    [[access]]
    block = "*"
    crawl = "test-2024"                      a hidden crawl
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from pinakes.errors import ConfigError
from pinakes.index.urlkey import urlkey
from pinakes.warc.dates import format_14, parse_digits_date

_KEYS = frozenset(
    {"block", "allow", "collection", "crawl", "younger_than", "older_than", "from", "to"}
)
# A host has a dot or a scheme before it, so that a urlkey is not taken for one.
_HOST = r"(?:[^\s/*?#,()]+)"
_PATTERN = re.compile(
    rf"\*\Z|\*\.{_HOST}\Z|(?:[a-z][a-z0-9+.-]*:/*{_HOST}|{_HOST}\.{_HOST})(?:[/?#][^\s*]*)?\*?\Z",
    re.IGNORECASE,
)
_AGE = re.compile(r"\s*(\d{1,6})\s*(day|month|year)s?\s*\Z", re.ASCII)
_DAYS = {"day": 1, "month": 31, "year": 366}
_DIGITS = re.compile(r"\d{4,14}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """Blocks or allows what fits all of its conditions; None: any.

    `prefixes` are of urlkeys with a space after them, so that one can end there.  `start` is
    inclusive and `stop` exclusive, 14 digits each.
    """

    allows: bool
    prefixes: tuple[str, ...] = ("",)
    collection: str | None = None
    crawl: str | None = None
    start: str = ""
    stop: str = "~"
    younger_than: timedelta | None = None
    older_than: timedelta | None = None

    def fits(self, *, urlkey: str, time: str, collection: str, crawl: str, now: str) -> bool:
        """Whether the rule decides on this capture; `time` has 14 digits or more."""
        return (
            self.collection in (None, collection)
            and self.crawl in (None, crawl)
            and self.start <= time < self.stop
            and f"{urlkey} ".startswith(self.prefixes)
            and (self.younger_than is None or time >= _before(now, self.younger_than))
            and (self.older_than is None or time < _before(now, self.older_than))
        )


@dataclass(frozen=True, slots=True)
class AccessRules:
    """All rules, in their order."""

    rules: tuple[AccessRule, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether nothing is restricted, so that nothing has to be asked."""
        return all(rule.allows for rule in self.rules)

    def admits(self, *, urlkey: str, time: str, collection: str, crawl: str, now: str) -> bool:
        """Whether a capture may be given out.

        `time` is that of the capture, 14 or 17 digits; `now` has 14.  `crawl` and `collection`
        are empty for lines of archives that lie elsewhere and know none.
        """
        for rule in reversed(self.rules):
            if rule.fits(urlkey=urlkey, time=time, collection=collection, crawl=crawl, now=now):
                return rule.allows
        return True

    def hides(self, *, collection: str, crawl: str) -> bool:
        """Whether nothing of a crawl may be given out, at any URL and time."""
        for rule in reversed(self.rules):
            if rule.collection in (None, collection) and rule.crawl in (None, crawl):
                if rule.allows:
                    return False
                if replace(rule, collection=None, crawl=None) == _ALL_BLOCKED:
                    return True
        return False


_ALL_BLOCKED = AccessRule(allows=False)
OPEN = AccessRules()
"""Nothing is restricted."""


def parse_rules(tables: Iterable[Mapping[str, object]]) -> AccessRules:
    """Rules as they stand in `pinakes.toml`.

    Raises:
        ConfigError: naming the rule by its number.
    """
    return AccessRules(tuple(_rule(table, n) for n, table in enumerate(tables, 1)))


def _rule(table: Mapping[str, object], number: int) -> AccessRule:
    def wrong(message: str) -> ConfigError:
        return ConfigError(f"access rule {number}: {message}")

    if unknown := sorted(set(table) - _KEYS):
        raise wrong(f"unknown key {unknown[0]}: known are {', '.join(sorted(_KEYS))}")
    acts = [act for act in ("block", "allow") if act in table]
    if len(acts) != 1:
        raise wrong("needs one of block and allow")
    for key, value in table.items():
        if not isinstance(value, str) and not (key in acts and isinstance(value, list)):
            raise wrong(f"{key} must be text")
    given = table[acts[0]]
    patterns = given if isinstance(given, list) else [given]
    if not patterns:
        raise wrong(f"{acts[0]} names nothing")
    try:
        rule = AccessRule(
            allows=acts[0] == "allow",
            prefixes=tuple(prefix for each in patterns for prefix in _prefixes(each)),
            collection=_text(table, "collection"),
            crawl=_text(table, "crawl"),
            start=_digits(table, "from") or "",
            stop=_after(_digits(table, "to")),
            younger_than=_age(table, "younger_than"),
            older_than=_age(table, "older_than"),
        )
    except ValueError as error:
        raise wrong(str(error)) from error
    if rule.start >= rule.stop:
        raise wrong("from is after to, so it fits nothing")
    return rule


def _prefixes(pattern: object) -> Sequence[str]:
    """The prefixes of urlkeys that a pattern stands for.

    A folder, `http://example.org/a/`, is its own page as well, whose urlkey has lost the slash.
    """
    if not isinstance(pattern, str) or not _PATTERN.match(pattern):
        raise ValueError(f"{pattern!r} is not a URL (the beginning of those meant), *.host, or *")
    if pattern == "*":
        return [""]
    if pattern.startswith("*."):
        host = urlkey(f"http://{pattern[2:]}/").partition(")")[0]
        return [f"{host})", f"{host},", f"{host}:"]
    pattern = pattern.removesuffix("*")
    key = urlkey(pattern)
    if pattern.endswith("/") and not key.endswith("/"):
        return [f"{key} ", f"{key}/", f"{key}?"]
    return [key]


def _text(table: Mapping[str, object], key: str) -> str | None:
    value = table.get(key)
    return str(value) if value is not None else None


def _digits(table: Mapping[str, object], key: str) -> str | None:
    text = _text(table, key)
    if text is not None:
        text = re.sub(r"[-:TZ ]", "", text)
        if not _DIGITS.match(text):
            raise ValueError(f"{key} is a date such as 2024 or 2024-02-29")
    return text


def _after(digits: str | None) -> str:
    """What comes after everything that begins with these digits."""
    return "~" if digits is None else digits + "~"


def _age(table: Mapping[str, object], key: str) -> timedelta | None:
    text = _text(table, key)
    if text is None:
        return None
    match = _AGE.match(text)
    if match is None:
        raise ValueError(f"{key} is an age such as 30 days, 6 months or 2 years")
    return timedelta(days=int(match[1]) * _DAYS[match[2]])


def _before(now: str, age: timedelta) -> str:
    """The moment of that age, as 14 digits; empty if it is before all captures."""
    moment = parse_digits_date(now)
    if moment is None:
        raise ValueError(f"now has 14 digits: {now!r}")
    try:
        return format_14(moment - age)
    except OverflowError:
        return ""
