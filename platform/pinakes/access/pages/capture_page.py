"""The page of one capture: its record's heads, places, history, references, verdicts.

And the record as it is stored, for a download: the bytes of its member, never rendered here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from pinakes.access.archive_bytes import Denied, GenerationDropped, Withdrawn
from pinakes.access.checked_bytes import CheckedBytes
from pinakes.access.readable import ReadableCaptures, Shown
from pinakes.catalog.capture_history import read_cells
from pinakes.catalog.captures import TABLE, Placed
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.judged_pairs import StoredPair, scan_pairs
from pinakes.catalog.payloads import open_placed
from pinakes.errors import DigestMismatch, InputRefused, PinakesError
from pinakes.hbase_schema.capture_cells import Location, QaVerdict
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.record import Record

from .references import ReferredOriginal, ReferringCaptures, original_of, referrers_of
from .rendering import Links, render

WITHDRAWN = "m:withdrawn"
"""Of its cell the reason is shown, and not who asked."""

_PLACES = 20
_PAIRS = 50
_HEAD_BYTES = 64 << 10
_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The record as it is stored now: its WARC header and HTTP head, in lines."""

    type: str
    warc: tuple[str, ...]
    http: tuple[str, ...]
    is_cut: bool
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlace:
    """Where the record is in one generation of its file; `is_there` is None if that is unknown."""

    generation: int
    file: str
    location: Location
    facts: GenerationFacts | None
    is_current: bool
    is_there: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of one cell."""

    written_ms: int
    column: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureView:
    """What the page of a capture shows; `problem` is why the record could not be read.

    `withdrawal` is why it was taken down, if it was.
    """

    shown: Shown
    withdrawal: str | None
    heads: Heads | None
    problem: str | None
    places: tuple[GenerationPlace, ...]
    history: tuple[Version, ...]
    original: ReferredOriginal | None
    referrers: ReferringCaptures
    verdict: QaVerdict | None
    pairs: tuple[StoredPair, ...]


def read_view(captures: ReadableCaptures, shown: Shown) -> CaptureView:
    """Read all of it: some round trips, some hundred rows, and the head of the record."""
    rows, key = captures.rows, shown.capture.key
    history = sorted(_history(rows, key), key=lambda one: -one.written_ms)
    heads: Heads | None = None
    problem: str | None = "Its place is not known: `pinakes fsck` looks for it."
    if shown.placed is not None:
        heads, problem = _heads(captures, shown.placed)
    verdict = _verdict(rows, key)
    pairs = scan_pairs(rows, verdict.run, key) if verdict is not None else iter(())
    return CaptureView(
        shown=shown,
        withdrawal=next((one.value for one in history if one.column == WITHDRAWN), None),
        heads=heads,
        problem=problem,
        places=tuple(_places(captures, shown)),
        history=tuple(history),
        original=original_of(captures, shown.capture),
        referrers=referrers_of(captures, shown),
        verdict=verdict,
        pairs=tuple(pair for pair, _ in zip(pairs, range(_PAIRS), strict=False)),
    )


def _heads(captures: ReadableCaptures, placed: Placed) -> tuple[Heads | None, str | None]:
    try:
        with open_placed(captures.rows, captures.archive, placed) as record:
            return _heads_of(record), None
    except PinakesError as error:
        return None, str(error)


def _heads_of(record: Record) -> Heads:
    warc = record.header.raw
    http = record.http.raw if record.http is not None else b""
    return Heads(
        type=record.type,
        warc=_lines(warc),
        http=_lines(http),
        is_cut=max(len(warc), len(http)) > _HEAD_BYTES
        or max(warc.count(b"\n"), http.count(b"\n")) > _LINES,
        findings=tuple(f"{finding.code}: {finding.message}" for finding in record.findings),
    )


def _lines(raw: bytes) -> tuple[str, ...]:
    text = raw[:_HEAD_BYTES].decode("utf-8", "surrogateescape").rstrip("\r\n")
    lines = text.split("\n") if text else []
    return tuple(line.removesuffix("\r") for line in lines[:_LINES])


def _places(captures: ReadableCaptures, shown: Shown) -> Iterator[GenerationPlace]:
    name = shown.entry.archive_file
    generations = read_generations(captures.rows, name)
    for number, location in sorted(shown.capture.locations.items())[-_PLACES:]:
        file = generation_file(name, number, location.ending)
        try:
            is_there = captures.archive.size(file) is not None
        except PinakesError:
            is_there = None
        yield GenerationPlace(
            generation=number,
            file=file,
            location=location,
            facts=generations.get(number),
            is_current=number == shown.entry.generation,
            is_there=is_there,
        )


def _history(rows: RowStore, key: bytes) -> Iterator[Version]:
    for state in read_cells(rows, key):
        for cell in rows.versions(TABLE, key, state.column.encode("ascii")):
            value = cell.value.decode("utf-8", "replace")
            if state.column == WITHDRAWN:
                value = str(json.loads(cell.value).get("reason", ""))
            yield Version(written_ms=cell.timestamp_ms, column=state.column, value=value)


def _verdict(rows: RowStore, key: bytes) -> QaVerdict | None:
    row = rows.get_rows(TABLE, [key], columns=[QaVerdict.COLUMN]).get(key)
    value = row.value(QaVerdict.COLUMN) if row is not None else None
    return decode_cell(QaVerdict, value) if value is not None else None


_REFERRERS_SHOWN = 50
_FITS = {
    "stored": "the body as it is stored",
    "dechunked": "the body without its chunks",
    "decoded": "the decoded body",
    "none": "no form of the body",
}


def capture_page(view: CaptureView, *, links: Links) -> str:
    """The page."""
    capture = view.shown.capture
    facts = capture.facts
    digests = {
        "declared": facts.declared_digest,
        "of the body": facts.payload_sha1 if facts.type != "revisit" else None,
        "of the body, sha256": facts.payload_sha256 if facts.type != "revisit" else None,
        "without chunks": facts.dechunked_sha1,
        "without chunks, sha256": facts.dechunked_sha256,
    }
    return render(
        "capture.html",
        links=links,
        view=view,
        urlkey=capture.key.partition(b" ")[0].decode("ascii"),
        crawl=crawl_of(facts.archive_file),
        replay=links.replay(facts.target_uri, capture.time),
        digests=[(name, digest) for name, digest in digests.items() if digest],
        fits=_FITS,
        most=_REFERRERS_SHOWN,
    )


_ENDINGS = (".warc.gz", ".arc.gz", ".warc.zst", ".warc.bz2", ".arc.bz2", ".warc", ".arc")


def record_name(placed: Placed) -> str:
    """A file name of digits and letters: time and mark of the capture, the ending of its file."""
    _, time, mark = placed.capture.key.decode("ascii").split(" ")
    name = placed.file.lower()
    return f"{time}-{mark}{next((end for end in _ENDINGS if name.endswith(end)), '.warc')}"


def record_bytes(captures: ReadableCaptures, placed: Placed) -> Iterator[bytes]:
    """The bytes, in pieces; the first is read at once, so that errors come before any byte.

    Raises:
        InputRefused: the file is not there, or is shorter; or its member holds another record
            that may not be given out, or was withdrawn.
        DigestMismatch: it has other bytes than it had; of a large one before the last piece.
    """
    try:
        opened = _opened(captures, placed)
    except GenerationDropped:  # a newer generation has replaced it
        again = captures.get([placed.capture.key]).get(placed.capture.key)
        if again is None or again.placed is None:
            raise InputRefused("the capture is not there any more", file=placed.file) from None
        placed = again.placed
        opened = _opened(captures, placed)
    pieces = opened.pieces()
    first = next(pieces, b"")
    return chain((first,), pieces)


def _opened(captures: ReadableCaptures, placed: Placed) -> CheckedBytes:
    file, start = captures.files.find(placed.file), placed.location.offset
    if file is None:
        raise InputRefused("the file is not there any more", file=placed.file)
    try:
        return captures.files.open(file, start, start + placed.location.length)
    except Denied as error:
        raise InputRefused(
            "it shares its member with a record that may not be given out", file=placed.file
        ) from error
    except Withdrawn as error:
        raise InputRefused("a record in the same member was withdrawn", file=placed.file) from error
    except DigestMismatch as error:
        raise InputRefused(error.message, file=placed.file) from error
