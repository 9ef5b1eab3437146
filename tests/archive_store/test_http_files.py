"""The reader's contract over loopback, and servers that misbehave."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, cast
from urllib.parse import quote

import pytest
from archive_contract import FILES, LARGE, ArchiveReaderContract
from range_server import Handler, RangeServer, serving

from pinakes.archive_store.http import files as http
from pinakes.archive_store.http.files import HttpFile
from pinakes.archive_store.names import check_file_name
from pinakes.archive_store.port import NotThere
from pinakes.errors import ConfigError, InputRefused, StoreUnavailable


class HttpFiles:
    """The files below a URL, by name, as the contract reads them."""

    def __init__(self, base_url: str, **options: Any) -> None:
        self._base_url, self._options = base_url, options

    def open(self, name: str) -> BinaryIO:
        path = quote(check_file_name(name).as_posix().encode("utf-8", "surrogateescape"))
        file = HttpFile(f"{self._base_url}/{path}", **self._options)
        return cast("BinaryIO", io.BufferedReader(file, http.BUFFER_BYTES))

    def size(self, name: str) -> int | None:
        try:
            with self.open(name) as file:
                return file.seek(0, io.SEEK_END)
        except NotThere:
            return None


@pytest.fixture(scope="module")
def files_server() -> Iterator[RangeServer]:
    with serving(FILES) as server:
        yield server


class TestHttpReader(ArchiveReaderContract):
    @pytest.fixture
    def reader(self, files_server: RangeServer) -> HttpFiles:
        return HttpFiles(files_server.url)


class TestHttpReaderWithoutRanges(ArchiveReaderContract):
    """A server that ignores Range sends everything, once."""

    @pytest.fixture
    def reader(self) -> Iterator[HttpFiles]:
        def ignore(number: int, handler: Handler) -> bool:
            del handler.headers["Range"]
            content = handler.content()
            if content is None:
                return False
            handler.answer(200, content)
            return True

        with serving(FILES) as server:
            server.behave = ignore
            yield HttpFiles(server.url)


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with serving(FILES) as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def reader(server: RangeServer, pauses: list[float]) -> HttpFiles:
    return HttpFiles(server.url, attempts=4, pause=pauses.append, timeout_s=5)


def test_ranges_are_read_over_one_connection(server: RangeServer, reader: HttpFiles) -> None:
    with reader.open("crawl/large.bin") as file:
        file.seek(600_000)
        assert file.read(10) == LARGE[600_000:600_010]
        file.seek(0)
        assert file.read(10) == LARGE[:10]
    assert server.connections == 1
    assert server.requests[0] == "bytes=0-0"
    assert len(server.requests) == 3


def test_a_large_read_is_one_request(server: RangeServer, reader: HttpFiles) -> None:
    with reader.open("crawl/large.bin") as file:
        file.read(http.BUFFER_BYTES * 2)
    assert server.requests[1:] == [f"bytes=0-{http.BUFFER_BYTES * 2 - 1}"]


def test_reading_a_whole_file_is_one_request(server: RangeServer, reader: HttpFiles) -> None:
    with reader.open("crawl/large.bin") as file:
        file.seek(100)
        assert file.read() == LARGE[100:]
    assert server.requests[1:] == [f"bytes=100-{len(LARGE) - 1}"]


def test_short_answers_are_completed(server: RangeServer, reader: HttpFiles) -> None:
    def short(number: int, handler: Handler) -> bool:
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        handler.answer_range(LARGE, first, min(last + 1, first + 50_000))
        return True

    server.behave = short
    with reader.open("crawl/large.bin") as file:
        assert file.read() == LARGE
    assert server.connections == 1


def test_broken_off_answers_are_completed(
    server: RangeServer, reader: HttpFiles, pauses: list[float]
) -> None:
    def break_off(number: int, handler: Handler) -> bool:
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        part = LARGE[first : last + 1]
        where = {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(LARGE)}"}
        handler.answer(206, part[: max(1, len(part) // 2)], where, length=len(part))
        return True

    server.behave = break_off
    with reader.open("crawl/large.bin") as file:
        assert file.read() == LARGE
    assert server.connections > 2
    assert pauses == []  # every answer brought something: none counts as a failure


@pytest.mark.parametrize("status", [429, 500, 503])
def test_unavailable_server_is_asked_again(
    server: RangeServer, reader: HttpFiles, pauses: list[float], status: int
) -> None:
    def busy(number: int, handler: Handler) -> bool:
        if number in (2, 3):
            handler.answer(status, b"later", {"Retry-After": "7"} if number == 3 else None)
            return True
        return False

    server.behave = busy
    with reader.open("top") as file:
        assert file.read() == FILES["top"]
    assert pauses == [0.0, 7.0]


def test_reset_connection_is_opened_again(
    server: RangeServer, reader: HttpFiles, pauses: list[float]
) -> None:
    def reset(number: int, handler: Handler) -> bool:
        if number % 2 == 0:
            handler.hang_up()
        return number % 2 == 0

    server.behave = reset
    with reader.open("crawl/large.bin") as file:
        for offset in range(0, len(LARGE), 100_000):
            file.seek(offset)
            assert file.read(500) == LARGE[offset : offset + 500]
    assert set(pauses) == {0.0}


def test_silent_server_is_given_up(
    server: RangeServer, reader: HttpFiles, pauses: list[float]
) -> None:
    def reset(number: int, handler: Handler) -> bool:
        handler.hang_up()
        return True

    with reader.open("top") as file:
        server.behave = reset
        with pytest.raises(StoreUnavailable, match="failed 4 times") as error:
            file.read()
        assert error.value.file == f"{server.url}/top"
    assert pauses == [0.0, 0.5, 1.0]


def test_refused_connection() -> None:
    with serving({}) as server:
        url = server.url
    reader = HttpFiles(url, attempts=2, pause=lambda _: None)
    with pytest.raises(StoreUnavailable, match="failed 2 times"):
        reader.size("top")


def change_size(server: RangeServer) -> None:
    server.files["crawl/large.bin"] = LARGE + b"more"


def change_etag(server: RangeServer) -> None:
    server.etag = '"2"'


def shrink(server: RangeServer) -> None:
    server.files["crawl/large.bin"] = LARGE[:10]


def remove(server: RangeServer) -> None:
    del server.files["crawl/large.bin"]


@pytest.mark.parametrize("change", [change_size, change_etag, shrink, remove])
def test_changed_file_is_refused(server: RangeServer, reader: HttpFiles, change: object) -> None:
    with reader.open("crawl/large.bin") as file:
        assert file.read(10) == LARGE[:10]
        change(server)  # type: ignore[operator]
        file.seek(500_000)
        with pytest.raises(InputRefused, match=r"changed on the server|not found"):
            file.read(10)


def test_whole_answer_of_other_length_is_a_change(server: RangeServer, reader: HttpFiles) -> None:
    def chunked(number: int, handler: Handler) -> bool:
        if number == 1:
            return False
        handler.send_response(200)
        handler.send_header("ETag", server.etag)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"3\r\nabc\r\n0\r\n\r\n")
        return True

    server.behave = chunked
    with reader.open("top") as file, pytest.raises(InputRefused, match="changed"):
        file.read()


def test_changed_last_modified_is_a_change(server: RangeServer, reader: HttpFiles) -> None:
    dates = iter(["Mon, 01 Jan 2024 00:00:00 GMT", "Tue, 02 Jan 2024 00:00:00 GMT"])

    def dated(number: int, handler: Handler) -> bool:
        first, last = map(int, handler.headers["Range"].removeprefix("bytes=").split("-"))
        part = LARGE[first : last + 1]
        where = f"bytes {first}-{first + len(part) - 1}/{len(LARGE)}"
        handler.answer(206, part, {"Content-Range": where, "Last-Modified": next(dates)})
        return True

    server.behave = dated
    with reader.open("crawl/large.bin") as file, pytest.raises(InputRefused, match="changed"):
        file.read(1)


def test_server_stops_serving_ranges(server: RangeServer, reader: HttpFiles) -> None:
    def whole(number: int, handler: Handler) -> bool:
        if number > 2:
            handler.answer(200, LARGE)
        return number > 2

    server.behave = whole
    with reader.open("crawl/large.bin") as file:
        for offset in (0, 650_000, 300_000):
            file.seek(offset)
            assert file.read(100) == LARGE[offset : offset + 100]
    assert len(server.requests) == 3


def test_broken_off_whole_answer_is_asked_for_again(server: RangeServer, reader: HttpFiles) -> None:
    def broken(number: int, handler: Handler) -> bool:
        body = LARGE[:1000] if number == 1 else LARGE
        handler.answer(200, body, length=len(LARGE))
        return True

    server.behave = broken
    with reader.open("crawl/large.bin") as file:
        assert file.read() == LARGE
    assert len(server.requests) == 2


def test_whole_answer_in_chunks(server: RangeServer, reader: HttpFiles) -> None:
    def chunked(number: int, handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
        return True

    server.behave = chunked
    with reader.open("top") as file:
        assert file.read() == b"abcdefg"
    assert reader.size("top") == 7


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (206, {}, "without Content-Range"),
        (206, {"Content-Range": "bytes 5-5/10"}, "another range"),
        (206, {"Content-Range": "bytes 0-0/*"}, "does not send the size"),
        (200, {"Content-Encoding": "br"}, r"sends the file encoded \(br\), unasked"),
        (206, {"Content-Range": "items 0-0/10"}, "without Content-Range"),
        (206, {"Content-Type": "multipart/byteranges; boundary=x"}, "without Content-Range"),
        (403, {}, "403 Forbidden"),
        (401, {}, "401 Unauthorized"),
        (204, {}, "204 No Content"),
        (302, {}, "too many redirects"),
        (302, {"Location": "ftp://example.org/"}, "redirects to"),
        (302, {"Location": "http://[::1"}, "redirects to"),
        (302, {"Location": "http://user:secret@127.0.0.1/"}, "redirects to"),
    ],
)
def test_useless_answer_is_refused(
    server: RangeServer,
    reader: HttpFiles,
    status: int,
    headers: dict[str, str],
    message: str,
) -> None:
    def answer(number: int, handler: Handler) -> bool:
        handler.answer(status, b"x", headers)
        return True

    server.behave = answer
    with pytest.raises(InputRefused, match=message):
        reader.open("top")


def test_a_body_longer_than_its_range_is_refused(server: RangeServer, reader: HttpFiles) -> None:
    """Its first bytes may be those of another place."""
    whole = server.files["top"]

    def answer(number: int, handler: Handler) -> bool:
        headers = {"Content-Range": f"bytes 2-{len(whole) - 1}/{len(whole)}"}
        if number > 1:
            handler.answer(206, whole, headers)
        return number > 1

    server.behave = answer
    with reader.open("top") as file:
        file.seek(2)
        with pytest.raises(InputRefused, match="more than the range"):
            file.read(3)


def test_redirection_is_followed_once(server: RangeServer, reader: HttpFiles) -> None:
    def move(number: int, handler: Handler) -> bool:
        moved = handler.path == "/old/top"
        if moved:
            handler.answer(301, b"", {"Location": "/top"})
        return moved

    server.behave = move
    with reader.open("old/top") as file:
        assert file.read(3) == b"012"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "example.org",
        "http://",
        "http://example.org:port/",
        "http://example.org:0/",
        "http://user:secret@example.org/",
        "http://example.org/a b",
        "http://exämple.org/",
        "http://example.org/\r\nX: y",
    ],
)
def test_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        HttpFile(url)


def test_seek_before_start_is_refused(reader: HttpFiles) -> None:
    with reader.open("top") as file, pytest.raises(ValueError, match="before the beginning"):
        file.seek(-11, 2)
