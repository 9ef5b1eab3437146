"""Connections to Thrift servers, of which some hang, hang up, or do as they are told.

The servers here speak HBase's interface without being HBase: what they are for is to fail
at a chosen moment.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("happybase", reason="the cluster extra is not installed")

from thriftpy2.http import THttpServer
from thriftpy2.protocol import TBinaryProtocolFactory, TCompactProtocolFactory
from thriftpy2.server import TThreadedServer
from thriftpy2.thrift import TProcessor
from thriftpy2.transport import (
    TBufferedTransportFactory,
    TFramedTransportFactory,
    TMemoryBuffer,
    TServerSocket,
    TSSLServerSocket,
)

from pinakes.errors import ConfigError, MissingExtra, StoreUnavailable
from pinakes.extras import install_command
from pinakes.row_store.hbase import wire as hbase_wire
from pinakes.row_store.hbase.calls import HBaseCalls
from pinakes.row_store.hbase.connection import HBaseConnection, Sasl, Server, Tls
from pinakes.row_store.hbase.wire import Call, rows_interface
from pinakes.waiting import LOGGER, NOTICE_AFTER_S

HERE = "127.0.0.1"


class Tables:
    """Answers with the names of tables, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.hang_up: Callable[[int], bool] = lambda _: False

    def getTableNames(self) -> list[bytes]:  # noqa: N802  (Thrift's name)
        self.asked += 1
        if self.hang_up(self.asked):
            raise ConnectionAbortedError("this is what the test is about")
        return [b"a", b"b"]

    def isTableEnabled(self, tableName: bytes) -> bool:  # noqa: N802, N803  (Thrift's names)
        if tableName == b"":
            raise rows_interface().IOError(message=b"no name")
        return len(tableName) % 2 == 0


class ManyConnections(TThreadedServer):
    """One that ends, and that counts the connections it was asked for."""

    connections = 0

    def handle(self, client: Any) -> None:
        self.connections += 1
        super().handle(client)


@contextmanager
def thrift_server(
    tables: Tables,
    *,
    port: int = 0,
    transport: Any = TBufferedTransportFactory,
    protocol: Any = TBinaryProtocolFactory,
    certificate: Path | None = None,
) -> Iterator[tuple[Server, ManyConnections]]:
    port = port or free_port()
    listening = (
        TServerSocket(HERE, port, client_timeout=None)
        if certificate is None
        else TSSLServerSocket(HERE, port, certfile=str(certificate), client_timeout=None)
    )
    server = ManyConnections(
        TProcessor(rows_interface().Hbase, tables),
        listening,
        iprot_factory=protocol(),
        itrans_factory=transport(),
        daemon=True,
    )
    listening.listen()
    listening.listen = lambda: None  # already: nobody may knock too early
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield Server(HERE, port), server
    finally:
        server.closed = True
        listening.close()
        thread.join()


def free_port() -> int:
    with closing(socket.create_server((HERE, 0))) as listening:
        return int(listening.getsockname()[1])


def connection(*servers: Server, **given: Any) -> HBaseConnection:
    return HBaseConnection(servers=servers, **{"timeout_s": 5.0, "retry_s": 10.0, **given})


@contextmanager
def calls_to(connection: HBaseConnection) -> Iterator[HBaseCalls]:
    with closing(HBaseCalls(rows_interface, "Hbase", connection.servers, connection)) as calls:
        yield calls


def names(client: Any) -> Any:
    return client.getTableNames()


def test_one_connection_serves_calls_in_turn() -> None:
    with thrift_server(Tables()) as (server, counted), calls_to(connection(server)) as calls:
        assert [calls.call(names) for _ in range(5)] == [[b"a", b"b"]] * 5
        assert counted.connections == 1


def test_closed_connection_is_retried() -> None:
    tables = Tables()
    tables.hang_up = lambda asked: asked in {2, 3}
    with thrift_server(tables) as (server, counted), calls_to(connection(server)) as calls:
        assert [calls.call(names) for _ in range(3)] == [[b"a", b"b"]] * 3
        assert (tables.asked, counted.connections) == (5, 3)


def test_retries_can_be_counted() -> None:
    tables, again = Tables(), []
    tables.hang_up = lambda asked: asked in {2, 3}
    with thrift_server(tables) as (server, _):
        settings = connection(server)
        with closing(
            HBaseCalls(
                rows_interface, "Hbase", (server,), settings, on_retry=lambda: again.append(1)
            )
        ) as calls:
            for _ in range(3):
                calls.call(names)
    assert len(again) == 2


def test_call_without_retry_is_not_repeated() -> None:
    tables = Tables()
    tables.hang_up = lambda _: True
    with thrift_server(tables) as (server, _), calls_to(connection(server)) as calls:
        with pytest.raises(StoreUnavailable):
            calls.call_once(names)
        assert tables.asked == 1


def test_hanging_server_is_given_up() -> None:
    with closing(socket.create_server((HERE, 0))) as silent:
        server = Server(HERE, silent.getsockname()[1])
        with calls_to(connection(server, timeout_s=0.05, retry_s=0.2)) as calls:
            with pytest.raises(StoreUnavailable, match=f"the Thrift server {server}, or a region"):
                calls.call(names)
            for _ in range(2):  # who knocked, and came back
                silent.accept()[0].close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "given"),
    [
        pytest.param(TBufferedTransportFactory, {}, id="buffered"),
        pytest.param(TFramedTransportFactory, {"transport": "framed"}, id="framed"),
    ],
)
def test_slow_answer_is_awaited_and_reported_once(
    transport: Any, given: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    tables = Tables()
    tables.hang_up = lambda _: bool(time.sleep(NOTICE_AFTER_S + 1.0))
    with (
        thrift_server(tables, transport=transport) as (server, counted),
        calls_to(connection(server, timeout_s=60.0, **given)) as calls,
    ):
        assert [calls.call(names) for _ in range(2)] == [[b"a", b"b"]] * 2
        # Nothing was sent again.
        assert (tables.asked, counted.connections) == (2, 1)
    (notice,) = (record.getMessage() for record in caplog.records if record.name == LOGGER)
    assert notice.startswith(f"waiting for HBase, for up to 10 s: the Thrift server {server}, or")


def test_refused_connection() -> None:
    server = Server(HERE, free_port())
    unreached = pytest.raises(StoreUnavailable, match=f"cannot be reached through {server}")
    with calls_to(connection(server, retry_s=0.1)) as calls, unreached:
        calls.call(names)


def test_a_server_comes_back() -> None:
    tables, port = Tables(), free_port()
    with calls_to(connection(Server(HERE, port), connections=3)) as calls:
        for _ in range(2):
            with thrift_server(tables, port=port):
                assert calls.call(names) == [b"a", b"b"]
        assert tables.asked == 2


def test_another_server_takes_over() -> None:
    gone = Server(HERE, free_port())
    with thrift_server(Tables()) as (server, _), calls_to(connection(gone, server)) as calls:
        assert calls.call(names) == [b"a", b"b"]


def test_threads_share_a_bounded_number_of_connections() -> None:
    tables = Tables()
    with (
        thrift_server(tables) as (server, counted),
        calls_to(connection(server, connections=3)) as calls,
    ):
        threads = [
            threading.Thread(target=lambda: [calls.call(names) for _ in range(20)])
            for _ in range(10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tables.asked == 200
        assert 1 <= counted.connections <= 3


def test_error_of_the_caller_is_passed_on() -> None:
    def fail(client: Any) -> None:
        client.getTableNames()
        raise ZeroDivisionError

    with thrift_server(Tables()) as (server, _), calls_to(connection(server)) as calls:
        with pytest.raises(ZeroDivisionError):
            calls.call(fail)
        assert calls.call(names) == [b"a", b"b"]


FORK = f"""
import os, sys
from pinakes.row_store.hbase.wire import Call
from pinakes.row_store.hbase.calls import HBaseCalls
from pinakes.row_store.hbase.connection import HBaseConnection, Server
from pinakes.row_store.hbase.wire import rows_interface
servers = (Server("{HERE}", int(sys.argv[1])),)
calls = HBaseCalls(rows_interface, "Hbase", servers, HBaseConnection(servers=servers))
names = lambda client: client.getTableNames()
calls.call(names)
child = os.fork()
assert calls.call(names) == [b"a", b"b"]
if child:
    assert os.waitpid(child, 0)[1] == 0
    calls.call(names)
"""


def test_forked_child_opens_its_own_connection() -> None:
    # In a process of its own: this one has threads, which a fork would not take along.
    with thrift_server(Tables()) as (server, counted):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", FORK, str(server.port)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert counted.connections == 2


@pytest.mark.parametrize(
    ("transport", "factory"),
    [("buffered", TBufferedTransportFactory), ("framed", TFramedTransportFactory)],
)
@pytest.mark.parametrize(
    ("compact", "protocol"), [(False, TBinaryProtocolFactory), (True, TCompactProtocolFactory)]
)
def test_transports_and_protocols(
    transport: str, factory: Any, compact: bool, protocol: Any
) -> None:
    with (
        thrift_server(Tables(), transport=factory, protocol=protocol) as (server, _),
        calls_to(connection(server, transport=transport, compact=compact)) as calls,
    ):
        assert calls.call(names) == [b"a", b"b"]
        assert calls.call(lambda client: calls.each(client, QUESTIONS)) == ANSWERS
        assert calls.call(names) == [b"a", b"b"]


NAMES = [b"x" * length for length in (1, 2, 70_000, 4, 5)] * 40
QUESTIONS = [Call("isTableEnabled", (name,)) for name in NAMES] + [Call("getTableNames", ())]
ANSWERS = [len(name) % 2 == 0 for name in NAMES] + [[b"a", b"b"]]


def test_pipelined_error_is_raised_and_unread_answers_are_dropped() -> None:
    questions = [QUESTIONS[0], Call("isTableEnabled", (b"",)), *QUESTIONS[1:4]]
    with (
        thrift_server(Tables()) as (server, counted),
        calls_to(connection(server, retry_s=0.0)) as calls,
    ):
        with pytest.raises(StoreUnavailable, match="no name"):
            calls.call(lambda client: calls.each(client, questions))
        assert calls.call(names) == [b"a", b"b"]
        assert counted.connections > 1


def test_http_sends_the_acting_user() -> None:
    tables, seen = Tables(), []
    server = Server(HERE, free_port())
    http = THttpServer(
        TProcessor(rows_interface().Hbase, tables),
        tuple(server),
        TBufferedTransportFactory(),
        TBinaryProtocolFactory(),
    )
    handler = http.httpd.RequestHandlerClass
    handler.log_message = lambda *_: None
    answer = handler.do_POST

    def do_post(self: Any) -> None:
        seen.append((self.path, self.headers["doAs"]))
        answer(self)

    handler.do_POST = do_post
    thread = threading.Thread(target=http.serve, daemon=True)
    thread.start()
    try:
        over_http = connection(server, transport="http", http_path="/hbase", do_as="curator")
        with calls_to(over_http) as calls:
            assert [calls.call(names) for _ in range(2)] == [[b"a", b"b"]] * 2
            assert calls.call(lambda client: calls.each(client, QUESTIONS[:3])) == ANSWERS[:3]
        with calls_to(replace(over_http, do_as=None)) as calls:
            calls.call(names)
        assert seen == [("/hbase", "curator")] * 5 + [("/hbase", None)]
    finally:
        http.httpd.shutdown()
        thread.join()
        http.httpd.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for the address, in one file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    key, made = file.with_suffix(".key"), file.with_suffix(".crt")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=test", "-addext", f"subjectAltName=IP:{HERE}"]
    command += ["-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(key.read_bytes() + made.read_bytes())
    return file


def test_tls(certificate: Path) -> None:
    with thrift_server(Tables(), certificate=certificate) as (server, _):
        with calls_to(connection(server, tls=Tls(ca_file=certificate))) as calls:
            assert calls.call(names) == [b"a", b"b"]
        # An authority that we do not trust, and a name that is not the server's.
        elsewhere = Server("localhost", server.port)
        for wrong in (
            connection(server, tls=Tls(), retry_s=0.0),
            connection(elsewhere, tls=Tls(ca_file=certificate), retry_s=0.0),
        ):
            with calls_to(wrong) as calls, pytest.raises(StoreUnavailable):
                calls.call(names)


class SaslServer:
    """Takes one password, then frames of calls (Thrift's SASL negotiation: 1 START, 2 OK, 5)."""

    def __init__(self, tables: Tables) -> None:
        self._processor = TProcessor(rows_interface().Hbase, tables)
        self._listening = socket.create_server((HERE, 0))
        self.server = Server(HERE, self._listening.getsockname()[1])
        self.said: list[tuple[int, bytes]] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                with closing(self._listening.accept()[0]) as client, suppress(struct.error):
                    self._talk(client, client.makefile("rb"))

    def _talk(self, client: socket.socket, from_client: Any) -> None:
        for _ in range(2):
            status, length = struct.unpack(">BI", from_client.read(5))
            self.said.append((status, from_client.read(length)))
        accepted = self.said[-1][1].endswith(b"\0secret")
        client.sendall(struct.pack(">BI", 5 if accepted else 3, 0))
        while header := from_client.read(4):
            asked = TMemoryBuffer(from_client.read(*struct.unpack(">I", header)))
            answer = TMemoryBuffer()
            factory = TBinaryProtocolFactory()
            self._processor.process(factory.get_protocol(asked), factory.get_protocol(answer))
            client.sendall(struct.pack(">I", len(answer.getvalue())) + answer.getvalue())

    def close(self) -> None:
        self._listening.close()


def test_sasl() -> None:
    pytest.importorskip("puresasl", reason="the cluster extra is not installed")
    right = Sasl(mechanism="PLAIN", username="me", password="secret")
    wrong = replace(right, password="guess")
    with closing(SaslServer(Tables())) as sasl:
        with calls_to(connection(sasl.server, sasl=right)) as calls:
            assert [calls.call(names) for _ in range(3)] == [[b"a", b"b"]] * 3
        assert sasl.said == [(1, b"PLAIN"), (2, b"\0me\0secret")]
        refused = pytest.raises(StoreUnavailable, match="Bad status: 3")
        with calls_to(connection(sasl.server, sasl=wrong, retry_s=0.0)) as calls, refused:
            calls.call(names)


def test_kerberos_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms = pytest.importorskip("puresasl.mechanisms", reason="no cluster extra")
    monkeypatch.setattr(mechanisms, "have_kerberos", False)
    monkeypatch.delitem(mechanisms.mechanisms, "GSSAPI", raising=False)
    wanting = pytest.raises(MissingExtra, match="pip install kerberos")
    with (
        closing(SaslServer(Tables())) as sasl,
        calls_to(connection(sasl.server, sasl=Sasl())) as calls,
        wanting,
    ):
        calls.call(names)


def test_certificates_are_verified(certificate: Path) -> None:
    context = hbase_wire.tls_context(Tls(ca_file=certificate, certificate_file=certificate))
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "happybase", None)
    hbase_wire.rows_interface.cache_clear()
    with pytest.raises(MissingExtra, match=re.escape(f"happybase: {install_command('cluster')}")):
        rows_interface()


def test_connection_without_servers_is_refused() -> None:
    with pytest.raises(ConfigError, match="THBaseService"):
        HBaseCalls(hbase_wire.tables_interface, "THBaseService", (), connection(Server("a")))
