"""What repeats is named three times, and then counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from pinakes.errors import PinakesError

Kind = TypeVar("Kind", bound=Hashable)
_NAMED = 3


class Repeats(Generic[Kind]):
    """Counts how often each kind was met.  Memory: an entry a kind, `most_kinds` if given."""

    def __init__(self, most_kinds: int | None = None) -> None:
        self._counts: Counter[Kind] = Counter()
        self._most_kinds = most_kinds

    def is_named(self, kind: Kind) -> bool:
        """Count one; whether it is among the first of its kind.  So is any beyond `most_kinds`."""
        if kind not in self._counts and len(self._counts) == self._most_kinds:
            return True
        self._counts[kind] += 1
        return self._counts[kind] <= _NAMED

    def take_counted(self) -> Iterator[tuple[Kind, int]]:
        """Yield each kind with the number of those that were only counted; forget all."""
        counts, self._counts = self._counts, Counter()
        for kind, count in counts.items():
            if count > _NAMED:
                yield kind, count - _NAMED


def kind_of(problem: BaseException | str) -> str | None:
    """What a problem has in common with those of other records; None: it is always named.

    Problems of a whole file are: who reads them wants to know which files failed.
    """
    if not isinstance(problem, PinakesError):
        return None
    return problem.kind or (problem.message if problem.offset is not None else None)
