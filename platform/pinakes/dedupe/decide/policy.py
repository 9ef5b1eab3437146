"""Dedupe policies: which duplicates a collection, or a crawl, wants as revisits.

Pure.  A policy makes no record a duplicate, it only keeps some from becoming one: those stay full
records, and others may refer to them.  The last table that fits a crawl is its policy, so that
general ones come first; without one, every duplicate becomes a revisit.

    [[dedupe]]
    collection = "news"
    min_bytes = 1024                smaller bodies stay full
    media_types = ["text/*"]        so do those of other types
    statuses = [200]                and with other statuses

    [[dedupe]]
    crawl = "legal-2026"
    same_url = true                 an original has the URL of the copy
    not_older_than = "30 days"      and is of the same 30 days

    [[dedupe]]
    crawl = "evidence"
    off = true                      all stay full

Ages are counted in whole periods since 1970-01-01: a copy refers to an original of its own period.
So whether two captures may refer to each other depends on these two alone, in any order, on any
number of machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from pinakes.errors import ConfigError
from pinakes.hbase_schema.text import check_name
from pinakes.index.urlkey import urlkey

from .clusters import POLICY_MEDIA_TYPE, POLICY_OFF, POLICY_SIZE, POLICY_STATUS, format_flags

_KEYS = frozenset(
    {
        "collection",
        "crawl",
        "off",
        "min_bytes",
        "media_types",
        "statuses",
        "same_url",
        "not_older_than",
    }
)
_AGE = re.compile(r"\s*(\d{1,5})\s*days?\s*\Z", re.ASCII)
# RFC 6838 §4.2.
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/(?:[\w!#$&^.+-]+|\*)\Z", re.ASCII)
_EPOCH_DAY = date(1970, 1, 1).toordinal()

SAME_URL, WITHIN = "same-url", "within-"
"""How a scope is written in a line's `marks=`: `same-url`, `within-30` (days), or both."""
_SCOPE = re.compile(rf"{SAME_URL}\Z|{WITHIN}[1-9][0-9]{{0,4}}\Z")


class _Wrong(Exception):
    """What is wrong with a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupePolicy:
    """What becomes a revisit in the crawls that it is for; None: of any size, type, status, age.

    `media_types` are in lower case; `image/*` stands for all images.
    """

    collection: str | None = None
    crawl: str | None = None
    off: bool = False
    min_bytes: int = 0
    media_types: tuple[str, ...] | None = None
    statuses: frozenset[int] | None = None
    same_url: bool = False
    within_days: int | None = None

    def exemption(self, *, size: int, media_type: str | None, status: int | None) -> int:
        """The flag that says why such a record stays full: one of `clusters.POLICY_…`, or 0.

        `size` is that of the stored body, in bytes.
        """
        if self.off:
            return POLICY_OFF
        if size < self.min_bytes:
            return POLICY_SIZE
        if self.media_types is not None and not self._names((media_type or "").lower()):
            return POLICY_MEDIA_TYPE
        if self.statuses is not None and status not in self.statuses:
            return POLICY_STATUS
        return 0

    @property
    def wants_all(self) -> bool:
        """Whether it keeps nothing full."""
        return replace(self, collection=None, crawl=None) == EVERYTHING

    def why_no_original(
        self,
        *,
        size: int,
        media_type: str | None,
        status: int | None,
        second: str,
        now: str,
        has_url: bool,
    ) -> str | None:
        """Why a capture of today may not refer to such an original, though it has its body.

        `second` and `now` have 14 digits; `has_url`: both have one URL.  The capture is taken to
        have the media type and status of the original.
        """
        flags = self.exemption(size=size, media_type=media_type, status=status)
        if flags:
            return format_flags(flags)
        if self.same_url and not has_url:
            return f"policy-{SAME_URL}: ask by URL"
        scope = f"{WITHIN}{self.within_days}"
        if self.within_days and scoped_content(scope, "", second) != scoped_content(scope, "", now):
            return f"policy-{scope}"
        return None

    def _names(self, media_type: str) -> bool:
        kinds = (media_type, media_type.partition("/")[0] + "/*")
        return any(kind in kinds for kind in self.media_types or ())

    @property
    def scope(self) -> str:
        """Where originals are looked for, as in `marks=`; empty: everywhere."""
        parts = [SAME_URL] if self.same_url else []
        if self.within_days is not None:
            parts.append(f"{WITHIN}{self.within_days}")
        return ",".join(parts)


EVERYTHING = DedupePolicy()
"""Every duplicate becomes a revisit."""


@dataclass(frozen=True, slots=True)
class DedupePolicies:
    """All policies, in their order."""

    policies: tuple[DedupePolicy, ...] = ()

    def of(self, collection: str, crawl: str) -> DedupePolicy:
        """The policy for a crawl."""
        for policy in reversed(self.policies):
            if policy.collection in (None, collection) and policy.crawl in (None, crawl):
                return policy
        return EVERYTHING


NO_POLICIES = DedupePolicies()


def parse_policies(tables: Iterable[Mapping[str, object]]) -> DedupePolicies:
    """Policies as they stand in `pinakes.toml`.

    Raises:
        ConfigError: naming the policy by its number.
    """
    return DedupePolicies(tuple(_policy(table, n) for n, table in enumerate(tables, 1)))


def _policy(table: Mapping[str, object], number: int) -> DedupePolicy:
    try:
        _check_keys(table)
        return DedupePolicy(
            collection=_text(table, "collection"),
            crawl=_text(table, "crawl"),
            off=_flag(table, "off"),
            min_bytes=_bytes(table),
            media_types=_media_types(table),
            statuses=_statuses(table),
            same_url=_flag(table, "same_url"),
            within_days=_days(table),
        )
    except _Wrong as error:
        raise ConfigError(f"dedupe policy {number}: {error}") from error


def _check_keys(table: Mapping[str, object]) -> None:
    if unknown := sorted(set(table) - _KEYS):
        raise _Wrong(f"unknown key {unknown[0]}: known are {', '.join(sorted(_KEYS))}")


def _text(table: Mapping[str, object], key: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    try:
        check_name(value if isinstance(value, str) else "", f"a {key}")
    except ConfigError as error:
        raise _Wrong(f"{key} must be a name: {value!r} is none") from error
    return str(value)


def _flag(table: Mapping[str, object], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise _Wrong(f"{key} must be true or false")
    return value


def _bytes(table: Mapping[str, object]) -> int:
    value = table.get("min_bytes", 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Wrong("min_bytes must be a number of bytes")
    return value


def _media_types(table: Mapping[str, object]) -> tuple[str, ...] | None:
    given = table.get("media_types")
    if given is None:
        return None
    if not isinstance(given, list) or not given:
        raise _Wrong('media_types must be a list such as ["text/html", "image/*"]')
    for one in given:
        if not isinstance(one, str) or not _MEDIA_TYPE.match(one):
            raise _Wrong(f"media_types: {one!r} is neither a type nor one such as image/*")
    return tuple(sorted({one.lower() for one in given}))


def _statuses(table: Mapping[str, object]) -> frozenset[int] | None:
    given = table.get("statuses")
    if given is None:
        return None
    if not isinstance(given, list) or not given:
        raise _Wrong("statuses must be a list such as [200, 404]")
    for one in given:
        if not isinstance(one, int) or isinstance(one, bool) or not 100 <= one <= 999:
            raise _Wrong(f"statuses: {one!r} is not a status such as 200")
    return frozenset(given)


def _days(table: Mapping[str, object]) -> int | None:
    given = table.get("not_older_than")
    if given is None:
        return None
    match = _AGE.match(given) if isinstance(given, str) else None
    if match is None or not int(match[1]):
        raise _Wrong('not_older_than must be a time such as "30 days"')
    return int(match[1])


@lru_cache(maxsize=256)
def scope_of(marks: str | None) -> str:
    """The scope among a line's `marks`, as `DedupePolicy.scope` writes it; empty where none is."""
    if marks is None:
        return ""
    return ",".join(name for name in marks.split(",") if _SCOPE.match(name))


def format_marks(flags: int, scope: str) -> str | None:
    """A line's `marks`: the names of these flags, and the scope; None for neither."""
    return ",".join(filter(None, (format_flags(flags), scope))) or None


def scoped_content(scope: str, target_uri: str, second: str) -> str:
    """What two captures of one content have in common that may refer to each other in a scope.

    `second` has 14 digits.
    """
    parts = []
    for name in scope.split(","):
        if name == SAME_URL:
            parts.append(urlkey(target_uri))
        else:
            day = date(int(second[:4]), int(second[4:6]), int(second[6:8])).toordinal()
            parts.append(str((day - _EPOCH_DAY) // int(name[len(WITHIN) :])))
    return " ".join((scope, *parts))
