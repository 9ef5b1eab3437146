"""CDX answers computed from archive files alone: every line of them, then filtered and sorted.

Shares no code with the server but what makes a line of a record (`pinakes cdx FILE`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from pinakes.index.cdx_lines import iter_cdx_lines
from pinakes.index.cdxj import format_cdxj
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

Line = tuple[str, str, dict[str, str]]


def lines_of_files(archive: Path, names: Iterable[str]) -> list[Line]:
    """The lines of these files of a folder, sorted by urlkey and time."""
    found: list[Line] = []
    for name in names:
        with open_source(str(archive / name)) as source:
            records = (item for item in iter_records(source) if isinstance(item, Record))
            lines = iter_cdx_lines(records, name, on_unplaced=lambda offset: None)
            found += [parsed(format_cdxj(line)) for line in lines]
    return sorted(found, key=lambda line: line[:2])


def parsed(text: str) -> Line:
    """A CDXJ line."""
    urlkey, timestamp, fields = text.split(" ", 2)
    return urlkey, timestamp, json.loads(fields)


def answer_by_hand(lines: list[Line], asked: dict[str, str], key: str) -> list[Line]:
    """What pywb's parameters ask of these lines; `key` is the urlkey of the URL."""
    match = asked.get("matchType", "exact")
    host = key.partition(")")[0]
    found = [
        line
        for line in lines
        if {
            "exact": line[0] == key,
            "prefix": line[0].startswith(key),
            "host": line[0].startswith(f"{host})"),
            "domain": line[0].startswith((f"{host})", f"{host},")),
        }[match]
    ]
    found = [line for line in found if asked.get("from", "") <= line[1] <= asked.get("to", "~")]
    if "filter" in asked:
        inverted, operator, field, wanted = re.fullmatch(  # type: ignore[union-attr]
            r"(!?)([=~]?)(\w+):(.*)", asked["filter"]
        ).groups()

        def fits(line: Line) -> bool:
            value = {"urlkey": line[0], "timestamp": line[1], **line[2]}.get(field, "")
            if operator == "=":
                return value == wanted
            return bool(re.match(wanted, value)) if operator else wanted in value

        found = [line for line in found if fits(line) != bool(inverted)]
    if "collapse" in asked:
        field, _, length = asked["collapse"].partition(":")
        kept: list[Line] = []
        last = None
        for line in found:
            value = {"urlkey": line[0], "timestamp": line[1], **line[2]}.get(field, "-")[
                : int(length)
            ]
            if value != last:
                kept.append(line)
            last = value
        found = kept
    if "closest" in asked:
        found.sort(key=lambda line: abs(_seconds(line[1]) - _seconds(asked["closest"])))
    elif asked.get("sort") == "reverse":
        found.reverse()
    limit = int(asked.get("limit", 100_000))
    return found[limit:] if limit < 0 and "closest" not in asked else found[: abs(limit)]


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc).timestamp()
