"""Lines out of stored rows: which may be seen, and where their records lie now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from pinakes.access.archive_bytes import ArchiveBytes
from pinakes.access.rules import AccessRules
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import TABLE, decode_capture
from pinakes.catalog.originals import Original
from pinakes.catalog.visible_files import VisibleFile, VisibleFiles
from pinakes.hbase_schema.capture_cells import FACTS_LEAD as LEAD
from pinakes.hbase_schema.capture_cells import (
    NAME_END,
    NAME_LEAD,
    REVISIT_MIME,
    DedupeMark,
    Location,
)
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.generation_names import generation_file, generation_of
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Row, RowStore, get_row
from pinakes.warc.dates import format_14

from .external import external_fields
from .lines import (
    EXTERNAL,
    PLACE,
    SHARED,
    SHARED_WITHIN,
    UNREADABLE,
    WITHDRAWN,
    ZERO,
    Line,
    encoded,
    has_raw_bytes,
    old_name,
    text_of,
)

_COLUMNS = (b"m", DedupeMark.COLUMN)


class RowLines:
    """Makes lines of rows of `captures`.  Safe for several threads.

    `files` are those that readers see, and `rules` say what of them may be given out `now`.
    """

    def __init__(
        self,
        store: RowStore,
        archive: ArchiveReader,
        *,
        rules: AccessRules,
        files: VisibleFiles,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._bytes = ArchiveBytes(store, archive, rules=rules, now=now)
        self._rules = rules
        self._is_open = rules.is_open
        self.files = files
        self._now = now
        self._known: Mapping[str, VisibleFile] = {}
        self._places: dict[bytes, VisibleFile] = {}

    @property
    def is_restricted(self) -> bool:
        """Whether access rules hide rows: then what was read is not reported, since a client that
        asks often enough would learn from it what there is."""
        return not self._is_open

    def hides(self, *, collection: str, crawl: str) -> bool:
        """Whether nothing of a crawl may be given out."""
        return self._rules.hides(collection=collection, crawl=crawl)

    def as_stored(self, values: Mapping[bytes, bytes], collection: str | None) -> bytes | None:
        """The lines of rows as CDXJ, if all of them are where they landed, are Unicode, and may be
        seen.

        Most answers are nothing else, and this takes half the time of `of`.
        """
        if not self._is_open:
            return None
        if SHARED in b"".join(values.values()):
            return None
        self._forget_if_old()
        parts: list[bytes] = []
        add = parts.append
        # Neighbours are mostly of one file, and as long: what was found last is tried first.
        start, tail = 0, NAME_LEAD + NAME_END
        end = 0
        for key, value in values.items():
            if not value.startswith(tail, start):
                start = value.find(tail, 40)
                if start < 0:
                    # A quote within a value is escaped, so this is the key; other cells have none.
                    start = value.find(NAME_LEAD, 40)
                    end = value.find(NAME_END, start)
                    if start < 0 or end < 0 or value[:7] != LEAD:
                        return None
                    if not self._is_as_landed(value[start + len(NAME_LEAD) : end], collection):
                        return None
                    tail = value[start : end + len(NAME_END)]
                end = start + len(tail) - len(NAME_END)
            if key[-26] == ZERO:
                return None
            add(key[:-12] + b" {" + value[7:end])
        add(b"")
        text = b'"}\n'.join(parts)
        return None if has_raw_bytes(text) else text

    def _is_as_landed(self, raw: bytes, collection: str | None) -> bool:
        """Whether a file (its name as JSON text) may be seen, and is in generation 1."""
        place = self._places.get(raw)
        if place is None:
            name = text_of(raw)
            place = self.files.among([name]).get(name)
            if place is None:
                return False
            self._places[raw] = place
        return place.generation == 1 and collection in (None, place.collection)

    def _forget_if_old(self) -> None:
        known = self.files.fresh()
        if known is not self._known:
            self._known, self._places = known, {}

    def of(self, values: Mapping[bytes, bytes], collection: str | None = None) -> list[Line]:
        """The lines of stored values by row key; those that may not be seen are left out."""
        self._forget_if_old()
        places = self._places
        lines, unknown, moved = self._lines(values, places, collection)
        if unknown:
            seen = self.files.among(set(unknown.values()))
            places.update((raw, seen[name]) for raw, name in unknown.items() if name in seen)
            lines, _, moved = self._lines(values, places, collection)
        if moved:
            lines = self._with_moved(lines, moved)
        if not self._is_open:
            now = format_14(self._now())
            lines = [line for line in lines if self._admits(line, now)]
        return lines

    def _lines(
        self,
        values: Mapping[bytes, bytes],
        places: Mapping[bytes, VisibleFile],
        collection: str | None,
    ) -> tuple[list[Line], dict[bytes, str], dict[bytes, VisibleFile]]:
        """Lines as they landed; names of files that are not known; what has moved, by row key.

        The inner loop of the server, a microsecond a row: what has moved has a line in its place
        that is filled in afterwards, and a tuple is made without its class's `__new__`.
        """
        lines: list[Line] = []
        unknown: dict[bytes, str] = {}
        moved: dict[bytes, VisibleFile] = {}
        new, add, get = tuple.__new__, lines.append, places.get
        for key, value in values.items():
            if value[:7] == LEAD:
                at = value.find(NAME_LEAD)
                end = value.find(NAME_END, at)
                raw = value[at + 13 : end]
            elif value[7:13] == EXTERNAL:
                fields, belongs_to = external_fields(value)
                if collection in (None, belongs_to):
                    add(new(Line, (key[:-27], key[-26:-12], fields, key)))
                continue
            elif value[7:13] == WITHDRAWN:
                continue
            else:
                at = end = 0
                raw = old_name(value)
            place = get(raw)
            if place is None:
                unknown[raw] = text_of(raw)
                continue
            timestamp = key[-26:-12]
            if timestamp == UNREADABLE or (
                collection is not None and place.collection != collection
            ):
                continue
            fields = value[7 : end + 1]
            if place.generation != 1 or PLACE not in fields:
                moved[key] = place
            elif value.find(SHARED, end, end + SHARED_WITHIN) > 0:
                continue
            add(new(Line, (key[:-27], timestamp, fields, key)))
        return lines, unknown, moved

    def _with_moved(self, lines: Sequence[Line], moved: Mapping[bytes, VisibleFile]) -> list[Line]:
        """The lines with those that lie elsewhere now, or were written by another version."""
        rows = self._store.get_rows(TABLE, sorted(moved), columns=_COLUMNS)
        found: list[Line] = []
        for line in lines:
            place = moved.get(line.key)
            if place is not None:
                row = rows.get(line.key)
                fields = self._fields_of(row, place) if row is not None else None
                if fields is None:
                    continue
                found.append(line.with_fields(fields))
            else:
                found.append(line)
        return found

    def _admits(self, line: Line, now: str) -> bool:
        return self._admits_at(line.urlkey, line.timestamp, self.place_of(line), now)

    def gives(self, original: Original) -> bool:
        """Whether the bytes of an original that is admitted are given out: all records that share
        its member have to be admitted, too.  Reads its file's sidecar where rules restrict."""
        if self._is_open:
            return True
        start, end = original.location.offset, original.location.offset + original.location.length
        return self._bytes.admits(original.filename, original.place.collection, start, end)

    def admits(self, key: bytes, place: VisibleFile) -> bool:
        """Whether the access rules let the capture of a row of this file be given out now."""
        if self._is_open:
            return True
        return self._admits_at(key[:-27], key[-26:-12], place, format_14(self._now()))

    def _admits_at(
        self, urlkey: bytes, timestamp: bytes, place: VisibleFile | None, now: str
    ) -> bool:
        return self._rules.admits(
            urlkey=urlkey.decode("ascii"),
            time=timestamp.decode("ascii"),
            collection=place.collection if place is not None else "",
            crawl=place.crawl if place is not None else "",
            now=now,
        )

    def place_of(self, line: Line) -> VisibleFile | None:
        """The archive file that a line's capture is in; None if it is elsewhere."""
        name = generation_of(line.value("filename") or "").archive_file
        return self.files.among([name]).get(name)

    def _fields_of(self, row: Row, place: VisibleFile) -> bytes | None:
        """The fields of a capture in its file's current generation; None if it has no place."""
        capture = decode_capture(row)
        location = capture.locations.get(place.generation) if capture is not None else None
        if capture is None or location is None or location.inner_offset:
            return None
        is_revisit = False
        if place.generation > 1:
            cell = row.cells[numbered_column(Location, place.generation)]
            mark = self._mark_at(row, cell.timestamp_ms)
            is_revisit = mark is not None and mark.copy_number > 1
        facts = capture.facts
        values = {
            "url": facts.target_uri,
            "mime": REVISIT_MIME if is_revisit else facts.mime,
            "status": None if facts.status is None else str(facts.status),
            "digest": facts.digest,
            "length": str(location.length),
            "offset": str(location.offset),
            "filename": generation_file(place.archive_file, place.generation, location.ending),
        }
        return encoded({name: value for name, value in values.items() if value is not None})

    def _mark_at(self, row: Row, time_ms: int) -> DedupeMark | None:
        """The decision that the generation written at this time carries out.

        A newer one is written ahead of the next generation.
        """
        cell = row.cells.get(DedupeMark.COLUMN)
        if cell is not None and cell.timestamp_ms > time_ms:
            columns = [DedupeMark.COLUMN]
            older = get_row(self._store, TABLE, row.key, columns=columns, before_ms=time_ms + 1)
            return read_cell(DedupeMark, TABLE, older)
        return read_cell(DedupeMark, TABLE, row)
