"""Answers requests from the archive: finds the capture, resolves revisits, makes the head.

A revisit is answered with its own header and the body of the record it refers to, whichever
program wrote it.  A damaged or lost record is a fault that names the record; another capture
never takes its place, since finding such faults is the purpose of QA.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import Capture, Placed, scan_captures_of
from pinakes.catalog.file_rows import hidden_among
from pinakes.catalog.payloads import resolve
from pinakes.catalog.sound_records import require_body_of
from pinakes.errors import MalformedRecord, PinakesError, StoreUnavailable, UnresolvedReference
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import parse_digits_date
from pinakes.warc.field_names import CONTENT_TYPE_KEY
from pinakes.warc.http.decoders import FIRST_BYTES, is_coded
from pinakes.warc.http.message import HttpHead
from pinakes.warc.record import Record

from .answer_head import AnswerHead, Field, captured_head, own_head
from .generations import Generation, GenerationReader
from .index_lookup import Candidate, IndexLookup, reason_to_skip
from .page_log import Outcome
from .payload import Payload
from .request import ProxyRequest

MOST_TRIED = 32
"""Most captures opened to find one that is neither a redirect to itself nor a 304."""

_MOST_BEFORE = 1_000
"""Most earlier captures of a URL that are read for a 304 that names none."""

_DAMAGE = frozenset({"crc", "damaged", "truncated"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What to send, and what to log; read `body` once, within the `with`.

    `has_body` is whether the body is sent with the head: not for HEAD.
    """

    outcome: Outcome
    head: AnswerHead
    body: Iterable[bytes | memoryview] = ()
    has_body: bool = True
    urlkey: str | None = None
    found: Candidate | None = None
    problem: str | None = None


class _Opened(NamedTuple):
    """A capture's head, and its body."""

    head: HttpHead
    payload: Payload | None


def own_answer(
    outcome: Outcome,
    status: int,
    text: str,
    *,
    key: str | None = None,
    found: Candidate | None = None,
    fields: tuple[Field, ...] = (),
    has_body: bool = True,
) -> Answer:
    """An answer of the proxy's own, one line of text; a header field names the outcome."""
    line = f"Pinakes: {outcome}: {text}\n".encode("utf-8", "backslashreplace")
    body = b"" if status == 204 else line
    return Answer(
        outcome=outcome,
        head=own_head(status, outcome, len(body), fields=fields),
        body=(body,) if body and has_body else (),
        has_body=has_body,
        urlkey=key,
        found=found,
        problem=text if outcome in ("fault", "unavailable", "refused") else None,
    )


def outcome_of(error: PinakesError) -> Outcome:
    """The outcome of a request that raised this: the archive's fault, or the store's."""
    return "unavailable" if isinstance(error, StoreUnavailable) else "fault"


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
    def answer(self, request: ProxyRequest, moment: datetime) -> Iterator[Answer]:
        """What the archive has for a request, closest to that moment.

        Faults of the archive and of an unavailable store are answers as well.
        """
        key = urlkey(request.lookup_uri)
        with ExitStack() as stack:
            yield self._answer(stack, request, moment, key)

    def _answer(
        self, stack: ExitStack, request: ProxyRequest, moment: datetime, key: str
    ) -> Answer:
        found: Candidate | None = None
        second_best: Candidate | None = None
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

    def _visible(self, request: ProxyRequest, moment: datetime) -> Iterator[Candidate]:
        for candidate in self._lookup.candidates(request, moment):
            if self._is_visible(candidate.capture):
                yield candidate

    def _is_visible(self, capture: Capture) -> bool:
        file = capture.facts.archive_file
        if self._collection not in (None, self._reader.collection_of(file)):
            return False
        return not hidden_among(self._rows, [file])

    def _answer_by(
        self, stack: ExitStack, found: Candidate, request: ProxyRequest, key: str
    ) -> tuple[Answer, str | None]:
        """The answer by this capture, and the reason to prefer another, if any."""
        head, payload = self._open(stack, found.capture)
        size = payload.size if payload is not None else 0
        coding = ", ".join(head.get_all("content-encoding"))
        coded = not coding or (payload is not None and is_coded(coding, payload.first(FIRST_BYTES)))
        captured = parse_digits_date(found.capture.time[:14])
        made = captured_head(head, request, size, coded=coded, captured=captured)
        answer = Answer(
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

    def _open(self, stack: ExitStack, capture: Capture) -> _Opened:
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

    def _original(self, capture: Capture, revisit: Record) -> Placed:
        # By the record's own fields, as every other tool does, not by the catalogue's note of
        # dedupe: QA checks whether the two agree.
        placed = resolve(self._rows, replace(capture, dedupe=None), revisit)
        return self._reader.place(placed.capture)

    def _answer_before(self, capture: Capture) -> Capture | None:
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


def _is_200(capture: Capture) -> bool:
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
