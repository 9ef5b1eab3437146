"""What HBase, Thrift and sockets raise, as errors of ours.

HBase hands over a Java stack trace; its kind is told by the names of the exceptions in it.
What is not known to be final is taken to pass: regions move, servers come back.
"""

from __future__ import annotations

import re
from http.client import HTTPException

from pinakes.errors import ConfigError, PinakesError, SchemaError, StoreUnavailable

_FINAL: tuple[tuple[str, type[PinakesError], str], ...] = (
    ("TableNotFoundException", SchemaError, "HBase lacks a table: run `pinakes init`"),
    ("NoSuchColumnFamilyException", SchemaError, "HBase lacks a family: run `pinakes init`"),
    ("NamespaceNotFoundException", SchemaError, "HBase lacks the namespace: run `pinakes init`"),
    ("AccessDeniedException", ConfigError, "HBase does not permit this to the user we are"),
    ("KeyValue size too large", ConfigError, "HBase takes no cell as large as this one"),
    ("hbase.table.sanity.checks", SchemaError, "HBase does not take the table as it is declared"),
    ("previously failed test", SchemaError, "HBase lacks the codec of a declared compression"),
    ("is not permitted to impersonate", ConfigError, "HBase does not let us act for that user"),
)  # fmt: skip
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
        if sign in text:
            return kind(f"{words} ({_cause(text)})")
    if isinstance(error, TimeoutError):
        return StoreUnavailable(f"HBase's Thrift server {server} does not answer")
    return StoreUnavailable(
        f"HBase cannot be reached through {server}: {_cause(text) or type(error).__name__}"
    )


def _cause(text: str) -> str:
    """The last cause that a stack trace names, without its package."""
    causes = _CAUSE.findall(text)
    return str(causes[-1] if causes else text.partition("\n")[0])[:300]
