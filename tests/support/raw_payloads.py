"""What each record of a store gives a reader, by zlib and a few lines: nothing of ours imported."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from judge import content

_HEAD = re.compile(rb"WARC/1\.\d\r\n(.*?)\r\n\r\n", re.DOTALL)
_FULL = (b"response", b"resource")
Fields = dict[bytes, bytes]


class RawRecord(NamedTuple):
    """A record: its fields, and the body behind its HTTP head."""

    fields: Fields
    body: bytes

    def get(self, name: bytes) -> bytes | None:
        value = self.fields.get(name.lower())
        return value.strip(b"<>") if value is not None else None


def raw_records(path: Path) -> Iterator[RawRecord]:
    """The records of a file, one behind the other, as their lengths say."""
    data, at = content(path.read_bytes()), 0
    while at < len(data):
        head = _HEAD.match(data, at)
        assert head is not None, data[at : at + 60]
        fields = {
            name.strip().lower(): value.strip()
            for line in head[1].split(b"\r\n")
            for name, _, value in [line.partition(b":")]
        }
        end = head.end() + int(fields[b"content-length"])
        block = data[head.end() : end]
        is_http = fields.get(b"content-type", b"").startswith(b"application/http")
        yield RawRecord(fields, block.partition(b"\r\n\r\n")[2] if is_http else block)
        assert data[end : end + 4] == b"\r\n\r\n"
        at = end + 4


def payloads(paths: Iterable[Path]) -> dict[bytes, tuple[bytes, bytes, str | None]]:
    """URI, date and SHA-256 of the body of each capture, by record id; None: it dangles.

    A revisit is resolved by URI and date, else by id, else by its digest among earlier records of
    its URI, in all of these files.
    """
    records = [record for path in paths for record in raw_records(path)]
    full = [record for record in records if record.get(b"WARC-Type") in _FULL]
    found = {}
    for record in records:
        if record.get(b"WARC-Type") not in (*_FULL, b"revisit"):
            continue
        one = record if record.get(b"WARC-Type") in _FULL else _original(record, full)
        address = (record.get(b"WARC-Target-URI") or b"", record.get(b"WARC-Date") or b"")
        digest = hashlib.sha256(one.body).hexdigest() if one is not None else None
        name = record.get(b"WARC-Record-ID") or b""
        assert name not in found
        found[name] = (*address, digest)
    return found


def _original(revisit: RawRecord, full: list[RawRecord]) -> RawRecord | None:
    uri, date = (revisit.get(b"WARC-Refers-To-" + part) for part in (b"Target-URI", b"Date"))
    wanted = revisit.get(b"WARC-Refers-To")
    own, digest = revisit.get(b"WARC-Target-URI"), revisit.get(b"WARC-Payload-Digest")
    for one in full:
        if uri and date:
            if (one.get(b"WARC-Target-URI"), one.get(b"WARC-Date")) == (uri, date):
                return one
        elif wanted:
            if one.get(b"WARC-Record-ID") == wanted:
                return one
        elif one.get(b"WARC-Target-URI") == own and one.get(b"WARC-Payload-Digest") == digest:
            return one
    return None
