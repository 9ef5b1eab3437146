"""What clients may hold of the server: raw sockets that are slow, silent, greedy or lie."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any

import pytest
from served_sites import GET, connected, exchange, read_all, served, status_of

from pinakes.access.asgi import Headers, Receive, Scope, Send, send_whole
from pinakes.access.bounded_server import BoundedServer
from pinakes.access.connection import Bounds

BODY = b"here\n"
QUICK = Bounds(idle_s=1, head_s=0.5, stalled_s=0.5)


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send_whole(send, 200, BODY)


class Endless:
    """Sends until its client is gone; `sent` counts the pieces, `done` is set at the end."""

    def __init__(self) -> None:
        self.sent = 0
        self.done = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(self._gone(receive))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not gone.done():
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            await asyncio.sleep(0)
            self.sent += 1
        self.done.set()

    @staticmethod
    async def _gone(receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


class Mixed:
    """Answers with the target; waits before it does, but for `/at-once/…`.  `asked` are the
    paths."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append(scope["raw_path"])
        if not scope["raw_path"].startswith(b"/at-once"):
            await asyncio.sleep(0)
        while (await receive()).get("more_body"):
            pass
        await send_whole(send, 200, scope["raw_path"] + b"?" + scope["query_string"])


@pytest.mark.parametrize("path", [b"/at-once", b"/later"])
@pytest.mark.parametrize(
    ("head", "query"),
    [
        pytest.param(b"GET %b?a=1 HTTP/1.1\r\nHost: a\r\n\r\n", b"a=1", id="plain"),
        pytest.param(b"GET %b HTTP/1.1\r\nContent-Length: 0\r\n\r\n", b"", id="a-length"),
        pytest.param(b"GET %b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi", b"", id="a-body"),
        pytest.param(
            b"GET %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            b"",
            id="chunks",
        ),
        pytest.param(b"POST %b HTTP/1.1\r\nContent-Length: 0\r\n\r\n", b"", id="a-post"),
        pytest.param(b"GET %b?a#b HTTP/1.1\r\n\r\n", b"a", id="a-fragment"),
        pytest.param(b"GET http://a%b HTTP/1.1\r\nHost: a\r\n\r\n", b"", id="a-whole-URL"),
    ],
)
def test_requests_of_each_form_are_answered(path: bytes, head: bytes, query: bytes) -> None:
    mixed = Mixed()
    with served(mixed) as address:
        found = exchange(address, head % path + (GET % b"/last"))
    assert mixed.asked == [path, b"/last"]
    bodies = [part.rpartition(b"\r\n")[2] for part in found.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [path + b"?" + query, b"/last?"]


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n", id="the-last"),
        pytest.param(b"GET /a HTTP/1.0\r\n\r\n", id="HTTP-1.0"),
        pytest.param(
            b"GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", id="an-upgrade"
        ),
    ],
)
def test_nothing_is_taken_behind_the_last_request(head: bytes) -> None:
    mixed = Mixed()
    with served(mixed) as address:
        found = exchange(address, head + (GET % b"/last"))
    assert mixed.asked == [b"/a"]
    assert found.endswith(b"\r\n\r\n/a?")
    assert b"\r\nconnection: close\r\n" in found


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_body_of_unknown_length_has_an_end(version: bytes) -> None:
    async def parts(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for piece in (b"ab", b"", b"c"):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})

    with served(parts) as address:
        found = exchange(address, (GET % b"/").replace(b"1.1", version))
    head, _, body = found.partition(b"\r\n\r\n")
    is_chunked = b"transfer-encoding: chunked" in head
    assert is_chunked == (version == b"1.1")
    assert body == (b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n" if is_chunked else b"abc")


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"2")],
        [(b"content-length", b"4")],
        [(b"location", b"/a\r\nset-cookie: b")],
        [(b"location\n", b"/a")],
    ],
)
def test_a_response_that_is_wrong_ends_the_connection(headers: Headers) -> None:
    async def wrong(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(RuntimeError):
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"abc"})

    with served(wrong) as address:
        assert exchange(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") == b""


class Echo:
    """Answers with what it was asked, headers as well; waits before it does, for `/slow`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["raw_path"] == b"/slow":
            await asyncio.sleep(0)
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        asked = (scope["raw_path"], scope["query_string"], list(scope["headers"]), body)
        await send_whole(send, 200, repr(asked).encode())


HOST = b"\r\nHost: a\r\nAccept: b\r\n\r\n"
KNOWN = [b"GET /known?a=%20b HTTP/1.1" + HOST]
LENGTH = b"Content-Length: %d\r\n" % len(KNOWN[0])


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(KNOWN, id="again"),
        pytest.param([b"GET /b?c?d HTTP/1.1" + HOST], id="another"),
        pytest.param([b"GET /? HTTP/1.1" + HOST], id="no-query"),
        pytest.param([b"GET /c HTTP/1.1\r\nHost: c\r\n\r\n"], id="other-headers"),
        pytest.param([b"GET /d HTTP/1.1", HOST], id="without-its-line-end"),
        pytest.param([b"GET /d HTTP/1.1\r\n", HOST[2:]], id="line-by-line"),
        pytest.param([b"GET /d?e=", b"f HTTP/1.1" + HOST], id="within-its-line"),
        pytest.param([b"GET /d HTTP/1.1" + HOST[:-2], b"\r\n"], id="within-its-end"),
        pytest.param([b"\r\nGET /e HTTP/1.1" + HOST], id="behind-a-line-end"),
        pytest.param([b"\r\n", b"GET /e HTTP/1.1" + HOST], id="behind-a-lone-line-end"),
        pytest.param([HOST[-4:], b"GET /q HTTP/1.1\r\n\r\n"], id="without-headers"),
        pytest.param([b"GET /slow HTTP/1.1" + HOST], id="not-at-once"),
        pytest.param([b"GET /f HTTP/1.1\r\nX: GET /g HTTP/1.1" + HOST], id="one-in-another"),
        pytest.param([b"POST /h HTTP/1.1\r\n" + LENGTH + HOST[2:], *KNOWN], id="in-a-body"),
        pytest.param([b"GET /i HTTP/1.1\r\n" + LENGTH + HOST[2:], *KNOWN], id="in-a-GET's-body"),
        pytest.param([b'GET /j"<|> HTTP/1.1' + HOST], id="rare-characters"),
        pytest.param([b"GET http://a/k HTTP/1.1" + HOST], id="a-whole-URL"),
        pytest.param([b"GET /l HTTP/1.0" + HOST], id="HTTP-1.0"),
        pytest.param([b"GET  /m HTTP/1.1" + HOST], id="two-blanks"),
        pytest.param([b"GET /n#o HTTP/1.1" + HOST], id="a-fragment"),
        pytest.param([b"get /p HTTP/1.1" + HOST], id="lower-case"),
    ],
)
def test_what_came_before_on_a_connection_changes_no_answer(pieces: list[bytes]) -> None:
    with served(Echo()) as address:
        alone = _answers(address, [pieces, KNOWN])
        found = _answers(address, [KNOWN, KNOWN, pieces, KNOWN])
    first, *rest = found
    assert rest[0] == first
    assert rest[1:] == alone


def test_a_request_is_no_header_whatever_came_before() -> None:
    request = b"GET /e HTTP/1.1" + HOST
    with served(Echo()) as address:
        found = _answers(address, [KNOWN, [b"\r\n" + request], [b"GET /r HTTP/1.1\r\n" + request]])
    assert [status_of(answer) for answer in found] == [200, 200, 400]


def _answers(address: tuple[str, int], requests: Sequence[Sequence[bytes]]) -> list[bytes]:
    """The answers on one connection, each piece in a packet of its own; b"" once it is closed."""
    found = []
    with connected(address) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for pieces in requests:
            for number, piece in enumerate(pieces):
                time.sleep(0.02 if number else 0)
                with suppress(BrokenPipeError):
                    client.sendall(piece)
            found.append(_whole_answer(client))
    return found


def _whole_answer(client: socket.socket) -> bytes:
    """An answer without its date."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        try:
            more = client.recv(1)
        except ConnectionResetError:
            return b""
        if not more:
            return b""
        head += more
    size = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
    body = b""
    while len(body) < size:
        body += client.recv(size - len(body))
    return re.sub(rb"date: [^\r]*", b"", head) + body


SLOW = b"GET /slow HTTP/1.1" + HOST
UPGRADE = b"GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
CHUNKED = b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked" + HOST


@pytest.mark.parametrize(
    ("pieces", "statuses"),
    [
        pytest.param([KNOWN[0] + b"BAD\r\n\r\n"], [200, 400], id="at-once-then-bad"),
        pytest.param([SLOW * 3 + b"BAD\r\n\r\n"], [200] * 3 + [400], id="slow-ones-then-bad"),
        pytest.param([SLOW * 2, b"BAD\r\n\r\n" + SLOW], [200] * 2 + [400], id="bad-then-good"),
        pytest.param([SLOW * 50], [200] * 33, id="too-many-ahead"),
        pytest.param([SLOW + b"GET / HTTP/1.1\r\nA: " + b"b" * 33_000 + HOST], [200, 431],
                     id="large-head-behind-another"),
        pytest.param([SLOW + b"GET /" + b"b" * 70_000 + b" HTTP/1.1" + HOST], [200, 431],
                     id="large-target-behind-another"),
        pytest.param([SLOW + b"GET /" + b"b" * 40_000, b"b" * 30_000 + b" HTTP/1.1" + HOST],
                     [200, 431], id="large-target-in-two-pieces"),
        pytest.param([UPGRADE + LENGTH + HOST[2:], *KNOWN], [400], id="upgrade-with-a-body"),
        pytest.param([UPGRADE + HOST[2:] + SLOW], [200], id="request-behind-an-upgrade"),
        pytest.param([UPGRADE + HOST[2:], SLOW], [200], id="request-after-an-upgrade"),
        pytest.param([b"CONNECT a:1 HTTP/1.1" + HOST + SLOW], [400], id="behind-a-CONNECT"),
        pytest.param([CHUNKED + b"zz\r\n"], [400], id="no-chunk-size"),
        pytest.param([SLOW + CHUNKED, b"zz\r\n", SLOW], [200, 400], id="behind-another"),
        pytest.param([CHUNKED.replace(b"chunked", b"gzip, chunked") + b"0\r\n\r\n"], [501],
                     id="compressed-body"),
        pytest.param([CHUNKED.replace(b"chunked", b"identity")], [501], id="no-length"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused_behind_the_rest(
    pieces: list[bytes], statuses: list[int]
) -> None:
    with served(Echo()) as address, connected(address) as client:
        for number, piece in enumerate(pieces):
            time.sleep(0.05 if number else 0)
            client.sendall(piece)
        answers = read_all(client)
    assert list(map(int, re.findall(rb"HTTP/1\.1 (\d+)", answers))) == statuses
    assert b"connection: close" in answers.rpartition(b"HTTP/1.1 ")[2]


@pytest.mark.parametrize("trailer", [b"Host: b", b"Authorization: Bearer c", b"Range: bytes=0-1"])
@pytest.mark.parametrize("is_cut", [False, True])
def test_a_trailer_is_no_header(trailer: bytes, is_cut: bool) -> None:
    rest = b"2\r\nhi\r\n0\r\n" + trailer + b"\r\n\r\n"
    with served(Echo()) as address:
        [found] = _answers(address, [[CHUNKED, rest] if is_cut else [CHUNKED + rest]])
        [plain] = _answers(address, [[CHUNKED + b"2\r\nhi\r\n0\r\n\r\n"]])
    assert b"b'hi'" in found
    assert found == plain


def test_host_of_a_whole_url_is_the_host() -> None:
    with served(Echo()) as address:
        [found] = _answers(address, [[b"GET http://other:81/slow?q HTTP/1.1" + HOST]])
    assert b"(b'/slow', b'q', [(b'host', b'other:81'), (b'accept', b'b')], b'')" in found


def test_requests_ahead_are_answered_in_their_order() -> None:
    mixed = Mixed()
    paths = [b"/at-once/%d" % n if n % 3 else b"/%d" % n for n in range(30)]
    with served(mixed) as address:
        heads = b"".join(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path for path in paths)
        found = exchange(address, heads + (GET % b"/last"))
    # A head follows a body on its line.
    bodies = [part.rpartition(b"\r\n")[2] for part in found.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [path + b"?" for path in [*paths, b"/last"]]
    assert mixed.asked == [*paths, b"/last"]


def test_client_that_has_its_answer_at_once_may_be_idle_for_so_long() -> None:
    with served(Mixed(), QUICK) as address, connected(address) as client:
        client.sendall(b"GET /at-once HTTP/1.1\r\nHost: a\r\n\r\n")
        assert read_all(client).endswith(b"/at-once?")


def test_client_that_does_not_read_holds_one_answer() -> None:
    large = 16 << 20
    asked = []

    async def sends(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["raw_path"])
        await send_whole(send, 200, bytes(large))

    with served(sends) as address, connected(address) as silent:
        silent.sendall(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        begun = silent.recv(1)
        silent.sendall(b"GET /2 HTTP/1.1\r\nHost: a\r\n\r\n" + (GET % b"/3"))
        time.sleep(0.2)
        held = list(asked)
        found = begun + read_all(silent)
    assert (held, asked) == ([b"/1", b"/2"], [b"/1", b"/2", b"/3"])
    assert found.count(b"\0") == 3 * large


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", 408, id="head-unfinished"),
        pytest.param(b"G", 408, id="one-byte"),
        pytest.param(b"\r\n", 408, id="an-empty-line"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_unfinished_head_is_not_waited_for(sent: bytes, status: int | None) -> None:
    with served(answer, QUICK) as address:
        found = exchange(address, sent)
    assert (status_of(found) if found else None) == status


def test_head_of_a_byte_now_and_then_is_not_waited_for() -> None:
    with served(answer, QUICK) as address, connected(address) as slow:
        slow.settimeout(0.05)
        found = b""
        for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000:
            try:
                slow.sendall(bytes([byte]))
                found += slow.recv(1000)
            except TimeoutError:
                continue
            except OSError:
                break
            if found:
                break
    assert status_of(found) == 408


def test_second_request_has_its_own_time() -> None:
    with served(answer, QUICK) as address, connected(address) as client:
        for _ in range(3):
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert _whole_answer(client).endswith(BODY)
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert status_of(read_all(client)) == 408


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(GET % b"/", 200, id="plain"),
        pytest.param(GET % (b"/" + b"a" * 30_000), 200, id="a-long-path"),
        pytest.param(GET % (b"/" + b"a" * 40_000), 431, id="a-longer-path"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", 431, id="many-fields"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"y" * 300_000, 431, id="a-field-without-end"),
        pytest.param(b"G" * 100_000, 400, id="a-method-without-end"),
        pytest.param(b"GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, id="raw-utf-8"),
        pytest.param(b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, id="NUL"),
        pytest.param(b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, id="a-space"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400, id="a-folded-field"),
        pytest.param(b"GET / HTTP/1.1\r\nX : y\r\n\r\n", 400, id="a-space-before-the-colon"),
        pytest.param(
            b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
            id="two-lengths",
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
            400,
            id="lengths-that-differ",
        ),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: -3\r\n\r\n", 400, id="less-than-nothing"),
        pytest.param(b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400, id="a-tunnel"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, id="HTTP-2"),
    ],
)
def test_head_is_answered_once_and_closed(request_bytes: bytes, status: int) -> None:
    with served(answer) as address:
        found = exchange(address, request_bytes)
    assert status_of(found) == status
    assert found.count(b"HTTP/1.1 ") == 1


def test_upgrade_is_not_taken() -> None:
    request = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        b"Upgrade: %s\r\n\r\n"
    )
    with served(answer, QUICK) as address:
        for protocol in (b"h2c", b"websocket"):
            assert status_of(exchange(address, request % protocol)) == 200


def test_requests_ahead_of_their_answers_are_few() -> None:
    begun = []

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        begun.append(scope["raw_path"])
        await send_whole(send, 200, scope["raw_path"])

    heads = b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % n for n in range(3000))
    with served(counted) as address:
        found = exchange(address, heads)
    # Behind the first, which may have its answer before the others are looked at.
    assert len(begun) in (33, 34)
    assert begun == [b"/%d" % n for n in range(len(begun))]
    assert found.count(b"HTTP/1.1 200 OK") == len(begun)
    assert found.endswith(begun[-1])


def test_answer_that_nobody_reads_is_given_up() -> None:
    endless = Endless()
    with served(endless, QUICK) as address, connected(address) as silent:
        silent.sendall(GET % b"/")
        assert endless.done.wait(60)
    assert endless.sent < 1000


def test_last_bytes_that_nobody_reads_are_given_up() -> None:
    closed: list[Any] = []

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send_whole(send, 200, b"x" * (32 << 20))
        closed.append(await receive())

    with served(large, QUICK) as address, connected(address) as silent:
        silent.sendall(GET % b"/")
        threading.Event().wait(3)
        assert len(read_all(silent)) < 32 << 20
    assert [message["type"] for message in closed] == ["http.disconnect"]


def test_body_that_has_stopped_is_not_waited_for() -> None:
    seen: list[str] = []

    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            seen.append(message["type"])

    with served(reading, QUICK) as address:
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc"
        assert exchange(address, head) == b""
    assert set(seen) == {"http.request"}


def test_many_connections_are_told_to_come_again() -> None:
    bounds = Bounds(many=5, most=10)
    with served(answer, bounds) as address, ExitStack() as idle:
        kept = [idle.enter_context(connected(address)) for _ in range(5)]
        for connection in kept:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert status_of(connection.recv(1000)) == 200
        sixth = exchange(address, GET % b"/")
        assert status_of(sixth) == 503
        assert b"\r\nretry-after: " in sixth
        for _ in range(5):
            idle.enter_context(connected(address)).sendall(b"GET / HTTP/1.1\r\n")
        assert exchange(address, GET % b"/") == b""


def test_a_request_under_way_has_its_answer_when_the_server_ends() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        server = BoundedServer(Echo())
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        with connected(listening.getsockname()) as client:
            client.sendall(b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhe")
            time.sleep(0.3)
            server.should_exit = True
            time.sleep(0.3)
            client.sendall(b"re" + (GET % b"/later"))
            found = read_all(client)
        thread.join(60)
    assert not thread.is_alive()
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"b'here')" in found


@pytest.mark.slow
def test_a_thousand_clients_at_once_are_answered() -> None:
    with served(answer) as address, ExitStack() as clients:
        all_of_them = [clients.enter_context(connected(address)) for _ in range(1000)]
        for client in all_of_them:
            client.sendall(GET % b"/")
        assert {status_of(read_all(client)) for client in all_of_them} == {200}
