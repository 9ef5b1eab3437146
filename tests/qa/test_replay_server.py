"""Sockets and TLS: as browsers use them, and as nobody should."""

from __future__ import annotations

import gc
import shutil
import socket
import ssl
import subprocess
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from browsing import MOMENT, Browsing, ask_on, browsing
from landed_stores import page

from pinakes.errors import ConfigError
from pinakes.qa.replay.server import MOST_CONNECTIONS

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SECURE, PLAIN = "https://example.org/secure", "http://example.org/plain"
HOSTS = [f"https://h{number}.example.org/" for number in range(20)]
HUGE = "https://example.org/huge"
HUGE_BYTES = 24 << 20


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    with browsing(tmp_path_factory.mktemp("server")) as made:
        made.store.land(
            "c",
            "a.warc.gz",
            page(SECURE, b"secure"),
            page(PLAIN, b"plain"),
            page("http://example.org/%C3%A0", b"accent"),
            page("https://[::1]/", b"six"),
            page("https://192.0.2.7/", b"four"),
            page(HUGE, bytes(HUGE_BYTES)),
            *(page(url, url.encode()) for url in HOSTS),
        )
        yield made


@pytest.fixture
def at(served: Browsing) -> Browsing:
    """The same, with a page of the test's own."""
    served.log()
    return served


def test_http_and_https(at: Browsing) -> None:
    assert at.ask(PLAIN)[::2] == (200, b"plain")
    assert at.ask(SECURE)[::2] == (200, b"secure")
    assert [exchange.outcome for exchange in at.log()] == ["hit", "hit"]


def test_an_address_for_a_host(at: Browsing) -> None:
    assert at.ask("https://192.0.2.7/").body == b"four"


@pytest.mark.skipif(shutil.which("curl") is None, reason="for want of curl")
def test_curl_trusts_the_certificate(at: Browsing) -> None:
    proxy = f"http://127.0.0.1:{at.session.port}"
    command = [
        "curl",
        "-sS",
        "--proxy",
        proxy,
        "--cacert",
        at.proxy.ca_file,
        SECURE,
        "https://[::1]/",
    ]
    done = subprocess.run(command, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"securesix")


def test_another_authority_is_not_trusted(at: Browsing, tmp_path: Path) -> None:
    with browsing(tmp_path) as other:
        connection = other.client_of(at.session).connect(SECURE)
        with pytest.raises(ssl.SSLCertVerificationError):
            connection.connect()


def test_a_connection_is_kept(at: Browsing) -> None:
    connection = at.client.connect(SECURE)
    answers = [ask_on(connection, url) for url in (SECURE, "https://example.org/none", SECURE)]
    assert [answer.status for answer in answers] == [200, 404, 200]
    first = connection.sock
    assert ask_on(connection, SECURE, "HEAD").body == b""
    assert ask_on(connection, SECURE, "POST", b"a=1").status == 404
    assert ask_on(connection, SECURE).body == b"secure"
    assert connection.sock is first
    connection.close()


def raw(port: int, sent: bytes) -> bytes:
    """What comes back for these bytes, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET http://example.org/\xc3\xa0 HTTP/1.1\r\n\r\n", b"200"),
        (b"GET http://example.org/\xff\x00\x01 x HTTP/1.1\r\n\r\n", b"404"),
        (b"GET http://example.org/plain HTTP/1.0\r\n\r\n", b"200"),
        (b"GET /plain HTTP/1.1\r\nHost: example.org\r\n\r\n", b"400"),
        (b"GET ftp://example.org/ HTTP/1.1\r\n\r\n", b"400"),
        (b"BREW http://example.org/plain HTTP/1.1\r\n\r\n", b"404"),
        (b"\x00\xff junk\r\n\r\n", b"400"),
        (b"GET http://example.org/" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET http://example.org/ HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
        (b"CONNECT nonsense HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT example.org:99999 HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT -.-:443 HTTP/1.1\r\n\r\n", b"200"),
        (b"CONNECT example.org:80 HTTP/1.1\r\n\r\nGET /plain HTTP/1.1\r\n\r\n", b"200"),
        (b"CONNECT example.org:443 HTTP/1.1\r\n\r\n\x16junk that is no handshake", b"200"),
        (b"POST http://example.org/f HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"411"),
        (b"POST http://example.org/f HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", b"411"),
        (
            b"POST http://example.org/f HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"411",
        ),
        (b"POST http://example.org/f HTTP/1.1\r\nContent-Length: 50\r\n\r\na=1", b"404"),
    ],
)
def test_odd_bytes_get_an_answer(at: Browsing, request_: bytes, status: bytes) -> None:
    answer = raw(at.session.port, request_)
    assert answer.split(b" ", 2)[:2] in ([b"HTTP/1.1", status], [b"HTTP/1.0", status])
    assert at.ask(PLAIN).body == b"plain"


def test_a_tunnel_without_tls(at: Browsing) -> None:
    """As a browser opens one for WebSockets."""
    begin = b"CONNECT example.org:80 HTTP/1.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", at.session.port), timeout=60) as connection:
        connection.sendall(begin)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /plain HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n")
        assert b"".join(iter(lambda: connection.recv(1000), b"")).endswith(b"plain")


def test_a_hundred_at_once(at: Browsing) -> None:
    urls = (HOSTS * 6)[:120]
    with ThreadPoolExecutor(120) as threads:
        answers = list(threads.map(lambda url: (url, at.ask(url).body), urls))
    assert [body for _, body in answers] == [url.encode() for url, _ in answers]
    log = at.log()
    assert sorted(exchange.url for exchange in log) == sorted(urls)
    assert {exchange.outcome for exchange in log} == {"hit"}


def test_more_connections_than_there_is_room_for_wait(at: Browsing) -> None:
    """Idle ones fill the room; who comes then is answered as soon as one of them goes."""
    idle = [
        socket.create_connection(("127.0.0.1", at.session.port), timeout=60)
        for _ in range(MOST_CONNECTIONS)
    ]
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(at.ask, PLAIN)
        for connection in idle:
            connection.close()
        assert answer.result().body == b"plain"


def test_a_client_that_hangs_up(at: Browsing) -> None:
    connection = at.client.connect(HUGE)
    connection.request("GET", "/huge")
    answer = connection.getresponse()
    assert len(answer.read(1000)) == 1000
    assert connection.sock is not None
    # A reset, so that what is under way there is not taken by buffers.
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    answer.close()
    connection.close()
    assert at.ask(PLAIN).body == b"plain"
    first = at.log()[0]
    assert not first.is_whole
    assert "disconnected" in (first.problem or "")


def test_a_client_that_takes_its_time(at: Browsing) -> None:
    """Others are answered meanwhile; it gets all of it in the end."""
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        slow.connect(("127.0.0.1", at.session.port))
        slow.sendall(f"GET {HUGE.replace('https', 'http')} HTTP/1.0\r\n\r\n".encode())
        first = slow.recv(1000)
        assert [at.ask(PLAIN).body for _ in range(20)] == [b"plain"] * 20
        rest = sum(len(piece) for piece in iter(lambda: slow.recv(1 << 20), b""))
    assert len(first) + rest > HUGE_BYTES
    assert [e.outcome for e in at.log()] == ["hit"] * 21


def test_a_huge_body_is_streamed(at: Browsing) -> None:
    connection = at.client.connect(HUGE)
    connection.request("GET", "/huge")
    answer = connection.getresponse()
    assert answer.getheader("Content-Length") == str(HUGE_BYTES)
    size = 0
    while piece := answer.read(1 << 16):
        size += len(piece)
    connection.close()
    assert size == HUGE_BYTES
    last = at.last()
    assert (last.sent_bytes, last.is_whole, last.problem) == (HUGE_BYTES, True, None)


def test_nothing_goes_outward(at: Browsing) -> None:
    """A server that could be reached, asked for through the proxy: nobody comes to it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        port = listening.getsockname()[1]
        for url in (
            f"http://127.0.0.1:{port}/",
            f"https://127.0.0.1:{port}/",
            f"http://localhost:{port}/",
        ):
            answer = at.ask(url)
            assert (answer.status, answer.outcome) == (404, "miss")
        with pytest.raises(TimeoutError):
            listening.accept()


def test_pages_of_a_session(at: Browsing) -> None:
    session = at.session
    with pytest.raises(ConfigError):
        at.open("later")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        session.begin_page("second", MOMENT)
    session.end_page()
    with pytest.raises(ConfigError):
        session.end_page()
    with pytest.raises(ConfigError):
        session.begin_page("naive", MOMENT.replace(tzinfo=None))
    answer = at.ask(PLAIN)
    assert (answer.status, answer.outcome) == (403, "refused")
    assert session.refused_outside == 1
    session.begin_page("named", MOMENT)
    at.ask(PLAIN)
    log = session.end_page()
    session.begin_page("next", MOMENT)
    assert (log.name, len(log.exchanges)) == ("named", 1)


def test_a_session_that_was_closed_is_let_go(at: Browsing) -> None:
    session = at.open()
    session.close()
    session.close()
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None
    assert at.ask(PLAIN).body == b"plain"


def test_closing_ends_connections(tmp_path: Path) -> None:
    with browsing(tmp_path) as made:
        connection = made.client.connect(SECURE)
        assert ask_on(connection, SECURE).status == 404
        assert connection.sock is not None
        ca_file = made.proxy.ca_file
        assert ca_file.exists()
    assert connection.sock.recv(1) == b""
    assert not ca_file.exists()
    connection.close()
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", made.session.port), timeout=5)
