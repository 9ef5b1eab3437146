"""`GET /warc/{file}`: archive files and byte ranges of them, as ASGI.

`file` is what a CDX line calls `filename`, percent-encoded.  Below `/gzip/` a range is a record;
one that is compressed otherwise is given in gzip.  Source: RFC 9110 §14 (ranges), §13.1
(If-Range, If-None-Match), RFC 6266 (Content-Disposition).  The answer runs in no origin: it is a
download, its type is not guessed, and its policy is a sandbox.

The store is asked in threads, a piece at a time; a client that reads slowly holds a piece.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from typing import BinaryIO, NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes

from pinakes.catalog.stored_generations import StoredGeneration
from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.warc.source import Source

from .archive_bytes import ArchiveBytes, Denied, Dropped, Withdrawn
from .asgi import Message, Receive, Scope, Send, header_values, send_line
from .byte_range import NotSatisfiable, select_range
from .gzip_records import gzip_record, has_foreign_members

PREFIX = b"/warc/"
GZIP_PREFIX = b"/gzip/"
THREADS = 16
PIECE_BYTES = 1 << 18
STREAMS = 128
"""Answers of several pieces at once in a process."""

KNOWN_S = 1.0
_MOST_KNOWN = 1024
_TYPES = {"warc": b"application/warc"}
_POLICY = b"default-src 'none'; sandbox; frame-ancestors 'none'"
T = TypeVar("T")


class _Opened(NamedTuple):
    """An answer's bytes: those of `file` from `start` to `end`.

    `is_gzip` is whether they are the record made into gzip, in a temporary file.
    """

    file: BinaryIO
    start: int
    end: int
    is_gzip: bool = False


class _NeedsRange(Exception):
    """A file whose records are to be made into gzip is not given out as a whole."""


class WarcServer:
    """Answers what is below `/warc/`; with `in_gzip`, below `/gzip/`."""

    def __init__(self, files: ArchiveBytes, *, in_gzip: bool = False) -> None:
        self._files = files
        self._in_gzip = in_gzip
        self._prefix = GZIP_PREFIX if in_gzip else PREFIX
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="warc")
        self._streams = 0
        self._known: dict[str, tuple[float, StoredGeneration]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer GET and HEAD.

        Raises:
            StoreUnavailable, InputRefused: the store failed.
        """
        if scope["method"] not in ("GET", "HEAD"):
            await send_line(send, 405, headers=[(b"allow", b"GET, HEAD")])
            return
        asked = header_values(scope, b"range") if scope["method"] == "GET" else []
        if self._files.gives_records_only and not asked:
            await send_line(send, 403, "access rules are in force: ask for the range of one record")
            return
        name = unquote_to_bytes(scope["raw_path"][len(self._prefix) :]).decode(
            "utf-8", "surrogateescape"
        )
        file = await self._find(name)
        if file is None:
            await self._send_absent(send)
            return
        etag = self._etag(file)
        if etag in _listed(header_values(scope, b"if-none-match")):
            await send(self._head(304, file, []))
            await send({"type": "http.response.body"})
            return
        conditions = header_values(scope, b"if-range")
        if conditions and conditions != [etag]:
            asked = []
        try:
            # RFC 9110 §5.3: the same as one field with commas between.
            text = b",".join(asked).decode("latin-1") if asked else None
            part = select_range(text, file.size)
        except NotSatisfiable:
            if self._files.gives_records_only:  # the size tells that the file is there
                await self._send_absent(send)
                return
            size = b"bytes */%d" % file.size
            await send_line(send, 416, headers=[(b"content-range", size)])
            return
        await self._send(scope, receive, send, file, part)

    async def _send_absent(self, send: Send) -> None:
        """The same words for what is not there and for what may not be given out."""
        if self._files.gives_records_only:
            await send_line(send, 404, "no record that may be given out has this range")
        else:
            await send_line(send, 404, "no such archive file in the catalogue")

    async def _send(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        file: StoredGeneration,
        part: tuple[int, int] | None,
    ) -> None:
        start, end = part or (0, file.size)
        is_get = scope["method"] == "GET"
        is_long = end - start > PIECE_BYTES and is_get
        if is_long and self._streams >= STREAMS:
            words = "Service Unavailable: too many files are being read"
            await send_line(send, 503, words, [(b"retry-after", b"5")])
            return
        try:
            # Before the head is sent: a store that fails is a 503, not an answer that is cut off.
            first, opened = await self._in_thread(self._read_first, file, part, is_get)
        except Denied:
            await self._send_absent(send)
            return
        except Withdrawn:
            await send_line(send, 410, "Gone: a record in this range was withdrawn")
            return
        except Dropped as dropped:
            current = quote(dropped.current.encode("utf-8", "surrogateescape"))
            words = f"Gone: this generation was replaced and dropped; now it is {current}"
            await send_line(send, 410, words)
            return
        except _NeedsRange:
            words = (
                "records of this file are given in gzip, one at a time: ask for the range of one"
            )
            await send_line(send, 400, words)
            return
        except MalformedRecord as problem:
            await send_line(send, 416, f"not the range of a record: {problem.message}")
            return
        try:
            size = opened.end - opened.start
            headers = [(b"content-length", b"%d" % size)]
            if part is not None:
                whole = b"*" if opened.is_gzip else b"%d" % file.size
                headers.append(
                    (b"content-range", b"bytes %d-%d/%b" % (start, start + size - 1, whole))
                )
            await send(self._head(206 if part is not None else 200, file, headers))
            at = opened.start + len(first)
            more = not opened.file.closed
            await send({"type": "http.response.body", "body": first, "more_body": more})
            if more:
                await self._send_rest(receive, send, opened.file, at, opened.end)
        finally:
            if not opened.file.closed:
                await self._in_thread(opened.file.close)

    async def _find(self, name: str) -> StoredGeneration | None:
        """The file of that name; what was found stands for a moment.

        A page that is replayed asks for dozens of records of one file.
        """
        now_s = time.monotonic()
        known = self._known.get(name)
        if known is not None and now_s < known[0]:
            return known[1]
        file = await self._in_thread(self._files.find, name)
        if file is not None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[name] = (now_s + KNOWN_S, file)
        return file

    def _read_first(
        self, file: StoredGeneration, part: tuple[int, int] | None, is_get: bool
    ) -> tuple[bytes, _Opened]:
        """The first piece, and what there is to read; closed where nothing else is."""
        opened = self._open(file, part)
        is_more = False
        try:
            first = _read(opened.file, opened.start, opened.end) if is_get else b""
            is_more = is_get and opened.start + len(first) < opened.end
        finally:
            if not is_more:
                opened.file.close()
        return first, opened

    def _open(self, file: StoredGeneration, part: tuple[int, int] | None) -> _Opened:
        start, end = part or (0, file.size)
        stored = _Opened(self._files.open(file, start, end), start, end)
        if not self._in_gzip:
            return stored
        with ExitStack() as stack:
            stack.enter_context(stored.file)
            source = Source(stored.file, name=file.name)
            if not has_foreign_members(source, start):
                stack.pop_all()
                return stored
            if part is None:
                raise _NeedsRange
            member, size = gzip_record(source, start, end)
            return _Opened(member, 0, size, is_gzip=True)

    async def _send_rest(
        self, receive: Receive, send: Send, opened: BinaryIO, at: int, end: int
    ) -> None:
        gone = asyncio.ensure_future(_until_gone(receive))
        self._streams += 1
        try:
            while at < end and not gone.done():
                piece = await self._in_thread(_read, opened, at, end)
                at += len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": at < end})
        finally:
            self._streams -= 1
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone

    def _head(
        self, status: int, file: StoredGeneration, headers: list[tuple[bytes, bytes]]
    ) -> Message:
        name = quote(file.name.rpartition("/")[2].encode("utf-8", "surrogateescape"), safe="")
        common = [
            (b"content-type", _TYPES.get(file.format, b"application/octet-stream")),
            (b"accept-ranges", b"bytes"),
            (b"etag", self._etag(file)),
            (b"content-disposition", b"attachment; filename*=UTF-8''" + name.encode()),
            (b"content-security-policy", _POLICY),
        ]
        return {"type": "http.response.start", "status": status, "headers": common + headers}

    def _etag(self, file: StoredGeneration) -> bytes:
        """Strong: the same bytes, of the same length."""
        form = b"-gzip" if self._in_gzip else b""
        return b'"%b-%x%b"' % (file.sha256[:32].encode("ascii"), file.size, form)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(function, *arguments))


def _read(opened: BinaryIO, at: int, end: int) -> bytes:
    opened.seek(at)
    piece = opened.read(min(PIECE_BYTES, end - at))
    if not piece:
        raise DigestMismatch("a stored file is shorter than what was written", offset=at)
    return piece


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _listed(values: list[bytes]) -> list[bytes]:
    """The entity tags of If-None-Match, weak ones as strong (RFC 9110 §13.1.2)."""
    listed = b",".join(values).split(b",")
    return [one.strip().removeprefix(b"W/") for one in listed]
