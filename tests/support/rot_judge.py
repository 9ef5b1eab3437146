"""What whole copies a folder of archive files holds, by zlib and Zstandard's library alone.

Nothing of ours is imported here, and no damage makes this raise: what is not whole is not there.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import zstandard

_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")
_HEAD = re.compile(rb"WARC/1\.\d\r\n((?:[^\r\n]+\r\n)+)\r\n")
_FRAME, _SKIPPABLE = b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18"
_FULL = (b"response", b"resource")
Address = tuple[bytes | None, bytes | None]


class Known(NamedTuple):
    """A record as it was captured: the truth that whole copies are recognised by."""

    crawl: str
    uri: bytes
    date: bytes
    body: bytes
    record: bytes
    """All of it, with the two line ends."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


class Whole(NamedTuple):
    """A whole record: its fields, and the SHA-256 of its body where it is a full one."""

    fields: dict[bytes, bytes]
    sha256: str | None
    record: bytes

    def get(self, name: bytes) -> bytes | None:
        value = self.fields.get(name.lower())
        return value.strip(b"<>") if value is not None else None

    @property
    def record_id(self) -> str:
        return (self.get(b"WARC-Record-ID") or b"").decode("latin-1")

    @property
    def address(self) -> Address:
        return self.get(b"WARC-Target-URI"), self.get(b"WARC-Date")

    @property
    def refers_to(self) -> Address:
        return self.get(b"WARC-Refers-To-Target-URI"), self.get(b"WARC-Refers-To-Date")


def is_plain(data: bytes) -> bool:
    """Whether a file is not compressed, whatever its first bytes have become."""
    return not data.startswith(_MAGIC) and _HEAD.search(data) is not None


def whole_pieces(data: bytes) -> Iterator[bytes]:
    """What each member or frame holds that is whole by its checksum; plain files as they are."""
    if b"\x1f\x8b\x08" in data:
        yield from _members(data)
    if _FRAME in data:
        yield from _frames(data)
    if is_plain(data):
        yield data


def _members(data: bytes) -> Iterator[bytes]:
    at = data.find(b"\x1f\x8b\x08")
    while at >= 0:
        inflater = zlib.decompressobj(31)
        try:
            content = inflater.decompress(memoryview(data)[at:])
        except zlib.error:
            content = b""
        if inflater.eof:
            yield content
        end = len(data) - len(inflater.unused_data) if inflater.eof else at + 1
        at = data.find(b"\x1f\x8b\x08", end)


def _frames(data: bytes) -> Iterator[bytes]:
    known = _dictionary(data)
    at = data.find(_FRAME)
    while at >= 0:
        inflater = zstandard.ZstdDecompressor(dict_data=known).decompressobj()
        try:
            content = inflater.decompress(memoryview(data)[at:])
        except zstandard.ZstdError:
            content = b""
        is_whole = content and inflater.eof
        if is_whole:
            yield content
        end = len(data) - len(inflater.unused_data) if is_whole else at + 1
        at = data.find(_FRAME, end)


def _dictionary(data: bytes) -> zstandard.ZstdCompressionDict | None:
    if not data.startswith(_SKIPPABLE):
        return None
    held = data[8 : 8 + int.from_bytes(data[4:8], "little")]
    try:
        if held.startswith(_FRAME):
            held = zstandard.ZstdDecompressor().decompress(held)
        known = zstandard.ZstdCompressionDict(held)
        zstandard.ZstdDecompressor(dict_data=known).decompressobj()  # one that has rotted is none
        return known
    except zstandard.ZstdError:
        return None


def whole_records(data: bytes, truth: dict[str, Known]) -> Iterator[Whole]:
    """The records of a file that are whole: by the checksum they are in, or as `truth` has them.

    A plain record has no checksum: it is whole if it has the body of the one that was captured, or
    under an id that has rotted, any body that was.
    """
    plain = is_plain(data)
    bodies = {known.sha256 for known in truth.values()} if plain else set()
    for piece in whole_pieces(data):
        for head in _HEAD.finditer(piece):
            fields = dict(_fields(head[1]))
            length = fields.get(b"content-length", b"")
            if not length.isdigit():
                continue
            end = head.end() + int(length)
            block, record = piece[head.end() : end], piece[head.start() : end + 4]
            if len(block) != int(length) or not record.endswith(b"\r\n\r\n"):
                continue
            is_full = fields.get(b"warc-type") in _FULL
            body = block.partition(b"\r\n\r\n")[2]
            whole = Whole(fields, hashlib.sha256(body).hexdigest() if is_full else None, record)
            if plain and is_full:
                known = truth.get(whole.record_id)
                if whole.sha256 not in (bodies if known is None else (known.sha256,)):
                    continue
            yield whole


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        yield name.strip().lower(), value.strip()


class Inventory(NamedTuple):
    """What the files of a store hold: of captured records alone."""

    payloads: frozenset[str]
    """SHA-256 of each payload of which a whole copy is there."""
    records: frozenset[str]
    """Ids of records that are there, in full or as a revisit."""
    addresses: dict[Address, str]
    """URI and date of each full record, and the SHA-256 of its body."""
    revisits: dict[str, Address]
    """Ids of revisits of ours, and what each refers to; of two files' the last."""


def take_inventory(files: Iterable[bytes], truth: dict[str, Known]) -> Inventory:
    """Read all of these files."""
    true_payloads = {known.sha256 for known in truth.values()}
    payloads, records, addresses, revisits = set(), set(), {}, {}
    for data in files:
        for whole in whole_records(data, truth):
            if whole.record_id in truth:
                records.add(whole.record_id)
            if whole.sha256 in true_payloads:
                payloads.add(whole.sha256)
                addresses[whole.address] = whole.sha256
            elif whole.record_id not in truth:
                continue
            elif whole.sha256 is None and whole.get(b"Pinakes-Replaced") is not None:
                revisits[whole.record_id] = whole.refers_to
    return Inventory(frozenset(payloads), frozenset(records), addresses, revisits)
