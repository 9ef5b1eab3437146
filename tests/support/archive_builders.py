"""Archive files as bytes, right and wrong in exactly one way each."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

import zstandard

from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def source_of(data: bytes, name: str = "test") -> Source:
    return Source(io.BytesIO(data), name=name)


def read(data: bytes) -> list[Item]:
    return list(iter_records(source_of(data)))


def records_of(data: bytes) -> list[Record]:
    return [item for item in read(data) if isinstance(item, Record)]


def header(
    fields: Iterable[tuple[str, str]], *, version: str = "WARC/1.1", line_end: bytes = b"\r\n"
) -> bytes:
    lines = [version, *(f"{name}: {value}" for name, value in fields), "", ""]
    return line_end.join(line.encode() for line in lines)


def warc(
    block: bytes = HTTP + b"hello",
    *,
    number: int = 0,
    record_type: str = "response",
    content_type: str = "application/http; msgtype=response",
    version: str = "WARC/1.1",
    line_end: bytes = b"\r\n",
    length: int | str | None = None,
    end: bytes | None = None,
    extra: Iterable[tuple[str, str]] = (),
) -> bytes:
    """One record; `length` is what Content-Length says, where it shall lie."""
    fields = [
        ("WARC-Type", record_type),
        ("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"),
        ("WARC-Target-URI", f"http://example.org/{number}"),
        ("WARC-Date", "2020-01-02T03:04:05Z"),
        ("Content-Type", content_type),
        *extra,
        ("Content-Length", str(len(block) if length is None else length)),
    ]
    closing = line_end * 2 if end is None else end
    return header(fields, version=version, line_end=line_end) + block + closing


def member(data: bytes, *, name: bytes = b"", level: int = 9) -> bytes:
    """A gzip member (RFC 1952) with no time and, if given, a file name."""
    raw = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = raw.compress(data) + raw.flush()
    flags, field = (b"\x08", name + b"\0") if name else (b"\0", b"")
    start = b"\x1f\x8b\x08" + flags + b"\0\0\0\0\0\xff" + field
    return start + body + zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


def hinted_member(data: bytes, *, length: int | None = None, size: int | None = None) -> bytes:
    """A gzip member that notes its two sizes in its header, as Wget's do; they may lie."""
    bare = member(data)
    whole = len(bare) + 14
    noted = (whole if length is None else length, len(data) if size is None else size)
    extra = b"sl\x08\0" + b"".join(number.to_bytes(4, "little") for number in noted)
    return bare[:3] + b"\x04" + bare[4:10] + b"\x0c\0" + extra + bare[10:]


def frame(
    data: bytes,
    *,
    dictionary: bytes = b"",
    level: int = 3,
    size: bool = True,
    checksum: bool = True,
    dictionary_id: bool = True,
    window_log: int | None = None,
) -> bytes:
    """A Zstandard frame (RFC 8878), with all that warc-zstd asks for unless told otherwise."""
    fields = {
        "write_content_size": size,
        "write_checksum": checksum,
        "write_dict_id": dictionary_id,
    }
    shape = {} if window_log is None else {"window_log": window_log}
    parameters = zstandard.ZstdCompressionParameters.from_level(level, **fields, **shape)
    known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=known)
    if window_log is None:
        return compressor.compress(data)
    # Of one whose size is known beforehand, the window is no larger than its content.
    stream = compressor.compressobj()
    return stream.compress(data) + stream.flush()


def frame_of_blocks(*pieces: bytes) -> bytes:
    """A frame with a block for each piece, whatever their sizes; it does not declare its own."""
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    parts = []
    for piece in pieces:
        parts += [stream.compress(piece), stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)]
    return b"".join([*parts, stream.flush()])


def stored_frame(data: bytes) -> bytes:
    """A frame of raw blocks: its content is seen as it is.  It has no checksum."""
    pieces = [data[at : at + (1 << 17)] for at in range(0, len(data), 1 << 17)] or [b""]
    heads = [len(piece) << 3 for piece in pieces]
    heads[-1] |= 1
    blocks = (head.to_bytes(3, "little") + piece for head, piece in zip(heads, pieces, strict=True))
    size = len(data).to_bytes(4, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + size + b"".join(blocks)


def skippable(data: bytes, *, number: int = 0) -> bytes:
    """A skippable frame (RFC 8878 §3.1.2)."""
    return bytes([0x50 + number]) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def dictionary_frame(dictionary: bytes, *, compressed: bool = False) -> bytes:
    """What a file begins with whose frames need a dictionary (warc-zstd 1.0 §4.2.1)."""
    return skippable(frame(dictionary) if compressed else dictionary, number=13)


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "warc.gz": lambda member: member,
    "warc.zst": lambda member: frame(gzip.decompress(member)),
    "warc": gzip.decompress,
}
"""What makes of a gzip member a record of a file with this ending."""


@lru_cache
def dictionary(number: int = 1) -> bytes:
    """A Zstandard dictionary with that id, trained on records like `warc`'s."""
    samples = [warc(HTTP + b"<p>%d" % n, number=n) for n in range(500)]
    return zstandard.train_dictionary(2000, samples, dict_id=number, level=3).as_bytes()


@lru_cache
def dictionary_of_noise() -> bytes:
    """A dictionary of 20 kB that nothing makes smaller, and that makes nothing smaller."""
    noise = random.Random(1)
    samples = [noise.randbytes(200) for _ in range(500)]
    return zstandard.train_dictionary(20_000, samples, dict_id=9, level=3).as_bytes()


def three(*, line_end: bytes = b"\r\n") -> list[bytes]:
    """A warcinfo, a response and a metadata record."""
    return [
        warc(
            b"software: test\r\n",
            record_type="warcinfo",
            content_type="application/warc-fields",
            line_end=line_end,
        ),
        warc(HTTP + b"<p>hello", number=1, line_end=line_end),
        warc(
            b"via: nothing\r\n",
            number=2,
            record_type="metadata",
            content_type="application/warc-fields",
            line_end=line_end,
        ),
    ]


def plain_file() -> bytes:
    return b"".join(three())


def gzip_file() -> bytes:
    return b"".join(member(record) for record in three())


def zstd_file(*, compressed: bool = False, known: bytes | None = b"") -> bytes:
    """A file with a dictionary, of its own unless one is given, or without if that is None."""
    shared = dictionary() if known == b"" else known
    start = b"" if shared is None else dictionary_frame(shared, compressed=compressed)
    return start + b"".join(frame(record, dictionary=shared or b"") for record in three())


def arc(*, version: int = 1) -> list[bytes]:
    """A filedesc and two captures, as Heritrix (version 1) and Alexa (version 2) wrote them."""
    if version == 1:
        about = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
        described = b"filedesc://t.arc 0.0.0.0 20010203040506 text/plain %d\n" % len(about)
        fields = b"20010203040507 text/html"
    else:
        about = (
            b"2 0 Test\nURL IP-address Archive-date Content-type Result-code Checksum "
            b"Location Offset Filename Archive-length\n"
        )
        described = (
            b"filedesc://t.arc 0.0.0.0 20010203040506 text/plain 200 - - 0 t.arc %d\n" % len(about)
        )
        fields = b"20010203040507 text/html 200 0123abcd - 150 t.arc"
    page = HTTP + b"<p>old"
    return [
        described + about + b"\n",
        b"http://example.org/ 192.0.2.1 " + fields + b" %d\n" % len(page) + page + b"\n",
        b"dns:example.org 192.0.2.1 " + fields + b" 12\n192.0.2.1   \n",
    ]


def arc_file(*, version: int = 1) -> bytes:
    return b"".join(arc(version=version))


def one_member(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)
