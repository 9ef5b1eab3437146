"""Records, archive files and a WACZ as bytes, made with zlib and zipfile alone.

Nothing of Pinakes or of a peer makes them: what every tool is judged by must be nobody's own.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WARCINFO = "application/warc-fields"
HTTP_RESPONSE = "application/http; msgtype=response"
HTTP_REQUEST = "application/http; msgtype=request"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One record, and what a tool should say of it."""

    kind: str
    uri: str | None
    date: str
    block: bytes
    content_type: str
    payload: bytes = b""
    """As it is stored."""
    decoded: bytes = b""
    status: int | None = None
    media_type: str | None = None
    more: tuple[tuple[str, str], ...] = ()
    number: int = 0
    version: str = "1.0"

    @property
    def raw(self) -> bytes:
        """The record, not compressed."""
        fields = [("WARC-Type", self.kind), ("WARC-Record-ID", f"<{record_id(self.number)}>")]
        fields += [("WARC-Target-URI", self.uri)] if self.uri else []
        fields += [("WARC-Date", self.date)] if self.date else []
        fields += [("Content-Type", self.content_type), *self.more]
        fields += [("Content-Length", str(len(self.block)))]
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return f"WARC/{self.version}\r\n{lines}\r\n".encode() + self.block + b"\r\n\r\n"

    @property
    def head(self) -> bytes:
        """The header lines of the record and of its HTTP message, without what ends them."""
        return self.raw[: len(self.raw) - 4 - len(self.payload)].rstrip()

    @property
    def timestamp(self) -> str:
        """The date as 14 digits."""
        return "".join(filter(str.isdigit, self.date))


def record_id(number: int) -> str:
    """The id of a record by its number."""
    return f"urn:uuid:00000000-0000-4000-8000-{number:012d}"


def sha1(data: bytes) -> str:
    """A digest as records declare it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def noise(size: int, seed: str) -> bytes:
    """Bytes that no compression makes smaller, always the same."""
    pieces = (hashlib.sha256(f"{seed} {n}".encode()).digest() for n in range(size // 32 + 1))
    return b"".join(pieces)[:size]


def chunked(body: bytes, size: int = 700) -> bytes:
    """A body in chunks (RFC 9112, section 7.1)."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def response(
    number: int,
    uri: str,
    date: str,
    payload: bytes,
    *,
    status: int = 200,
    media_type: str = "text/html",
    head: Sequence[str] = (),
    decoded: bytes | None = None,
    declared: bytes | None = None,
    digest: bool = True,
) -> Made:
    """An answer of HTTP; `declared` is the body whose digest it declares."""
    lines = [f"HTTP/1.1 {status} Some", f"Content-Type: {media_type}", *head]
    if not any(line.startswith("Transfer-Encoding") for line in lines):
        lines.append(f"Content-Length: {len(payload)}")
    block = "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + payload
    more = [("WARC-Block-Digest", sha1(block))]
    if digest:
        more.append(("WARC-Payload-Digest", sha1(payload if declared is None else declared)))
    return Made(
        kind="response",
        uri=uri,
        date=date,
        block=block,
        content_type=HTTP_RESPONSE,
        payload=payload,
        decoded=payload if decoded is None else decoded,
        status=status,
        media_type=media_type,
        more=tuple(more),
        number=number,
    )


def request(
    number: int, of: Made, *, method: str = "GET", body: bytes = b"", media_type: str = ""
) -> Made:
    """What was asked for an answer."""
    path = (of.uri or "").partition("example.org")[2]
    lines = [f"{method} {path} HTTP/1.1", "Host: example.org"]
    lines += [f"Content-Type: {media_type}", f"Content-Length: {len(body)}"] if body else []
    block = "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body
    return Made(
        kind="request",
        uri=of.uri,
        date=of.date,
        block=block,
        content_type=HTTP_REQUEST,
        payload=body,
        more=(("WARC-Concurrent-To", f"<{record_id(of.number)}>"),),
        number=number,
    )


def revisit(number: int, of: Made, date: str) -> Made:
    """The same answer again, without its body."""
    block = of.block[: len(of.block) - len(of.payload)]
    return Made(
        kind="revisit",
        uri=of.uri,
        date=date,
        block=block,
        content_type=HTTP_RESPONSE,
        decoded=of.decoded,
        status=of.status,
        more=(
            ("WARC-Profile", IDENTICAL),
            ("WARC-Refers-To", f"<{record_id(of.number)}>"),
            ("WARC-Refers-To-Target-URI", of.uri or ""),
            ("WARC-Refers-To-Date", of.date),
            ("WARC-Payload-Digest", sha1(of.payload)),
        ),
        number=number,
    )


def other(number: int, kind: str, uri: str | None, date: str, block: bytes, media: str) -> Made:
    """A record that is no HTTP message."""
    return Made(
        kind=kind,
        uri=uri,
        date=date,
        block=block,
        content_type=media,
        payload=block if kind == "resource" else b"",
        decoded=block if kind == "resource" else b"",
        more=(("WARC-Block-Digest", sha1(block)),),
        number=number,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A WARC file with a gzip member for each record."""

    name: str
    records: tuple[Made, ...]

    @property
    def members(self) -> list[bytes]:
        """The records, each compressed."""
        return [gzip.compress(record.raw, mtime=0) for record in self.records]

    @property
    def data(self) -> bytes:
        """The file."""
        return b"".join(self.members)

    @property
    def raw(self) -> bytes:
        """The file, not compressed."""
        return b"".join(record.raw for record in self.records)

    @property
    def offsets(self) -> list[int]:
        """Where each record begins."""
        lengths = [len(member) for member in self.members]
        return [sum(lengths[:at]) for at in range(len(lengths))]

    def offset(self, record: Made) -> int:
        """Where one record begins."""
        return self.offsets[self.records.index(record)]

    def capture_lines(self) -> list[tuple[str, str, int, int]]:
        """Urlkey, timestamp, offset and length of each capture, sorted as an index is."""
        places = zip(self.records, self.offsets, self.members, strict=True)
        return sorted(
            (surt(record.uri or ""), record.timestamp, offset, len(member))
            for record, offset, member in places
            if record.kind in ("response", "revisit", "resource")
        )


def surt(uri: str) -> str:
    """The urlkey of a plain URL of example.org."""
    return "org,example)" + uri.partition("example.org")[2].lower()


def zstd_frame(data: bytes) -> bytes:
    """A Zstandard frame with one block as it is, not compressed (RFC 8878, section 3.1.1)."""
    head = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    return head + (len(data) << 3 | 1).to_bytes(3, "little") + data


def arc(records: Iterable[tuple[str, str, bytes]]) -> bytes:
    """An ARC 1 file, a gzip member for each record; of each its URL, date and HTTP message."""
    names = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    start = f"filedesc://old.arc 0.0.0.0 20010301000000 text/plain {len(names)}\n".encode()
    members = [start + names + b"\n"]
    for uri, timestamp, block in records:
        line = f"{uri} 192.0.2.1 {timestamp} text/html {len(block)}\n".encode()
        members.append(line + block + b"\n")
    return b"".join(gzip.compress(member, mtime=0) for member in members)


def wacz(archive: Archive, *, tampered: bool = False) -> bytes:
    """A WACZ 1.1.1 with one archive file and its index; `tampered`: a page list not as hashed."""
    lines = []
    for urlkey, timestamp, offset, length in archive.capture_lines():
        record = archive.records[archive.offsets.index(offset)]
        named = {"url": record.uri, "mime": record.media_type or record.content_type}
        named |= {"status": str(record.status or "-"), "digest": sha1(record.payload)}
        named |= {"length": str(length), "offset": str(offset), "filename": archive.name}
        lines.append(f"{urlkey} {timestamp} {json.dumps(named)}\n")
    pages: list[Mapping[str, str]] = [{"format": "json-pages-1.0", "id": "pages", "title": "All"}]
    pages.append({"id": "1", "url": "http://example.org/", "ts": archive.records[1].date})
    files = {
        f"archive/{archive.name}": archive.data,
        "indexes/index.cdx": "".join(lines).encode(),
        "pages/pages.jsonl": "".join(json.dumps(page) + "\n" for page in pages).encode(),
    }
    resources = [
        {
            "name": name.rpartition("/")[2],
            "path": name,
            "hash": "sha256:" + hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
        }
        for name, data in files.items()
    ]
    about: dict[str, object] = {"profile": "data-package", "wacz_version": "1.1.1"}
    package = json.dumps(about | {"resources": resources}, indent=1).encode()
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
    files["datapackage.json"] = package
    files["datapackage-digest.json"] = json.dumps(digest).encode()
    if tampered:
        files["pages/pages.jsonl"] = files["pages/pages.jsonl"].replace(b"All", b"Few")
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as package_file:
        for name, data in files.items():
            package_file.writestr(zipfile.ZipInfo(name, (2024, 3, 1, 0, 0, 0)), data)
    return written.getvalue()
