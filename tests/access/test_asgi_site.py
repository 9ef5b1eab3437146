"""What holds for every response of a site, and how its pages get their requests."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from served_sites import GET, TIMEOUT_S, connected, exchange, read_all, served, status_of
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Rule
from werkzeug.wrappers import Response

from pinakes.access.asgi import Receive, Scope, Send, send_line, send_whole
from pinakes.access.asgi_site import LOGGER, AsgiSite, Route
from pinakes.access.page_site import BODY_BYTES, THREADS, PageSite, Request
from pinakes.access.pieces import send_pieces
from pinakes.errors import Conflict, InputRefused, PinakesError, StoreUnavailable

HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


class Pages(PageSite):
    """Every path has one endpoint."""

    def __init__(self, endpoint: Callable[[Request], Response]) -> None:
        def called(request: Request, path: str = "") -> Response:
            return endpoint(request)

        methods = ["GET", "POST"]
        paths = ("/", "/<rest:path>")
        super().__init__([Rule(path, endpoint=called, methods=methods) for path in paths])

    def refusal(self, request: Request, error: HTTPException) -> Response:
        return Response(error.name, error.code)

    def failure(self, request: Request, error: PinakesError) -> Response:
        raise error


def repeat(request: Request) -> Response:
    said = f"{request.method} {request.path} {request.query_string.decode()} "
    said += f"{request.body!r} {request.headers.get('X-Token')}"
    return Response(said, headers={"Content-Security-Policy": "sandbox"})


def failing(error: Exception, *, started: bool = False) -> Route:
    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        if started:
            start = {"type": "http.response.start", "status": 200, "headers": []}
            await send({**start, "headers": [(b"content-length", b"10")]})
            await send({"type": "http.response.body", "body": b"abc", "more_body": True})
        raise error

    return Route(re.compile(rb"/fail"), fail)


def site(*routes: Route, hosts: Iterable[str] | None = ("localhost", "[::1]")) -> AsgiSite:
    names = None if hosts is None else tuple(hosts)
    return AsgiSite(Pages(repeat), hosts=names, headers=HEADERS, routes=routes)


def test_routes_are_asked_before_pages() -> None:
    async def hot(scope: Scope, receive: Receive, send: Send) -> None:
        await send_whole(send, 200, scope["raw_path"])

    with served(site(Route(re.compile(rb"/hot/.*"), hot))) as address:
        assert exchange(address, GET % b"/hot/a%2Fb?c").endswith(b"\r\n\r\n/hot/a%2Fb")
        assert exchange(address, GET % b"/hot").endswith(b"GET /hot  b'' None")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"Host: localhost\r\n", 200),
        (b"Host: localhost \t\r\n", 200),
        (b"Host: LocalHost:8090\r\n", 200),
        (b"Host: [::1]:80\r\n", 200),
        (b"Host: evil.example\r\n", 400),
        (b"Host: localhost.evil.example\r\n", 400),
        (b"Host: localhost\r\nHost: evil.example\r\n", 400),
        (b"Host: evil@localhost\r\n", 400),
        (b"Host: \xff\r\n", 400),
        (b"Host:\r\n", 400),
        (b"", 400),
    ],
    ids=repr,
)
def test_only_its_own_hosts_are_answered(host: bytes, status: int) -> None:
    async def hot(scope: Scope, receive: Receive, send: Send) -> None:
        await send_whole(send, 200, b"hot")

    with served(site(Route(re.compile(rb"/hot"), hot))) as address:
        for path in (b"/hot", b"/"):
            request = b"GET " + path + b" HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n"
            assert status_of(exchange(address, request)) == status


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (StoreUnavailable("HBase at secret:9090"), 503, b"the store does not answer"),
        (InputRefused("limit is not a number"), 400, b"limit is not a number"),
        (Conflict("it is\r\nX-Injected: yes"), 409, b"it is"),
        (PinakesError("something"), 500, b"Internal Server Error"),
        (ZeroDivisionError("secret"), 500, b"Internal Server Error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors_are_one_plain_line(
    error: Exception, status: int, words: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with served(site(failing(error))) as address:
        found = exchange(address, GET % b"/fail")
    head, _, body = found.partition(b"\r\n\r\n")
    assert status_of(found) == status
    assert words in body
    assert body.count(b"\n") == 1 or isinstance(error, Conflict)
    assert not re.search(rb"Traceback|secret|line \d", body)
    assert (b"\r\nretry-after: " in head) == (status == 503)
    assert b"\r\nx-injected" not in head.lower()
    assert b"\r\ncontent-security-policy: default-src 'none'" in head
    logged = [record for record in caplog.records if record.name == LOGGER]
    assert [record.levelno for record in logged] == [logging.ERROR] * (status >= 500)


def test_failing_response_that_has_begun_is_cut_off() -> None:
    with served(site(failing(ValueError("x"), started=True))) as address:
        found = exchange(address, GET % b"/fail")
    assert found.endswith(b"\r\n\r\nabc")
    assert found.count(b"HTTP/1.1 ") == 1


def test_headers_are_added_to_those_of_the_pages() -> None:
    with served(site()) as address:
        head = exchange(address, GET % b"/").partition(b"\r\n\r\n")[0].lower()
    assert b"\r\nx-content-type-options: nosniff" in head
    assert b"\r\ncontent-security-policy: sandbox" in head
    assert b"default-src" not in head
    assert b"\r\nserver: pinakes" in head


@pytest.mark.parametrize(
    ("request_bytes", "said"),
    [
        (GET % b"/a%20b%2f?c=%20d", "GET /a b/ c=%20d b'' None"),
        (GET % b"/%c3%a9?q=%ff", "GET /é q=%ff b'' None"),
        (GET % b"/..%2f%2e%2e/x", "GET /../../x  b'' None"),
        (POST + b"Content-Length: 3\r\n\r\nabc", "POST /  b'abc' None"),
        (
            POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            "POST /  b'abc' None",
        ),
        (POST + b"X_Token: forged\r\n\r\n", "POST /  b'' None"),
        (POST + b"X-Token: a\r\nX_Token: forged\r\n\r\n", "POST /  b'' a"),
    ],
)
def test_pages_get_the_request(request_bytes: bytes, said: str) -> None:
    with served(site()) as address:
        found = exchange(address, request_bytes)
    assert found.partition(b"\r\n\r\n")[2].decode() == said


@pytest.mark.parametrize("more", [b"", b"Expect: 100-continue\r\n"])
def test_large_body_is_refused(more: bytes) -> None:
    with served(site()) as address, connected(address) as client:
        size = BODY_BYTES + 1
        client.sendall(POST + more + b"Content-Length: %d\r\n\r\n" % size + b"x" * size)
        found = read_all(client).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert status_of(found) == 413


def test_slow_clients_hold_no_thread() -> None:
    """More of them than there are threads, which send a body, or read one, so far as they like."""
    piece = b"z" * 8192

    def large(request: Request) -> Response:
        return Response(iter([piece] * (1000 if request.path == "/large" else 1)))

    slow = AsgiSite(Pages(large), hosts=None, headers={})
    with served(slow) as address, ExitStack() as clients:
        for number in range(4 * THREADS):
            unread = GET % b"/large"
            client = clients.enter_context(connected(address))
            client.sendall(unread if number % 2 else POST + b"Content-Length: 9\r\n\r\nx")
        assert exchange(address, GET % b"/").count(piece) == 1


def test_too_many_requests_at_once_are_told_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pinakes.access.asgi_site.AT_ONCE", 3)
    may_end, begun = threading.Event(), threading.Semaphore(0)

    def waits(request: Request) -> Response:
        begun.release()
        may_end.wait(60)
        return Response(status=204)

    waiting = AsgiSite(Pages(waits), hosts=None, headers=HEADERS)
    with served(waiting) as address, ExitStack() as clients:
        opened = [clients.enter_context(connected(address)) for _ in range(3)]
        for client in opened:
            client.sendall(GET % b"/")
        for _ in opened:
            assert begun.acquire(timeout=60)
        fourth = exchange(address, GET % b"/")
        may_end.set()
        assert [status_of(read_all(client)) for client in opened] == [204] * 3
    assert status_of(fourth) == 503
    assert b"\r\nretry-after: " in fourth


# --- Bodies that are computed piece by piece, and clients that leave meanwhile


async def no_page(scope: Scope, receive: Receive, send: Send) -> None:
    await send_line(send, 404)


@pytest.mark.parametrize("piece", [b"", b"x" * 10_000], ids=["nothing yet", "a long body"])
@pytest.mark.parametrize("is_threaded", [False, True], ids=["in the loop", "in threads"])
def test_client_that_leaves_ends_the_work(piece: bytes, is_threaded: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                begun.set()
                yield piece
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as pool:
        threads: Executor | None = pool if is_threaded else None

        async def endless(scope: Scope, receive: Receive, send: Send) -> None:
            await send_pieces(receive, send, pieces(), content_type=b"text/plain", threads=threads)

        site = AsgiSite(
            no_page, hosts=None, headers={}, routes=[Route(re.compile(rb"/endless"), endless)]
        )
        with served(site) as address:
            with connected(address) as connection:
                connection.sendall(GET % b"/endless")
                assert begun.wait(TIMEOUT_S)
            assert ended.wait(TIMEOUT_S)
