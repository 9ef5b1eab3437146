"""Answers requests from the archive: finds the capture, resolves revisits, makes the head.

A revisit is answered with its own header and the body of the record it refers to, whichever
program wrote it.  A damaged or lost record is a fault that names the record; another capture
never takes its place, since finding such faults is the purpose of QA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from heapq import nlargest
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import CaptureRow, Placed, scan_captures_of
from pinakes.catalog.file_rows import hidden_among
from pinakes.catalog.payloads import resolve
from pinakes.catalog.sound_records import require_body_of
from pinakes.errors import MalformedRecord, PinakesError, UnresolvedReference
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import parse_digits_date
from pinakes.warc.field_names import CONTENT_TYPE_KEY, WARC_TRUNCATED_KEY
from pinakes.warc.http.decoders import FIRST_BYTES, is_coded
from pinakes.warc.http.message import Dechunker, HttpHead
from pinakes.warc.record import Record

from .answer_head import captured_head
from .generations import Generation, GenerationReader
from .index_lookup import IndexLookup, ReplayCandidate, reason_to_skip
from .request import ProxyRequest
from .sending import ReplayAnswer, outcome_of, own_answer

MOST_TRIED = 32
"""Most captures opened to find one that is neither a redirect to itself nor a 304."""

_MOST_BEFORE = 1_000
"""Most earlier captures of a URL that are read for a 304 that names none."""

_DAMAGE = frozenset({"crc", "damaged", "truncated"})
_PIECE_BYTES = 1 << 16
_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE_BYTES = 1 << 12
_LINE_ENDS = (b"\n", b"\r\n", b"\n\n", b"\r\n\r\n")


class _Opened(NamedTuple):
    """A capture's head, and its body."""

    head: HttpHead
    payload: Payload | None


class ArchiveAnswers:
    """Answers requests from one generation of the archive, or of one collection in it.

    Safe for several threads.
    """

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        generation: Generation = "current",
        *,
        collection: str | None = None,
    ) -> None:
        self._rows = rows
        self._collection = collection
        self._lookup = IndexLookup(rows)
        self._reader = GenerationReader(rows, archive, generation)

    @contextmanager
    def answer(self, request: ProxyRequest, moment: datetime) -> Iterator[ReplayAnswer]:
        """What the archive has for a request, closest to that moment.

        Faults of the archive and of an unavailable store are answers as well.
        """
        key = urlkey(request.lookup_uri)
        with ExitStack() as stack:
            yield self._answer(stack, request, moment, key)

    def _answer(
        self, stack: ExitStack, request: ProxyRequest, moment: datetime, key: str
    ) -> ReplayAnswer:
        found: ReplayCandidate | None = None
        second_best: ReplayCandidate | None = None
        try:
            for tried, found in enumerate(self._visible(request, moment)):
                if tried >= MOST_TRIED:
                    break
                with ExitStack() as opened:
                    answer, why = self._answer_by(opened, found, request, key)
                    if why is None:
                        stack.enter_context(opened.pop_all())
                        return answer
                second_best = second_best or found
            if (found := second_best) is not None:
                return self._answer_by(stack, found, request, key)[0]
        except PinakesError as error:
            outcome = outcome_of(error)
            status = 503 if outcome == "unavailable" else 502
            return own_answer(
                outcome, status, str(error), key=key, found=found, has_body=request.wants_body
            )
        text = f"{request.method} {request.uri}"
        return own_answer("miss", 404, text, key=key, has_body=request.wants_body)

    def _visible(self, request: ProxyRequest, moment: datetime) -> Iterator[ReplayCandidate]:
        for candidate in self._lookup.candidates(request, moment):
            if self._is_visible(candidate.capture):
                yield candidate

    def _is_visible(self, capture: CaptureRow) -> bool:
        file = capture.facts.archive_file
        if self._collection not in (None, self._reader.collection_of(file)):
            return False
        return not hidden_among(self._rows, [file])

    def _answer_by(
        self, stack: ExitStack, found: ReplayCandidate, request: ProxyRequest, key: str
    ) -> tuple[ReplayAnswer, str | None]:
        """The answer by this capture, and the reason to prefer another, if any."""
        head, payload = self._open(stack, found.capture)
        size = payload.size if payload is not None else 0
        coding = ", ".join(head.get_all("content-encoding"))
        coded = not coding or (payload is not None and is_coded(coding, payload.first(FIRST_BYTES)))
        captured = parse_digits_date(found.capture.time[:14])
        made = captured_head(head, request, size, coded=coded, captured=captured)
        answer = ReplayAnswer(
            outcome="hit",
            head=made,
            body=payload.pieces(made.start, made.end)
            if payload is not None and request.wants_body
            else (),
            has_body=request.wants_body,
            urlkey=key,
            found=found,
            problem=payload.problem if payload is not None else None,
        )
        return answer, reason_to_skip(request, head)

    def _open(self, stack: ExitStack, capture: CaptureRow) -> _Opened:
        record = self._record(stack, self._reader.place(capture))
        if record.type != "revisit":
            head = head_of(record)
            return _Opened(head, _payload_of(record, head))
        own = record.http
        # "Not modified" refers to the head of the earlier answer as well.
        is_own = own is not None and own.status is not None and own.status != 304
        try:
            original = self._record(stack, self._original(capture, record))
        except UnresolvedReference:
            if own is not None and is_own and 300 <= (own.status or 0) < 400:
                return _Opened(own, None)  # no browser reads the body of a redirect
            meant = self._answer_before(capture) if own is not None and not is_own else None
            if meant is None:
                raise
            return self._open(stack, meant)
        if original.type == "revisit":
            raise UnresolvedReference(
                "the record it refers to is a revisit, which has no body",
                file=capture.key.decode("ascii"),
            )
        require_body_of(original, capture.facts, file=capture.key.decode("ascii"))
        theirs = head_of(original)
        head = own if own is not None and is_own else theirs
        return _Opened(head, _payload_of(original, theirs, or_chunked=head.says_chunked))

    def _original(self, capture: CaptureRow, revisit: Record) -> Placed:
        # By the record's own fields, as every other tool does, not by the catalogue's note of
        # dedupe: QA checks whether the two agree.
        placed = resolve(self._rows, replace(capture, dedupe=None), revisit)
        return self._reader.place(placed.capture)

    def _answer_before(self, capture: CaptureRow) -> CaptureRow | None:
        """The latest earlier 200 of its URL, for a "not modified" that names no record.

        It may be a revisit, which is opened like any other.
        """
        earlier = scan_captures_of(
            self._rows, urlkey(capture.facts.target_uri), stop_time=capture.time
        )
        answers = nlargest(_MOST_BEFORE, filter(_is_200, earlier), key=lambda found: found.time)
        return next(filter(self._is_visible, answers), None)

    def _record(self, stack: ExitStack, placed: Placed) -> Record:
        """The record at a place, whole.

        Raises:
            MalformedRecord: the record is damaged.
        """
        record = stack.enter_context(self._reader.open(placed))
        for finding in record.findings:
            if finding.code in _DAMAGE:
                raise MalformedRecord(
                    finding.message, file=placed.file, offset=placed.location.offset
                )
        return record


def _is_200(capture: CaptureRow) -> bool:
    """Whether it is a 200, or a revisit without a head that may be one."""
    facts = capture.facts
    bare = facts.type == "revisit" and facts.status is None
    return facts.status == 200 or (bare and "not-modified" not in (facts.profile or ""))


def _payload_of(record: Record, head: HttpHead, *, or_chunked: bool = False) -> Payload:
    chunked = or_chunked or head.says_chunked
    return Payload(record, said_chunked=chunked, said_size=head.content_length)


def head_of(record: Record) -> HttpHead:
    """The HTTP head of a full record; for a resource, one made from its media type."""
    if record.type == "resource" or (record.http is None and record.type != "revisit"):
        media_type = record.header.field(CONTENT_TYPE_KEY) or "application/octet-stream"
        line = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n"
        return HttpHead(line.encode("utf-8", "surrogateescape"))
    return record.http or HttpHead(b"")


class Payload:
    """The body of a record as it is sent: without transfer-coding, else as stored.

    Its size is known before the first byte is sent.

    A body may not be chunked although its header says so: some writers remove the chunks and keep
    the header field.  So such a body is read once before, which also gives its length.  If it
    breaks off within its chunks it is sent as far as it goes; if its first chunk is invalid, as
    stored.

    Some writers count the line ends after a record as part of its block: if all bytes beyond the
    Content-Length are line ends, they are left out.
    """

    def __init__(self, record: Record, *, said_chunked: bool, said_size: int | None = None) -> None:
        self._record = record
        self.size = record.payload_size
        cut_off = record.header.field(WARC_TRUNCATED_KEY)
        self.problem = None if cut_off is None else f"truncated by the crawl: {cut_off}"
        self._chunked = False
        if said_chunked:
            self._measure_chunked()
        elif (
            said_size is not None
            and 0 < self.size - said_size <= len(_LINE_ENDS[-1])
            and b"".join(self.pieces(said_size, self.size)) in _LINE_ENDS
        ):
            self.size = said_size

    def _measure_chunked(self) -> None:
        dechunker = Dechunker()
        size = sum(len(part) for p in self._record.payload() for part in dechunker.feed(p))
        if not dechunker.finished:
            if not size or not self._begins_with_a_chunk():
                return
            self.problem = self.problem or "the body ends within a chunk"
        self._chunked, self.size = True, size

    def _begins_with_a_chunk(self) -> bool:
        """Whether CR LF ends the first chunk's size and, if it is there, its data: RFC 9112 §7.1.

        The dechunker accepts LF alone, as some servers write, and so any line of digits.
        """
        line = _SIZE_LINE.match(self.first(_LINE_BYTES))
        if line is None:
            return False
        end = line.end() + int(line[1], 16)
        return end + 2 > self.size or b"".join(self.pieces(end, end + 2)) == b"\r\n"

    def pieces(self, start: int, end: int) -> Iterator[memoryview]:
        """The bytes `[start, end)`, in pieces of at most 64 KiB."""
        position, left = start, end - start
        if self._chunked:
            dechunker = Dechunker()
            stored: Iterator[bytes | memoryview] = (
                part for p in self._record.payload() for part in dechunker.feed(p)
            )
            position = 0
        else:
            stored = self._record.chunks(self._record.payload_offset + start)
        for piece in stored:
            if not left:
                return
            part = memoryview(piece)[max(0, start - position) :][:left]
            position += len(piece)
            left -= len(part)
            for at in range(0, len(part), _PIECE_BYTES):
                yield part[at : at + _PIECE_BYTES]

    def first(self, count: int) -> bytes:
        """The first `count` bytes at most."""
        return b"".join(self.pieces(0, min(count, self.size)))
