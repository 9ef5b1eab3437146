"""Which exit code an error is, in one table; the line that says it, and how often a kind is named.

The codes are those that scripts rely on (docs/cli.md).  128 + n is left to shells.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Hashable, Iterator
from enum import IntEnum
from types import MappingProxyType
from typing import Generic, TypeVar

from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
    SchemaError,
    StoreUnavailable,
    UnresolvedReference,
)


class Exit(IntEnum):
    """What a run of `pinakes` came to."""

    DONE = 0
    FOUND = 1
    """Done, with something found: check, validate, fsck, init --check, qa."""
    WRONG_CALL = 2
    """Wrong call, configuration or schema, or a missing extra."""
    SOME_FAILED = 3
    """Some inputs failed or were refused; the rest is done, and each is named."""
    STORE = 4
    """A store is not reachable, or full."""
    STOPPED = 5
    """Stopped by a signal; safe to run again."""
    BUG = 70
    """A defect of Pinakes itself (EX_SOFTWARE of sysexits.h)."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, raised where Ctrl-C would be, and treated alike."""


_BY_CLASS = MappingProxyType(
    {
        ConfigError: Exit.WRONG_CALL,  # MissingExtra is one
        SchemaError: Exit.WRONG_CALL,
        MalformedRecord: Exit.SOME_FAILED,
        DigestMismatch: Exit.SOME_FAILED,
        UnresolvedReference: Exit.SOME_FAILED,
        InputRefused: Exit.SOME_FAILED,
        Conflict: Exit.SOME_FAILED,
        PinakesError: Exit.SOME_FAILED,
        StoreUnavailable: Exit.STORE,
        KeyboardInterrupt: Exit.STOPPED,
        # The process that read our output has stopped reading: no more than a signal, SIGPIPE.
        BrokenPipeError: Exit.STOPPED,
        OSError: Exit.SOME_FAILED,
    }
)

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def exit_for(error: BaseException) -> Exit:
    """The exit code of the nearest class in the table; BUG where none of them fits."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return Exit.STORE
    for cls in type(error).__mro__:
        if cls in _BY_CLASS:
            return _BY_CLASS[cls]
    return Exit.BUG


def describe(error: BaseException) -> str:
    """The text for people: what happened, where, and what to do.  May hold any character."""
    if isinstance(error, KeyboardInterrupt):
        return "stopped; safe to run again"
    if isinstance(error, OSError):
        return _describe_os_error(error)
    if exit_for(error) is Exit.BUG:
        kind = type(error).__name__
        return f"this is a bug in pinakes: {kind}: {error} (-v prints the traceback; report it)"
    return str(error)


def _describe_os_error(error: OSError) -> str:
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    where = " -> ".join(names)
    if error.errno in _FULL:
        place = f" at {where}" if where else ""
        why = "over quota" if error.errno == errno.EDQUOT else "full"
        return f"the disk is {why}{place}: make room and run it again; what is done stays done"
    reason = error.strerror or str(error) or type(error).__name__
    return f"{where}: {reason}" if where else reason


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
