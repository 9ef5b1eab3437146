"""What may be given out: access rules.  Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRules:
    """Nothing is restricted."""

    @property
    def is_open(self) -> bool:
        """Whether nothing is restricted."""
        return True

    def admits(self, *, urlkey: str, time: str, collection: str, crawl: str, now: str) -> bool:
        """Whether a capture may be given out; `time` has 14 or 17 digits, `now` 14."""
        return True
