"""Answers of a real server forwarded to a browser: unchanged, bounded, faults in the log."""

from __future__ import annotations

import gzip
import hashlib
import socket
import ssl
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.client import IncompleteRead, RemoteDisconnected

import brotli
import comparing  # noqa: F401
import pytest
from browsing import Client
from scripted_server import Script, ScriptedServer, answer, scripted

from pinakes.errors import ConfigError
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.page_log import LoggedExchange
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.views import forward_answer, forwarding
from pinakes.qa.views.access import AccessSystemPolicy
from pinakes.qa.views.access_urls import AccessUrls
from pinakes.qa.views.forwarding import ForwardingResponder

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
AT = "/c/20200102030405mp_/http://a.org/"
WHOLE = "Memento-Datetime: Thu, 02 Jan 2020 03:04:05 GMT"


class ForwardingScene:
    """A server, a session in front of it, and a client that asks over that."""

    def __init__(self, server: ScriptedServer, authority: Authority, timeout_s: float) -> None:
        self.server = server
        tls = ssl.create_default_context(cafile=str(authority.ca_file))
        policy = AccessSystemPolicy(AccessUrls(f"{server.url}/c"))
        responder = ForwardingResponder(policy, tls, timeout_s=timeout_s)
        self.session = ProxySession(responder, authority)
        self.client = Client(self.session.port, authority.ca_file)
        self.session.begin_page("http://a.org/", MOMENT)

    def log(self) -> list[LoggedExchange]:
        log = self.session.end_page(timeout_s=60)
        self.session.begin_page("next", MOMENT)
        return list(log.exchanges)

    def last(self) -> LoggedExchange:
        return self.log()[-1]


@contextmanager
def forwarded(
    scripts: dict[str, Script], *, secure: bool = False, timeout_s: float = 30.0
) -> Iterator[ForwardingScene]:
    authority = Authority()
    tls = authority.context("127.0.0.1") if secure else None
    with scripted(scripts, tls=tls) as server:
        through = ForwardingScene(server, authority, timeout_s)
        try:
            yield through
        finally:
            through.session.close()
            authority.close()


def bare(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", WHOLE, *lines, "", "")).encode() + body


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
@pytest.mark.parametrize(
    ("coding", "coded"),
    [("gzip", gzip.compress(b"words " * 999)), ("br", brotli.compress(b"words " * 999))],
    ids=["gzip", "br"],
)
def test_codings_go_on_untouched(coding: str, coded: bytes, secure: bool) -> None:
    script = bare(f"Content-Encoding: {coding}", f"Content-Length: {len(coded)}", body=coded)
    with forwarded({AT: script}, secure=secure) as at:
        said = at.client.ask(at.server.url + AT, fields={"Accept-Encoding": "gzip, br"})
        assert (said.status, said.fields["content-encoding"], said.body) == (200, coding, coded)
        assert (said.fields["content-length"], said.fields["cache-control"]) == (
            str(len(coded)),
            "no-store",
        )
        exchange = at.last()
        assert (exchange.url, exchange.outcome) == ("http://a.org/", "hit")
        assert (exchange.sent_bytes, exchange.is_whole) == (len(coded), True)


@pytest.mark.parametrize(
    "script",
    [
        bare("Transfer-Encoding: chunked", body=chunked(b"one ", b"two ", b"three")),
        bare("Transfer-Encoding: chunked", "Content-Length: 3", body=chunked(b"one two three")),
        bare(body=b"one two three"),
        b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + bare(body=b"one two three"),
        b"HTTP/1.0 200 OK\nContent-Length: 13\n\none two three and more that nobody asked for",
    ],
    ids=["chunked", "chunked and a length", "to the end", "an interim answer", "old and too long"],
)
def test_however_the_end_is_told(script: bytes) -> None:
    with forwarded({AT: script}) as at:
        assert at.client.ask(at.server.url + AT).body == b"one two three"
        assert at.last().is_whole


def test_what_the_browser_says_goes_on_and_no_more() -> None:
    with forwarded({AT: answer(b"", "204 No Content")}) as at:
        fields = {
            "Cookie": "a=b",
            "User-Agent": "x",
            "Range": "bytes=1-",
            "X": "y",
            "Connection": "X",
        }
        at.client.ask(at.server.url + AT, fields={**fields, "Proxy-Connection": "keep-alive"})
        head = at.server.asked[0].decode()
        assert head.startswith(f"GET {AT} HTTP/1.1\r\nHost: 127.0.0.1:{at.server.port}\r\n")
        for line in ("Cookie: a=b", "User-Agent: x", "Range: bytes=1-", "Connection: close"):
            assert f"\r\n{line}\r\n" in head
        assert "Proxy-" not in head
        assert "\r\nX: " not in head


def test_a_body_goes_to_the_server() -> None:
    with forwarded({AT: answer(b"thanks")}) as at:
        said = at.client.ask(at.server.url + AT, "POST", b"a=b" * 1000)
        assert said.body == b"thanks"
        assert at.server.asked[0].endswith(b"\r\n\r\n" + b"a=b" * 1000)
        assert at.last().method == "POST"


def test_a_body_that_is_not_kept_whole_is_not_sent_in_part() -> None:
    with forwarded({AT: answer(b"thanks")}) as at:
        said = at.client.ask(at.server.url + AT, "POST", b"a" * ((1 << 20) + 1))
        assert said.status == 403
        assert at.server.asked == []
        assert at.last().outcome == "fault"


def test_head_has_no_body() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"
    with forwarded({AT: head}) as at:
        said = at.client.ask(at.server.url + AT, "HEAD")
        assert (said.status, said.fields["content-length"], said.body) == (200, "999", b"")


def test_a_part_is_no_whole() -> None:
    part = answer(b"bc", "206 Partial Content", Content_Range="bytes 1-2/9")
    with forwarded({AT: part}) as at:
        said = at.client.ask(at.server.url + AT, fields={"Range": "bytes=1-2"})
        assert (said.status, said.fields["content-range"]) == (206, "bytes 1-2/9")
        assert not at.last().is_whole


def test_redirects_go_to_the_browser() -> None:
    with forwarded({AT: answer(b"", "302 Found", Location="http://elsewhere.example/")}) as at:
        said = at.client.ask(at.server.url + AT)
        assert (said.status, said.fields["location"]) == (302, "http://elsewhere.example/")


def hangs(connection: socket.socket) -> None:
    connection.recv(1)


def breaks_off(connection: socket.socket) -> None:
    connection.sendall(bare("Content-Length: 100", body=b"half of it"))


def breaks_chunks_off(connection: socket.socket) -> None:
    connection.sendall(bare("Transfer-Encoding: chunked", body=b"a\r\nhalf"))


def sends_no_chunks(connection: socket.socket) -> None:
    connection.sendall(bare("Transfer-Encoding: chunked", body=b"words\r\n" * 10))


def stops_in_its_body(connection: socket.socket) -> None:
    connection.sendall(bare("Content-Length: 100", body=b"half of it"))
    connection.recv(1)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (lambda connection: None, "header has no end"),
        (b"words\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 99_999, "header has no end"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 99, "interim (1xx) answers only"),
        (hangs, "sent nothing"),
    ],
    ids=["nothing", "words", "endless header", "endless promises", "silence"],
)
def test_no_answer_is_a_fault_that_is_said(script: Script, problem: str) -> None:
    with forwarded({AT: script}, timeout_s=0.5) as at:
        said = at.client.ask(at.server.url + AT)
        assert said.status == 502
        exchange = at.last()
        assert exchange.outcome == "fault"
        assert problem in (exchange.problem or "")
        assert problem in said.body.decode()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (breaks_off, "disconnected"),
        (breaks_chunks_off, "disconnected"),
        (sends_no_chunks, "invalid chunks"),
        (stops_in_its_body, "sent nothing"),
    ],
)
def test_half_a_body_is_never_taken_for_a_whole(script: Script, problem: str) -> None:
    with forwarded({AT: script}, timeout_s=0.5) as at:
        with pytest.raises((IncompleteRead, RemoteDisconnected)):
            at.client.ask(at.server.url + AT)
        exchange = at.last()
        assert (exchange.outcome, exchange.is_whole) == ("fault", False)
        assert exchange.payload_digest is None
        assert problem in (exchange.problem or "")


def test_a_server_that_is_gone() -> None:
    with forwarded({}) as at:
        at.server.shutdown()
        at.server.server_close()
        assert at.client.ask(at.server.url + AT).status == 502
        exchange = at.last()
        assert (exchange.outcome, exchange.url) == ("fault", "http://a.org/")
        assert "no connection to 127.0.0.1" in (exchange.problem or "")


def test_a_certificate_of_another_is_not_believed() -> None:
    with forwarded({AT: answer(b"x")}, secure=True) as at:
        other = Authority()
        at.server.tls = other.context("127.0.0.1")
        assert at.client.ask(at.server.url + AT).status == 502
        assert "certificate" in (at.last().problem or "")
        assert at.server.asked == []
        other.close()


def test_a_body_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward_answer, "MOST_BODY_BYTES", 1 << 22)

    def endless(connection: socket.socket) -> None:
        connection.sendall(bare())
        while True:
            connection.sendall(b"more" * 10_000)

    with forwarded({AT: endless}) as at:
        with pytest.raises(IncompleteRead):
            at.client.ask(at.server.url + AT)
        exchange = at.last()
        assert (exchange.outcome, exchange.is_whole) == ("fault", False)
        assert "longer than" in (exchange.problem or "")
        assert 1 << 22 < exchange.sent_bytes < 1 << 23


def test_what_still_comes_when_the_page_is_over_is_ended() -> None:
    ended = threading.Event()

    def drips(connection: socket.socket) -> None:
        connection.sendall(bare(body=b"begun "))
        try:
            while not ended.wait(0.01):
                connection.sendall(b".")
        except OSError:
            ended.set()

    with forwarded({AT: drips}) as at:
        connection = at.client.connect(at.server.url + AT)
        connection.request("GET", at.server.url + AT)
        answered = connection.getresponse()
        assert answered.read(6) == b"begun "
        log = at.session.end_page(timeout_s=0.1)
        assert [exchange.outcome for exchange in log.exchanges] == ["unfinished"]
        with pytest.raises(IncompleteRead):
            answered.read()
        assert ended.wait(60)
        connection.close()


def test_a_large_body_passes_in_little_memory() -> None:
    piece, count = bytes(range(256)) * 4096, 100

    def large(connection: socket.socket) -> None:
        connection.sendall(bare(f"Content-Length: {len(piece) * count}"))
        for _ in range(count):
            connection.sendall(piece)

    with forwarded({AT: large}) as at:
        connection = at.client.connect(at.server.url + AT)
        connection.request("GET", at.server.url + AT)
        answered = connection.getresponse()
        tracemalloc.start()
        digest, size = hashlib.sha256(), 0
        while part := answered.read(1 << 16):
            digest.update(part)
            size += len(part)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (size, digest.digest()) == (100 << 20, hashlib.sha256(piece * count).digest())
        assert peak_bytes < 8 << 20
        connection.close()
        assert at.last().is_whole


def test_outside_of_a_page_nothing_is_asked() -> None:
    with forwarded({AT: answer(b"x")}) as at:
        at.session.end_page()
        assert at.client.ask(at.server.url + AT).status == 403
        assert (at.server.asked, at.session.refused_outside) == ([], 1)
        with pytest.raises(ConfigError, match="no page"):
            at.session.end_page()
        at.session.begin_page("one", MOMENT)
        with pytest.raises(ConfigError, match="another page"):
            at.session.begin_page("two", MOMENT)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"Service-Worker": "script"}, "service worker"),
        ({"Upgrade": "websocket", "Connection": "Upgrade"}, "WebSockets"),
    ],
)
def test_what_is_passed_on_nowhere(fields: dict[str, str], why: str) -> None:
    with forwarded({AT: answer(b"x")}) as at:
        assert at.client.ask(at.server.url + AT, fields=fields).status == 403
        exchange = at.last()
        assert exchange.outcome == "refused"
        assert why in (exchange.problem or "")
        assert at.server.asked == []


def test_an_error_of_ours_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object) -> bytes:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(forwarding, "request_bytes", wrong)
    with forwarded({AT: answer(b"x")}) as at:
        assert at.client.ask(at.server.url + AT).status == 502
        assert "ZeroDivisionError: ours" in (at.last().problem or "")
