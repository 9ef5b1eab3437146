"""`refs`: rewrite an archive file with its duplicates as revisits.

Takes the manifest lines that `process` decided on, by file and offset.  Trusts no
manifest: a record is replaced only if header, place and checksum still say that it is
the record the line speaks of, and that its body is the original's, which is inflated for
that.  A checksum may be what a trailer states: `RefsCount.bodies` is for the proof that
inflates the record, too.  See docs/adr/0005-proof.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import attrgetter

from pinakes.dedupe.validate.stretches import cut_apart, holds_only, pieces_of
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.replace import Replacement
from pinakes.warc.compression.members import compression_at
from pinakes.warc.compression.port import Compression
from pinakes.warc.heads import RecordHead, head_of, read_head
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.revisit_forms import RevisitBuilder
from pinakes.warc.shapes import ShapeBook
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .proofs import damaged, inflates, why_left
from .proven_originals import FindOriginal, KnownOriginal, Unproven, prove, record_not_there

DEFAULT_MIN_SAVING_BYTES = 64
_PIECE_STRETCHES = 64
_OFFSET = attrgetter("offset")
_Reason = Unwritable | InputRefused | MalformedRecord


@dataclass(slots=True)
class RefsCount:
    """What became of the duplicates of a file (or, added up, of a run)."""

    records: int = 0
    saved_bytes: int = 0
    left_full: Counter[str] = field(default_factory=Counter)
    problems: list[PinakesError] = field(default_factory=list)
    """Each once, however many records it keeps full."""
    bodies: list[str] = field(default_factory=list, repr=False, compare=False)
    """SHA-256 of each body that was left out of a file, in order: those of the originals."""
    _named: set[str] = field(default_factory=set, repr=False, compare=False)

    def as_json(self) -> dict[str, object]:
        """But for the problems, which are named apart."""
        return {
            "revisits": self.records,
            "saved_bytes": self.saved_bytes,
            "left_full": dict(self.left_full),
        }

    def add(self, other: RefsCount) -> None:
        self.records += other.records
        self.saved_bytes += other.saved_bytes
        self.left_full.update(other.left_full)
        for problem in other.problems:
            self.name(problem)

    def name(self, problem: PinakesError) -> None:
        """Add a problem, unless it is there."""
        if str(problem) not in self._named:
            self._named.add(str(problem))
            self.problems.append(problem)

    def take_bodies(self) -> list[str]:
        """`bodies`, for the proof of the file; empty from then on."""
        bodies, self.bodies = self.bodies, []
        return bodies

    def keep_full(self, problem: PinakesError) -> None:
        """The proof failed: the duplicates that were to become revisits stay full."""
        self.left_full["unproven"] += self.records
        self.records = self.saved_bytes = 0
        self.name(problem)


@dataclass(slots=True)
class _Stretch:
    """Duplicates that begin at one offset, and how far the first is worked out.

    Where the first is alone, it has a head; else its member is to be cut apart.
    """

    lines: list[ManifestLine]
    compression: Compression | None
    head: RecordHead | None = None
    original: KnownOriginal | None = None
    data: bytes = b""
    reason: _Reason | None = None
    is_left: bool = False


class RevisitWriter:
    """Builds the replacements for one run."""

    def __init__(
        self, find_original: FindOriginal, *, run: str, min_saving_bytes: int | None = None
    ) -> None:
        """`min_saving_bytes`: compressed bytes a revisit must save; None for no minimum."""
        self._builder = RevisitBuilder(run)
        self._min_saving_bytes = min_saving_bytes
        self._original_of = find_original
        self._shapes = ShapeBook()

    def replacements(
        self, source: Source, lines: Iterable[ManifestLine], count: RefsCount
    ) -> Iterator[Replacement]:
        """Yield what changes in this file, in order of offset.

        `lines` are this file's, in order of offset; only those with a copy number above
        1 matter.  `count` is filled on the way.
        """
        # Again for each file: a book learns only so many shapes.
        self._shapes = ShapeBook()
        duplicates = (line for line in lines if line.is_duplicate)
        # Told where each begins: what a file begins with may be damaged, or of another kind.
        stretches = (
            _Stretch(list(group), compression_at(source, offset))
            for offset, group in groupby(duplicates, key=_OFFSET)
        )
        while piece := list(islice(stretches, _PIECE_STRETCHES)):
            for stretch in piece:
                stretch.is_left = bool(why_left(source, stretch.compression))
            self._work_out(source, [stretch for stretch in piece if not stretch.is_left])
            for stretch in piece:
                if stretch.is_left:
                    count.left_full["compression"] += len(stretch.lines)
                    continue
                replacement = self._replace(source, stretch, count)
                if replacement is not None:
                    yield replacement

    def _work_out(self, source: Source, stretches: list[_Stretch]) -> None:
        """Make the revisits of the records that are alone in their stretch.

        One step for all of them, then the next: what a step needs stays in the processor's
        caches, which saves a fifth of the time.
        """
        for step in (self._read, self._find_original, self._build):
            for stretch in stretches:
                try:
                    step(source, stretch)
                except (Unwritable, InputRefused, MalformedRecord) as reason:
                    stretch.head, stretch.reason = None, reason
        for stretch in stretches:
            if stretch.data and stretch.compression:
                stretch.data = stretch.compression.compress(source, stretch.data + RECORD_END)

    def _read(self, source: Source, stretch: _Stretch) -> None:
        line = stretch.lines[0]
        if len(stretch.lines) == 1 and not line.inner_offset:
            head = read_head(source, line.offset, line.length, shapes=self._shapes)
            if head.alone and stretch.compression:
                _require_nothing_else(source, line.offset, head)
            stretch.head = head if head.alone else None

    def _find_original(self, source: Source, stretch: _Stretch) -> None:
        if stretch.head is not None:
            stretch.original = prove(source, stretch.lines[0], stretch.head, self._original_of)

    def _build(self, _: Source, stretch: _Stretch) -> None:
        head, original = stretch.head, stretch.original
        if head is not None and original is not None:
            stretch.data = self._builder.build(
                head.header, head.http_head, original.reference, crc32=head.crc32
            )

    def _replace(self, source: Source, stretch: _Stretch, count: RefsCount) -> Replacement | None:
        offset, head, data = stretch.lines[0].offset, stretch.head, stretch.data
        if stretch.reason is not None:
            _leave_full(stretch.reason, count)
            return None
        if head is not None and stretch.original is not None:
            body = stretch.original.body_sha256
            return self._worthwhile(offset, head.length, len(data), (data,), [body], count)
        if not stretch.compression:
            _not_there(source, offset, len(stretch.lines), count)
            return None
        found = {line.inner_offset: line for line in stretch.lines}
        return self._replace_shared(source, offset, found, count)

    def _replace_shared(
        self, source: Source, offset: int, found: dict[int, ManifestLine], count: RefsCount
    ) -> Replacement | None:
        """The member at `offset` cut apart, with the revisits among its records."""
        done = RefsCount()

        def revisit_of(record: Record) -> tuple[bytes, bytes] | None:
            line = found.pop(record.inner_offset, None)
            if line is None:
                return None
            try:
                head = head_of(record)
                original = prove(source, line, head, self._original_of)
                revisit = self._builder.build(
                    head.header, head.http_head, original.reference, crc32=head.crc32
                )
            except (Unwritable, InputRefused, MalformedRecord) as reason:
                _leave_full(reason, done)
                return None
            done.bodies.append(original.body_sha256)
            return revisit, RECORD_END

        first = read_record(source, offset, digests=())
        if not isinstance(first, Record) or first.offset != offset:
            _not_there(source, offset, len(found), count)
            return None
        wanted = len(found)
        try:
            result = cut_apart(source, offset, first.length, revisit_of)
        except Unwritable as reason:
            if not inflates(source, offset, offset + first.length):
                count.left_full["unreadable"] += wanted
                count.name(damaged(source, offset))
                return None
            count.left_full[reason.reason] += wanted
            return None
        if found:
            _not_there(source, offset, len(found), count)
        count.add(done)
        size = result.seek(0, 2)
        result.seek(0)
        if not done.bodies:
            result.close()
            return None
        return self._worthwhile(offset, first.length, size, pieces_of(result), done.bodies, count)

    def _worthwhile(
        self,
        offset: int,
        length: int,
        size: int,
        pieces: Iterable[bytes | memoryview],
        bodies: list[str],
        count: RefsCount,
    ) -> Replacement | None:
        saved = length - size
        if self._min_saving_bytes is not None and saved < self._min_saving_bytes:
            count.left_full["min-saving"] += len(bodies)
            return None
        count.records += len(bodies)
        count.saved_bytes += saved
        count.bodies += bodies
        return Replacement(offset, length, pieces)


def _require_nothing_else(source: Source, offset: int, head: RecordHead) -> None:
    if not holds_only(source, offset, head.length, crc32=head.crc32, size=head.size):
        raise Unwritable("member-odd")


def _leave_full(reason: _Reason, count: RefsCount) -> None:
    if isinstance(reason, Unwritable):
        count.left_full[reason.reason] += 1
        if isinstance(reason, Unproven):
            count.name(reason.problem)
    else:
        count.left_full["unreadable"] += 1
        count.name(reason)


def _not_there(source: Source, offset: int, records: int, count: RefsCount) -> None:
    count.left_full["unreadable"] += records
    count.name(record_not_there(source, offset))
