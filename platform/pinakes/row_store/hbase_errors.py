"""What HBase, Thrift and sockets raise, as errors of ours.

HBase hands over a Java stack trace; its kind is told by the names of the exceptions in it.
(Of a batch it names the table and no exception where there is no such table.)
What is not known to be final is taken to pass: regions move, servers come back.
"""

from __future__ import annotations

import re
from http.client import HTTPException

from pinakes.errors import ConfigError, PinakesError, SchemaError, StoreUnavailable

_NO_TABLE = r"Failed \d+ actions?: (?!\w+(?:Exception|Error):)[\w.:-]+: \d+ times?,"
_INIT = "run `pinakes init`"
_FINAL: tuple[tuple[str, type[PinakesError], str], ...] = (
    (f"TableNotFoundException|{_NO_TABLE}", SchemaError, f"HBase lacks a table: {_INIT}"),
    ("Column family .* does not exist", SchemaError, f"HBase lacks a family: {_INIT}"),
    ("NamespaceNotFoundException", SchemaError, f"HBase lacks the namespace: {_INIT}"),
    ("hbase.table.sanity.checks", SchemaError, "HBase does not take the table as declared"),
    ("AccessDeniedException", ConfigError, "HBase does not permit this to the user we are"),
    ("not allowed to impersonate", ConfigError, "HBase does not let us act for that user"),
    ("KeyValue size too large", ConfigError, "HBase takes no cell as large as this one"),
)
_CAUSE = re.compile(r"(?:^|\bCaused by: )(?:[\w$.]+\.)?(\w+(?:: .*)?)$", re.MULTILINE)


def passing_errors() -> tuple[type[Exception], ...]:
    """What a call may raise; after any of these the connection is of no more use."""
    from thriftpy2.thrift import TException  # of which HBase's own errors are

    return (TException, OSError, EOFError, HTTPException)


def translated(error: Exception, server: object) -> PinakesError:
    """The error of ours; StoreUnavailable for all that may be tried again."""
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
