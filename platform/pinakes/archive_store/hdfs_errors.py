"""What hdfs-native raises, as errors of ours.  Pure.

It has exceptions of its own for little; the rest is a RuntimeError with the name of the Java
class and its stack trace as text.  What is not known to be final is taken to pass: data
nodes come back, name nodes start.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pinakes.errors import ConfigError, InputRefused, PinakesError, StoreUnavailable

FOREIGN = (OSError, RuntimeError, UnicodeEncodeError)
"""What a call of hdfs-native may raise."""


class NotThere(InputRefused):
    """There is no file of that name."""


class TakenOver(StoreUnavailable):
    """What was written aside is no longer ours."""


class Failure(NamedTuple):
    """An error of ours; `passes` where asking again may mend it."""

    error: PinakesError
    passes: bool


NOT_CLOSED = "Failed to complete file in time"

_NOTHING_PUBLISHED = "and nothing was published"
_MAKE_ROOM = "make room (or see which data nodes are away), and run it again"
_SIGNS: tuple[tuple[str, type[PinakesError], bool, str], ...] = (
    ("No lease on|LeaseExpired", TakenOver, False, "another writer took the place of this one"),
    ("FileNotFound", NotThere, False, "there is no such file in the store"),
    (
        "is not a directory|ParentNotDirectory",
        NotThere,
        False,
        "there is no such file in the store",
    ),
    ("FileExists|AlreadyExists", InputRefused, False, "a file of that name is there already"),
    ("must both be directories", InputRefused, False, "a folder of that name is there already"),
    ("InvalidPath|Invalid path|UnicodeEncode", InputRefused, False, "HDFS takes no such name"),
    ("PathComponentTooLong", InputRefused, False, "HDFS takes no name so long"),
    (
        "SafeModeException|in safe mode",
        StoreUnavailable,
        True,
        "HDFS is in safe mode, and takes no changes: wait until it has left it, and run it again",
    ),
    (
        "QuotaExceeded|quota of .* is exceeded",
        StoreUnavailable,
        False,
        f"the quota of the folder is full, {_NOTHING_PUBLISHED}: {_MAKE_ROOM}",
    ),
    (
        r"could only be written to \d+ of|NotEnoughReplicas",
        StoreUnavailable,
        True,
        f"HDFS has no room for another block, {_NOTHING_PUBLISHED}: {_MAKE_ROOM}",
    ),
    (
        "AccessControlException|Permission denied",
        StoreUnavailable,
        False,
        "HDFS does not permit this to the user we are: ask for the folder's permissions",
    ),
    (
        "SASL|GSSAPI|Kerberos|AuthenticationMethod|not allowed to impersonate",
        StoreUnavailable,
        False,
        "HDFS does not know who we are: see that there is a ticket (kinit), or a keytab",
    ),
    (
        "UnsupportedFeature|UnsupportedErasure",
        ConfigError,
        False,
        "not done in erasure-coded or encrypted folders: give the archive a plain one",
    ),
    (
        "StandbyException|observer",
        StoreUnavailable,
        True,
        "no name node is active",
    ),
    (
        "All (DataNodes|nodes) failed|BlockMissing|BlocksNotFound|DataTransferError",
        StoreUnavailable,
        True,
        "data nodes of HDFS are away",
    ),
    ("TimeoutError", StoreUnavailable, True, "HDFS does not answer"),
    (NOT_CLOSED, StoreUnavailable, True, "HDFS did not confirm the last block"),
)
_JAVA = re.compile(r"(?:\\n\\tat |\n\tat ).*", re.DOTALL)


def failure_of(error: Exception, name: str) -> Failure:
    """The error of ours about `name`."""
    text = _JAVA.sub("", f"{type(error).__name__}: {error}")
    for sign, kind, passes, words in _SIGNS:
        if re.search(sign, text):
            cause = "" if issubclass(kind, InputRefused) else f" ({text:.200})"
            return Failure(kind(words + cause, file=name), passes)
    return Failure(
        StoreUnavailable(f"HDFS cannot be reached, or failed: {text:.300}", file=name), True
    )
