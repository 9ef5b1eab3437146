"""Revisits resolved: the place of the original, in addition to the revisit's.

One read for all lines of a batch, however long the history: what `dedupe` made a revisit names its
original's row; what a crawler wrote is found by its digest, in its collection.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.catalog.captures import COLUMNS, TABLE
from pinakes.catalog.lookup import INDEXED
from pinakes.catalog.lookup import TABLE as DIGESTS
from pinakes.hbase_schema.capture_cells import REVISIT_MIME, CaptureFacts, DedupeMark, DigestEntry
from pinakes.hbase_schema.digest_keys import digests_of
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.cells import read_cell, require_cell
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest

from .lines import VALUES, Line, encoded, values_of
from .row_lines import RowLines

_MOST_COPIES = 8
_PLACE = ("length", "offset", "filename")


def with_originals(store: RowStore, lines: Sequence[Line], lines_of_rows: RowLines) -> list[Line]:
    """The lines with `orig.length`, `orig.offset` and `orig.filename`, `-` where there is none.

    As pywb does, a revisit also gets the media type and status of its original.
    """
    revisits = {line.key: line for line in lines if line.value("mime") == REVISIT_MIME}
    rows = store.get_rows(TABLE, sorted(revisits), columns=COLUMNS) if revisits else {}
    keys: dict[bytes, list[bytes]] = {}
    ranges: dict[bytes, KeyRange] = {}
    for key, row in rows.items():
        mark, facts = read_cell(DedupeMark, TABLE, row), read_cell(CaptureFacts, TABLE, row)
        original = mark.refers_to_key if mark is not None else None
        if original is not None:
            keys[key] = [original.encode("ascii")]
        elif facts is not None:
            place = lines_of_rows.place_of(revisits[key])
            digest = parse_digest(facts.declared_digest or "")
            if place is not None and digest is not None and digest.algorithm in INDEXED:
                ranges[key] = digests_of(place.collection, digest.algorithm, digest.hex)
    answers = store.first_rows(DIGESTS, list(ranges.values()), limit_rows=_MOST_COPIES)
    for key, found in zip(ranges, answers, strict=True):
        entries = (require_cell(DigestEntry, DIGESTS, row) for row in found)
        keys[key] = [entry.capture_key.encode("ascii") for entry in entries]
    wanted = sorted({key for some in keys.values() for key in some})
    stored = store.get_rows(TABLE, wanted, columns=VALUES) if wanted else {}
    found_lines = lines_of_rows.of(values_of(stored.values()))
    originals = {line.key: line for line in found_lines if line.value("mime") != REVISIT_MIME}

    def original_of(line: Line) -> Line | None:
        known = (originals.get(key) for key in keys.get(line.key, ()))
        return next((original for original in known if original is not None), None)

    return [_resolved(line, original_of(line)) for line in lines]


def _resolved(line: Line, original: Line | None) -> Line:
    values = line.values()
    del values["urlkey"], values["timestamp"]
    if original is not None:
        theirs = original.values()
        values["mime"] = theirs.get("mime", "")
        if "status" in values:
            values["status"] = theirs.get("status", "")
    for name in _PLACE:
        values[f"orig.{name}"] = (original.value(name) if original is not None else None) or "-"
    return line.with_fields(encoded(values))
