"""Pipelining: several calls on one connection, sent before the first answer is read.

A Thrift server answers the calls of a connection in order.  Unread data must fit into the buffers
between the two: short calls, or short answers to all but the last of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .hbase_connection import HBaseConnection


class Call(NamedTuple):
    """A call: its name in the interface, and its arguments, in order."""

    name: str
    given: tuple[Any, ...]


def ask_ahead(client: Any, calls: Sequence[Call], connection: HBaseConnection) -> list[Any]:
    """The results of these calls, in order; raises the first error.

    After an error, answers remain unread: the client must be discarded.  Over HTTP every call is
    a request of its own, and they are sent one by one.
    """
    if connection.transport == "http":
        return [getattr(client, name)(*given) for name, given in calls]
    for name, given in calls:
        _write(client, name, given)
        if connection.transport == "framed":  # one frame per call
            client._oprot.trans.flush()
    client._oprot.trans.flush()
    return [client._recv(name) for name, _ in calls]


def _write(client: Any, name: str, given: tuple[Any, ...]) -> None:
    """What `TClient` sends, without sending it."""
    from thriftpy2.thrift import TMessageType

    arguments = getattr(client._service, f"{name}_args")()
    for number, value in enumerate(given, start=1):
        setattr(arguments, arguments.thrift_spec[number][1], value)
    client._oprot.write_message_begin(name, TMessageType.CALL, client._seqid)
    arguments.write(client._oprot)
    client._oprot.write_message_end()
