"""Which exit code an error is: one table, and the one-line message that goes with it.

The codes are those that scripts rely on (docs/cli.md).  128 + n is left to shells.
"""

from __future__ import annotations

import errno
from enum import IntEnum
from types import MappingProxyType

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
        # Whoever read our output has stopped reading: no more than a signal, SIGPIPE.
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
    """What to tell people: what happened, where, and what to do.  May hold any character."""
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
