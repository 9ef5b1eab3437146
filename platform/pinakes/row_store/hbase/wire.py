"""Opens Thrift clients of HBase: sockets, TLS, SASL, HTTP.

The interface of rows is happybase's; its `Connection` supports neither TLS nor SASL nor HTTP, and
its `Batch` merges what must be separate calls, so calls are made directly.  The interface of
tables is our `tables.thrift`.  Nothing is repeated here.

Pipelining sends several calls on one connection before the first answer is read: the server
answers the calls of a connection in order.  Unread data must fit into the buffers between the
two: short calls, or short answers to all but the last of them.
"""

from __future__ import annotations

import ssl
import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Any, NamedTuple

from pinakes.errors import MissingExtra
from pinakes.extras import missing_extra
from pinakes.waiting import NOTICE_AFTER_S, Waiting

from .connection import HBaseConnection, Sasl, Server, Tls


@cache
def rows_interface() -> ModuleType:
    """HBase's first Thrift interface: the service `Hbase` and its types."""
    _module("happybase")  # which makes the other of its interface definition
    module: ModuleType = _module("Hbase_thrift")
    return module


@cache
def tables_interface() -> ModuleType:
    """The parts we use of HBase's second interface: the service `THBaseService`."""
    with files(__package__).joinpath("tables.thrift").open("r", encoding="utf-8") as source:
        module: ModuleType = _module("thriftpy2").load_fp(source, "pinakes_hbase_tables_thrift")
    return module


def open_client(service: Any, server: Server, connection: HBaseConnection, waiting: Waiting) -> Any:
    """A connected `TClient` of a service; `close()` ends it.

    `waiting` logs answers that take long (not over HTTP).

    Raises what sockets, TLS and SASL raise; `hbase_calls` translates that.
    """
    protocols = _module("thriftpy2.protocol")
    transport = _transport(server, connection, waiting)
    protocol = protocols.TCompactProtocol if connection.compact else protocols.TBinaryProtocol
    transport.open()
    client = _module("thriftpy2.thrift").TClient
    return client(service, protocol(transport, decode_response=False))


_BUFFER_BYTES = 1 << 15
"""thriftpy2's own is 4 KiB, a thousand reads of a socket for each piece of a scan; above 128 KiB
the system gives and takes back the memory of every read."""


def _transport(server: Server, connection: HBaseConnection, waiting: Waiting) -> Any:
    transports = _module("thriftpy2.transport")
    if connection.transport == "http":
        return transports.TBufferedTransport(_http(server, connection), _BUFFER_BYTES)
    timeout_ms = max(1, int(1000 * connection.timeout_s))
    if connection.tls is None:
        socket = transports.TSocket(*server, socket_timeout=timeout_ms)
    else:
        context = tls_context(connection.tls)
        socket = transports.TSSLSocket(*server, socket_timeout=timeout_ms, ssl_context=context)
    _tell_of_slow_reads(socket, connection.timeout_s, waiting, server)
    if connection.sasl is not None:
        sasl = connection.sasl
        socket = transports.TSaslClientTransport(
            lambda: _SaslClient(sasl, server.host), sasl.mechanism, socket
        )
        return socket if connection.transport == "buffered" else transports.TFramedTransport(socket)
    if connection.transport == "framed":
        return transports.TFramedTransport(socket)
    return transports.TBufferedTransport(socket, _BUFFER_BYTES)


def _tell_of_slow_reads(socket: Any, timeout_s: float, waiting: Waiting, server: Server) -> None:
    """Make the socket's reads log when an answer takes long, and continue waiting."""
    read = socket.read

    def read_telling(size: int) -> Any:
        socket.sock.settimeout(NOTICE_AFTER_S)
        try:
            return read(size)
        except TimeoutError:
            why = f"the Thrift server {server}, or a region server behind it, has not answered yet"
            waiting.tell(NOTICE_AFTER_S, why)
            socket.sock.settimeout(timeout_s - NOTICE_AFTER_S)
            return read(size)
        finally:
            if socket.sock is not None:  # closed by what went wrong
                socket.sock.settimeout(timeout_s)

    if timeout_s > NOTICE_AFTER_S:
        socket.read = read_telling


def _http(server: Server, connection: HBaseConnection) -> Any:
    # Not kept alive: on a kept connection that broke, thriftpy2 would send a call again by
    # itself, and a check-and-put that had been done would come back as refused.
    http = _module("thriftpy2.http")
    tls = connection.tls
    scheme = "http" if tls is None else "https"
    return http.THttpClient(
        f"{scheme}://{server}{connection.http_path}",
        timeout=int(1000 * connection.timeout_s),
        ssl_context_factory=None if tls is None else lambda: tls_context(tls),
        http_header_factory=http.THttpHeaderFactory(
            {"doAs": connection.do_as} if connection.do_as else None
        ),
    )


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Certificates are verified, and names are compared."""
    context = ssl.create_default_context(cafile=tls.ca_file)
    if tls.certificate_file is not None:
        context.load_cert_chain(tls.certificate_file, tls.key_file)
    return context


class _SaslClient:
    """`puresasl` under the names by which thriftpy2 calls a SASL library."""

    def __init__(self, sasl: Sasl, host: str) -> None:
        library = _module("puresasl.client")
        password = {"username": sasl.username, "password": sasl.password}
        given = password if sasl.mechanism == "PLAIN" else {}
        try:
            self._client = library.SASLClient(host, sasl.service, sasl.mechanism, **given)
        except Exception as error:  # without a Kerberos library
            raise MissingExtra(f"SASL: {error}: pip install kerberos") from error

    def start(self, mechanism: str) -> tuple[bool, str, bytes]:
        return True, mechanism, self._process(None)

    def step(self, challenge: bytes) -> tuple[bool, bytes]:
        return True, self._process(challenge)

    def _process(self, challenge: bytes | None) -> bytes:
        try:
            return self._client.process(challenge) or b""
        except Exception as error:  # Kerberos has classes of its own
            raise ConnectionError(f"SASL: {error}") from error

    def encode(self, plain: bytes) -> tuple[bool, bytes]:
        wrapped = self._client.wrap(plain)
        return True, plain if wrapped == plain else struct.pack(">I", len(wrapped)) + wrapped

    def decode(self, frame: bytes) -> tuple[bool, bytes]:
        return True, self._client.unwrap(frame[4:])


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(f"HBase needs {name.partition('.')[0]}", "cluster") from error


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
