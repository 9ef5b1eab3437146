"""`GET /warc/{file}`: archive files and byte ranges of them, as ASGI.

`file` is what a CDX line calls `filename`, percent-encoded.  Below `/gzip/` a range is a record;
one that is compressed otherwise is given in gzip.  Source: RFC 9110 §14 (ranges), §13.1
(If-Range, If-None-Match), RFC 6266 (Content-Disposition).  The answer runs in no origin: it is a
download, its type is not guessed, and its policy is a sandbox.

The store is asked in threads, a piece at a time; a client that reads slowly holds a piece.
"""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote_to_bytes

from pinakes.catalog.stored_generations import StoredGeneration
from pinakes.errors import MalformedRecord
from pinakes.warc.compression.members import compression_of
from pinakes.warc.slices import iter_slice
from pinakes.warc.source import IN_MEMORY_BYTES, Source
from pinakes.warc.write import gzip_member

from .archive_bytes import ArchiveBytes, Denied, GenerationDropped, Withdrawn
from .asgi import Message, Receive, Scope, Send, header_values, send_line
from .byte_range import NotSatisfiable, select_range
from .checked_bytes import PIECE_BYTES, CheckedBytes
from .pieces import in_thread, send_rest

LEVEL = 1
"""An answer is sent once, and not kept."""

_READ_BY_ALL = (None, "gzip")


def has_foreign_members(source: Source, offset: int) -> bool:
    """Whether a stored file, or what is at this place of it, is compressed, and not as gzip."""
    return any(compression_of(source, at) not in _READ_BY_ALL for at in (0, offset))


def gzip_record(source: Source, start: int, end: int) -> tuple[BinaryIO, int]:
    """The record at `[start, end)` of a stored file as a gzip member: a temporary file, its size.

    In memory up to 4 MiB.

    Raises:
        MalformedRecord: these bytes are not one record, or damaged.
    """
    spooled = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 (the caller closes it)
    try:
        for piece in gzip_member(iter_slice(source, start, end - start), level=LEVEL):
            spooled.write(piece)
        return cast("BinaryIO", spooled), spooled.tell()
    except BaseException:
        spooled.close()
        raise


PREFIX = b"/warc/"
GZIP_PREFIX = b"/gzip/"
THREADS = 16
STREAMS = 128
"""Answers of several pieces at once in a process."""

KNOWN_S = 1.0
_MOST_KNOWN = 1024
_TYPES = {"warc": b"application/warc"}
_POLICY = b"default-src 'none'; sandbox; frame-ancestors 'none'"


class _Opened(NamedTuple):
    """An answer's bytes; `is_gzip` is whether they are the record made into gzip."""

    content: CheckedBytes
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
            if self._files.gives_records_only:  # the size would show that the file is there
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
            first, opened = await in_thread(self._threads, self._read_first, file, part, is_get)
        except Denied:
            await self._send_absent(send)
            return
        except Withdrawn:
            await send_line(send, 410, "Gone: a record in this range was withdrawn")
            return
        except GenerationDropped as dropped:
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
        content = opened.content
        try:
            headers = [(b"content-length", b"%d" % content.size)]
            if part is not None:
                last = start + content.size - 1
                whole = b"*" if opened.is_gzip else b"%d" % file.size
                headers.append((b"content-range", b"bytes %d-%d/%b" % (start, last, whole)))
            await send(self._head(206 if part is not None else 200, file, headers))
            more = is_get and not content.is_done
            await send({"type": "http.response.body", "body": first, "more_body": more})
            if more:
                await self._send_rest(receive, send, content)
        finally:
            if not content.file.closed:
                await in_thread(self._threads, content.close)

    async def _find(self, name: str) -> StoredGeneration | None:
        """The file of that name; what was found stands for a moment.

        A page that is replayed asks for dozens of records of one file.
        """
        now_s = time.monotonic()
        known = self._known.get(name)
        if known is not None and now_s < known[0]:
            return known[1]
        file = await in_thread(self._threads, self._files.find, name)
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
        content, is_more = opened.content, False
        try:
            first = content.next_piece() if is_get else b""
            is_more = is_get and not content.is_done
        finally:
            if not is_more:
                content.close()
        return first, opened

    def _open(self, file: StoredGeneration, part: tuple[int, int] | None) -> _Opened:
        start, end = part or (0, file.size)
        stored = self._files.open(file, start, end)
        if not self._in_gzip:
            return _Opened(stored)
        try:
            made = self._made_into_gzip(stored, file, part)
        except BaseException:
            stored.close()
            raise
        if made is None:
            return _Opened(stored)
        stored.close()
        return _Opened(made, is_gzip=True)

    def _made_into_gzip(
        self, stored: CheckedBytes, file: StoredGeneration, part: tuple[int, int] | None
    ) -> CheckedBytes | None:
        """The record made into gzip; None where a client of gzip can read it as it is."""
        source = Source(stored.file, name=file.name)
        if not has_foreign_members(source, part[0] if part else 0):
            return None
        if part is None:
            raise _NeedsRange
        stored.require_proven()
        member, size = gzip_record(source, *part)
        return CheckedBytes(member, 0, size, name=file.name)

    async def _send_rest(self, receive: Receive, send: Send, content: CheckedBytes) -> None:
        async def next_piece() -> bytes | None:
            return None if content.is_done else await in_thread(self._threads, content.next_piece)

        self._streams += 1
        try:
            await send_rest(receive, send, next_piece)
        finally:
            self._streams -= 1

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


def _listed(values: list[bytes]) -> list[bytes]:
    """The entity tags of If-None-Match, weak ones as strong (RFC 9110 §13.1.2)."""
    listed = b",".join(values).split(b",")
    return [one.strip().removeprefix(b"W/") for one in listed]
