"""Translates exceptions of hdfs-native to ours.  Pure.

It has few exceptions of its own; the rest are RuntimeErrors with the name of the Java class and
its stack trace as text.  Errors not known to be final count as temporary: data nodes come back,
name nodes start.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pinakes.errors import ConfigError, InputRefused, PinakesError, StoreUnavailable

FOREIGN = (OSError, RuntimeError, UnicodeEncodeError)
"""What a call of hdfs-native may raise."""


class HdfsFileNotFound(InputRefused):
    """There is no file of that name."""


class TakenOver(StoreUnavailable):
    """Another writer has taken over the file that was written aside."""


class HdfsFailure(NamedTuple):
    """An error of ours; `passes` if repeating the call may help."""

    error: PinakesError
    passes: bool


NOT_CLOSED = "Failed to complete file in time"

_NOTHING_PUBLISHED = "and nothing was published"
_MAKE_ROOM = "make room (or find out which data nodes are down), and run it again"
_SIGNS: tuple[tuple[str, type[PinakesError], bool, str], ...] = (
    ("No lease on|LeaseExpired", TakenOver, False, "another writer has taken over this file"),
    ("FileNotFound", HdfsFileNotFound, False, "file not found in the store"),
    (
        "is not a directory|ParentNotDirectory",
        HdfsFileNotFound,
        False,
        "file not found in the store",
    ),
    ("FileExists|AlreadyExists", InputRefused, False, "a file of this name exists already"),
    ("must both be directories", InputRefused, False, "a folder of this name exists already"),
    ("InvalidPath|Invalid path|UnicodeEncode", InputRefused, False, "HDFS refuses this name"),
    ("PathComponentTooLong", InputRefused, False, "this name is too long for HDFS"),
    (
        "SafeModeException|in safe mode",
        StoreUnavailable,
        True,
        "HDFS is in safe mode and accepts no changes: wait until it leaves it, and run it again",
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
        "this user has no permission for it in HDFS: have the folder's permissions changed",
    ),
    (
        "SASL|GSSAPI|Kerberos|AuthenticationMethod|not allowed to impersonate",
        StoreUnavailable,
        False,
        "HDFS cannot authenticate this user: get a ticket (kinit), or configure a keytab",
    ),
    (
        "UnsupportedFeature|UnsupportedErasure",
        ConfigError,
        False,
        "erasure-coded and encrypted folders are not supported: use a plain one for the archive",
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
        "data nodes of HDFS are down",
    ),
    ("TimeoutError", StoreUnavailable, True, "HDFS does not answer"),
    (NOT_CLOSED, StoreUnavailable, True, "HDFS did not confirm the last block"),
)
_JAVA = re.compile(r"(?:\\n\\tat |\n\tat ).*", re.DOTALL)


def failure_of(error: Exception, name: str) -> HdfsFailure:
    """The error of ours about `name`."""
    text = _JAVA.sub("", f"{type(error).__name__}: {error}")
    for sign, kind, passes, words in _SIGNS:
        if re.search(sign, text):
            cause = "" if issubclass(kind, InputRefused) else f" ({text:.200})"
            return HdfsFailure(kind(words + cause, file=name), passes)
    return HdfsFailure(
        StoreUnavailable(f"HDFS cannot be reached, or it failed: {text:.300}", file=name), True
    )
