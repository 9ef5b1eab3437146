"""Translates errors of HBase, Thrift and sockets to ours.

HBase sends a Java stack trace; the exception names in it determine the kind of error.  (For a
batch on a missing table it names the table and no exception.)  Errors not known to be final count
as temporary: regions move, servers come back.
"""

from __future__ import annotations

import re
from http.client import HTTPException

from pinakes.errors import ConfigError, PinakesError, SchemaError, StoreUnavailable

_NO_TABLE = r"Failed \d+ actions?: (?!\w+(?:Exception|Error):)[\w.:-]+: \d+ times?,"
_INIT = "run `pinakes init`"
_FINAL: tuple[tuple[str, type[PinakesError], str], ...] = (
    (f"TableNotFoundException|{_NO_TABLE}", SchemaError, f"a table is missing in HBase: {_INIT}"),
    ("Column family .* does not exist", SchemaError, f"a family is missing in HBase: {_INIT}"),
    ("NamespaceNotFoundException", SchemaError, f"the namespace is missing in HBase: {_INIT}"),
    ("hbase.table.sanity.checks", SchemaError, "HBase refuses the table as declared"),
    ("AccessDeniedException", ConfigError, "this user has no permission for it in HBase"),
    ("not allowed to impersonate", ConfigError, "HBase does not allow impersonating that user"),
    ("KeyValue size too large", ConfigError, "the cell is too large for HBase"),
)
_CAUSE = re.compile(r"(?:^|\bCaused by: )(?:[\w$.]+\.)?(\w+(?:: .*)?)$", re.MULTILINE)


def passing_errors() -> tuple[type[Exception], ...]:
    """What a call may raise; after any of these the connection must be discarded."""
    from thriftpy2.thrift import TException  # the base class of HBase's own errors

    return (TException, OSError, EOFError, HTTPException)


def translated(error: Exception, server: object) -> PinakesError:
    """Our error; StoreUnavailable for all that may be repeated."""
    message = getattr(error, "message", None)
    text = (
        message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message or error)
    )
    for sign, kind, words in _FINAL:
        if re.search(sign, text):
            return kind(f"{words} ({_cause(text)})")
    if isinstance(error, TimeoutError):
        return StoreUnavailable(
            f"HBase does not answer: the Thrift server {server}, or a region server behind it"
        )
    return StoreUnavailable(
        f"HBase cannot be reached through {server}: {_cause(text) or type(error).__name__}"
    )


def _cause(text: str) -> str:
    """The last cause that a stack trace names, without its package."""
    causes = _CAUSE.findall(text)
    return str(causes[-1] if causes else text.partition("\n")[0])[:300]
