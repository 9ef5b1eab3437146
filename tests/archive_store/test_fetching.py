"""One file fetched whole, from servers that misbehave."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest
from range_server import Handler, serving

from pinakes.archive_store.http.fetching import Fetch
from pinakes.errors import InputRefused

CONTENT = bytes(range(256)) * 40
FILES = {"a": CONTENT, "empty": b""}
Behave = Callable[[int, Handler], bool]


def fetched(name: str, behave: Behave = lambda number, handler: False, **more: object) -> bytes:
    out = io.BytesIO()
    with serving(FILES) as server:
        server.behave = behave
        settings: dict[str, object] = {"admit": lambda url: None, "most_bytes": 1 << 20, **more}
        Fetch(f"{server.url}/{name}", pause=lambda _: None, **settings).into(out)  # type: ignore[arg-type]
    return out.getvalue()


def _whole(number: int, handler: Handler) -> bool:
    del handler.headers["Range"]
    return False


def _whole_but_dies_once(number: int, handler: Handler) -> bool:
    del handler.headers["Range"]
    if number == 1:
        handler.answer(200, CONTENT[:5000], length=len(CONTENT))
    return number == 1


def _pieces(number: int, handler: Handler) -> bool:
    """A server that never gives more than 999 bytes."""
    start = int((handler.headers["Range"] or "=0-").partition("=")[2].partition("-")[0])
    handler.answer_range(CONTENT, start, min(start + 999, len(CONTENT)))
    return True


def _busy_first(number: int, handler: Handler) -> bool:
    if number < 4:
        handler.answer(503, b"later")
    return number < 4


@pytest.mark.parametrize(
    ("name", "behave", "content"),
    [
        pytest.param("a", lambda number, handler: False, CONTENT, id="ranges"),
        pytest.param("a", _whole, CONTENT, id="no ranges"),
        pytest.param("a", _whole_but_dies_once, CONTENT, id="no ranges, dies once"),
        pytest.param("a", _pieces, CONTENT, id="few bytes an answer"),
        pytest.param("a", _busy_first, CONTENT, id="busy at first"),
        pytest.param("empty", lambda number, handler: False, b"", id="empty"),
    ],
)
def test_all_bytes_arrive(name: str, behave: Behave, content: bytes) -> None:
    assert fetched(name, behave) == content


def _drips(number: int, handler: Handler) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 19))
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.02)
    handler.hang_up()
    return True


def _longer(number: int, handler: Handler) -> bool:
    """Chunked, so that nothing but Content-Range says how long it is."""
    handler.send_response(206)
    handler.send_header("Content-Range", "bytes 0-9/10")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"14\r\n" + bytes(20) + b"\r\n0\r\n\r\n")
    return True


def _missing(number: int, handler: Handler) -> bool:
    handler.answer(404, b"not here")
    return True


def _always_busy(number: int, handler: Handler) -> bool:
    handler.answer(503, b"later")
    return True


@pytest.mark.parametrize(
    ("behave", "more", "why"),
    [
        pytest.param(lambda n, h: False, {"most_bytes": 10_000}, "10,240 bytes", id="too long"),
        pytest.param(_drips, {"slow_s": 0.2}, "bytes in 0.2 s", id="a drip"),
        pytest.param(_longer, {}, "sends more than it says", id="more than it says"),
        pytest.param(_missing, {}, "not found on the server", id="not there"),
        pytest.param(_always_busy, {}, "failed 5 times", id="always busy"),
    ],
)
def test_what_goes_wrong_is_refused(behave: Behave, more: dict[str, object], why: str) -> None:
    with pytest.raises(InputRefused, match=why):
        fetched("a", behave, **more)


def test_each_url_is_asked_for_by_leave() -> None:
    asked = []

    def behave(number: int, handler: Handler) -> bool:
        if number == 1:
            handler.answer(302, b"", {"Location": "/empty"})
        return number == 1

    assert fetched("a", behave, admit=asked.append) == b""
    assert [url.rpartition("/")[2] for url in asked] == ["a", "empty"]
