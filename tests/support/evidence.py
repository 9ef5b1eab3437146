"""Our reading of the shared data against its manifest, and how it may differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record

KINDS = ("warc", "arc", "wat", "wet")
READERS = ("warcio-1.8.1", "fastwarc-2.0.1", "jwarc-0.36.0")
Line = dict[str, Any]


def manifest_lines(shared: Path) -> list[Line]:
    """The lines of manifest.jsonl that are of archive files, in its order."""
    text = (shared / "archives" / "manifest.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if line["kind"] in KINDS]


def is_agreed(line: Line) -> bool:
    """Readers agree; of ARC, which FastWARC does not read, warcio reports no error."""
    if line["kind"] != "arc":
        return line["readers_agree"] is True
    read_by = (line["readers"] or {}).get(READERS[0]) or {}
    return read_by.get("records") is not None and read_by.get("error") is None


class Difference(NamedTuple):
    """One value that is not as the manifest says."""

    line: Line
    record: Record | None
    field: str
    ours: object
    theirs: object


def differences(shared: Path, line: Line) -> Iterator[Difference]:
    """Compare the whole reading of one file with `expected`."""
    expected = line["expected"]
    with open_source(shared / "archives" / line["file"]) as source:
        items = list(iter_records(source))
        records = [item for item in items if isinstance(item, Record)]
        stretches = [item for item in items if isinstance(item, DamagedStretch)]
        if stretches:
            yield Difference(line, None, "stretches", stretches, [])
        if len(records) != expected["record_count"]:
            yield Difference(line, None, "record_count", len(records), expected["record_count"])
        types = dict(Counter(record.type for record in records))
        if types != expected["by_type"]:
            yield Difference(line, None, "by_type", types, expected["by_type"])
        places = {record.offset: record for record in records if not record.inner_offset}
        for capture in expected["captures"]:
            record = places.get(capture["offset"])
            if record is None:
                yield Difference(line, None, "offset", None, capture["offset"])
                continue
            for field, ours, theirs in _fields(record, capture):
                if ours != theirs:
                    yield Difference(line, record, field, ours, theirs)


def _fields(record: Record, capture: Line) -> Iterator[tuple[str, object, object]]:
    yield "type", record.type, capture["type"]
    yield "length", record.length, capture["length"]
    yield "uri", record.target_uri, capture["uri"]
    yield "date", record.date_text, capture["date"]
    yield "payload", str(record.payload_digest()), "sha1:" + capture["payload_sha1"]
    yield "payload", record.payload_size, capture["payload_len"]
    if "payload_sha1_dechunked" in capture:
        found = record.dechunked_digest()
        theirs = "sha1:" + capture["payload_sha1_dechunked"]
        yield "dechunked", str(found), theirs
    elif not capture.get("dechunk_error"):
        yield "dechunked", record.dechunked_digest(), None
    if capture.get("status") and record.http is not None:
        yield "status", str(record.http.status), capture["status"]


class Exemption(NamedTuple):
    """A way in which we differ on purpose from a reading that the others agree on."""

    name: str
    covers: Callable[[Difference], bool]
    reason: str


def _other_scheme(difference: Difference) -> bool:
    record = difference.record
    return (
        difference.field == "payload"
        and record is not None
        and not (record.target_uri or "").lower().startswith("http")
        and record.header.declares_http
    )


EXEMPTIONS = (
    Exemption(
        "HTTP messages under URIs that are not http",
        _other_scheme,
        "Content-Type is `application/http` and the URI `file:///screenshot.png`, "
        "`chrome-extension:` or the like. warcio goes by the URI and hashes the whole block. "
        "Pinakes goes by the Content-Type, as in the standard: the payload follows the head.",
    ),
    Exemption(
        "bzip2",
        lambda d: d.line["container"] == "bzip2" and d.field in {"offset", "length"},
        "warcio counts offsets in the inflated file. Pinakes gives the offset of the bzip2 stream, "
        "and the place in it as `inner_offset`.",
    ),
    Exemption(
        "spaces in URIs",
        lambda d: d.field == "uri" and str(d.ours).replace(" ", "%20") == d.theirs,
        "warcio writes them as %20. Pinakes keeps the bytes of the file.",
    ),
    Exemption(
        "types of ARC records",
        lambda d: d.line["kind"] == "arc" and d.field in {"type", "by_type"},
        "ARC has no types. warcio calls all of them `response`, the first `arc_header`. In "
        "Pinakes a record is a `response` if the URI is http(s) and an HTTP status line follows, "
        "else a `resource`; the first is `filedesc`.",
    ),
    Exemption(
        "garbage at the end of an ARC file",
        lambda d: d.line["kind"] == "arc" and d.field == "stretches",
        "warcio stops there as at the end of the file; Pinakes reports a damaged stretch.",
    ),
    Exemption(
        "no WARC-Type",
        lambda d: d.field == "by_type" and "" in dict(d.ours),  # type: ignore[call-overload]
        "The type is empty; warcio prints None.",
    ),
)


def exempted(difference: Difference) -> str:
    """The name of the exemption that covers a difference; "" where none does."""
    return next((e.name for e in EXEMPTIONS if e.covers(difference)), "")
