"""What a study comes to: figures, and the tables they stand in; pure.

captures      that take part: those that dedupe could merge (docs/study.md)
duplicates    of those, all but the first of each content
body bytes    of stored bodies, as landed; what repeats in them is `duplicate_bytes`
file bytes    what records take in archive files today, compressed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

OTHERS = "(others)"
UNKNOWN = "(unknown)"
DEDUPE_SCOPE = "within each collection"
"""The scope in which `dedupe` finds duplicates."""

LARGEST = 1000
"""Groups of a table, at most; the rest is one, `OTHERS`, so that sums stay true."""

SIZE_CLASSES = (
    ("under 1 KiB", 1 << 10),
    ("1 to 10 KiB", 10 << 10),
    ("10 to 100 KiB", 100 << 10),
    ("100 KiB to 1 MiB", 1 << 20),
    ("1 to 10 MiB", 10 << 20),
    ("10 to 100 MiB", 100 << 20),
    ("100 MiB and more", None),
)
"""Classes of bodies, and the size in bytes that each stays below."""


COUNTS = (
    "captures",
    "duplicates",
    "body_bytes",
    "duplicate_bytes",
    "file_bytes",
    "duplicate_file_bytes",
)
"""What is counted of each group: the fields of a `Share` after its name."""


def percent(part: int, whole: int) -> float | None:
    """A part in percent; None of nothing."""
    return 100 * part / whole if whole else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFigures:
    """One crawl: a line of the Webstore paper's Table 1, its shares as counts.

    `mean_time` is that of its captures, in seconds of Unix time; None
    where none takes part.  `of_last` counts captures
    whose content is in `last` too, the crawl before it in its collection; `persistent` counts
    URLs that are there too.  None where there is none.
    """

    crawl: str
    collection: str
    mean_time: int | None
    captures: int
    urls: int
    contents: int
    body_bytes: int
    duplicate_bytes: int
    last: str | None = None
    of_last: int | None = None
    of_last_bytes: int | None = None
    persistent: int | None = None

    @property
    def duplicates(self) -> int:
        return self.captures - self.contents

    @property
    def shares(self) -> dict[str, float | None]:
        """The paper's three, in percent: of captures, of captures, of URLs."""
        return {
            "duplicates_percent": percent(self.duplicates, self.captures),
            "of_last_percent": _percent_of_last(self.of_last, self.captures),
            "persistent_percent": _percent_of_last(self.persistent, self.urls),
        }

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "duplicates": self.duplicates, **self.shares}


def _percent_of_last(part: int | None, whole: int) -> float | None:
    return percent(part, whole) if part is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Captures of one group, or under one scope, and what of them repeats."""

    name: str
    captures: int
    duplicates: int
    body_bytes: int
    duplicate_bytes: int
    file_bytes: int
    duplicate_file_bytes: int

    def as_json(self) -> dict[str, object]:
        return {
            **asdict(self),
            "duplicates_percent": percent(self.duplicates, self.captures),
            "duplicate_bytes_percent": percent(self.duplicate_bytes, self.body_bytes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All figures.  `crawls` by collection and time; tables by name, `left_out` by reason."""

    crawls: Sequence[CrawlFigures] = ()
    scopes: Sequence[Share] = ()
    tables: Mapping[str, Sequence[Share]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def gain(self, scope: Share) -> dict[str, int]:
        """What a scope adds to that of `dedupe`: captures that repeat, and their bytes."""
        usual = next(share for share in self.scopes if share.name == DEDUPE_SCOPE)
        return {
            "more_duplicates": scope.duplicates - usual.duplicates,
            "more_duplicate_bytes": scope.duplicate_bytes - usual.duplicate_bytes,
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "crawls": [crawl.as_json() for crawl in self.crawls],
            "scopes": [{**scope.as_json(), **self.gain(scope)} for scope in self.scopes],
            **{name: [share.as_json() for share in rows] for name, rows in self.tables.items()},
            "left_out": dict(sorted(self.left_out.items())),
        }


def by_weight(shares: Iterable[Share], total: Share) -> list[Share]:
    """The groups that repeat the most bytes, those first, and all others as one."""
    kept = sorted(shares, key=lambda share: (-share.duplicate_bytes, share.name))[:LARGEST]
    rest = {name: getattr(total, name) - sum(getattr(s, name) for s in kept) for name in COUNTS}
    return [*kept, Share(name=OTHERS, **rest)] if rest["captures"] else kept
