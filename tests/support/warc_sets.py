"""Collections of archive files, made to order, and the chain over them.

`plan` decides what becomes a revisit by the plainest rule there is: the earliest capture
of a body and status is its original.  It stands for no code of ours; it makes manifests
whose answers are known.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import shutil
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from archive_builders import dictionary, dictionary_frame, frame, skippable
from judge import content_of_frames

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.validate.folders import Validation, validate_folders
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.dedupe.write.restore import RestoreCount, restorations, want_originals
from pinakes.dedupe.write.rewriting import rewrite_or_copy, rewrite_to
from pinakes.index.cdxj import CdxLine
from pinakes.index.manifest import ManifestLine, format_line
from pinakes.index.scan import iter_manifest
from pinakes.index.urlkey import urlkey
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
PAGE = b"<!doctype html><title>A page</title>" + b"<p>The same text again.</p>" * 40
OTHER = b"<!doctype html><title>B page</title>" + b"<p>The same text again.</p>" * 40


def sha1_base32(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


DECLARED = {
    "sha1": sha1_base32,
    "hex": lambda data: "sha1:" + hashlib.sha1(data).hexdigest(),
    "sha256": lambda data: "sha256:" + hashlib.sha256(data).hexdigest(),
    "SHA-256": lambda data: "SHA-256:" + hashlib.sha256(data).hexdigest().upper(),
    "framed": sha1_base32,
    "wrong": lambda data: sha1_base32(b"another " + data),
}


def chunked(body: bytes, size: int = 100) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


@dataclass(frozen=True, kw_only=True)
class Rec:
    """One record to be written; `fields` are further header lines, verbatim."""

    uri: str = "http://example.org/"
    date: str = "2020-01-01T00:00:00Z"
    body: bytes = PAGE
    status: int = 200
    version: str = "WARC/1.1"
    declared: str | None = "sha1"
    block_digest: bool = True
    type: str = "response"
    brackets: bool = False
    line_end: bytes = b"\r\n"
    http_end: bytes = b"\r\n"
    http_fields: tuple[bytes, ...] = (b"Content-Type: text/html; charset=utf-8",)
    fields: tuple[bytes, ...] = ()
    lie: int = 0
    framing: bool = False
    close: bytes | None = None

    def stored(self) -> bytes:
        return chunked(self.body) if self.framing else self.body

    def block(self) -> bytes:
        if self.type in ("resource", "metadata", "warcinfo", "unknown"):
            return self.stored()
        if self.type == "request":
            return b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
        fields = [b"HTTP/1.1 %d OK" % self.status, *self.http_fields]
        if self.framing:
            fields.append(b"Transfer-Encoding: chunked")
        head = self.http_end.join([*fields, b"", b""])
        return head if self.type == "revisit" else head + self.stored()

    def raw(self, number: int = 0) -> bytes:
        block = self.block()
        uri = f"<{self.uri}>" if self.brackets else self.uri
        media = {
            "response": "application/http; msgtype=response",
            "revisit": "application/http; msgtype=response",
            "request": "application/http; msgtype=request",
            "resource": "text/html",
        }.get(self.type, "application/warc-fields")
        lines = [
            self.version.encode(),
            b"WARC-Type: " + self.type.encode(),
            b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>" % number,
            b"WARC-Target-URI: " + uri.encode("utf-8", "surrogateescape"),
            b"WARC-Date: " + self.date.encode("utf-8", "surrogateescape"),
            b"Content-Type: " + media.encode(),
            *self.fields,
        ]
        if self.declared and self.type in ("response", "resource", "revisit"):
            # Over the body in the chunks, as jwarc and warcprox; "framed", as wget: over those.
            framed = self.declared == "framed"
            digest = DECLARED[self.declared](self.stored() if framed else self.body)
            lines.append(b"WARC-Payload-Digest: " + digest.encode())
        if self.block_digest:
            lines.append(b"WARC-Block-Digest: " + sha1_base32(block).encode())
        lines.append(b"Content-Length: %d" % (len(block) + self.lie))
        close = self.line_end * 2 if self.close is None else self.close
        return self.line_end.join([*lines, b"", b""]) + block + close


def revisit(of: Rec, *, of_number: int, profile: str, **changes: object) -> Rec:
    """A revisit as a crawler writes it."""
    fields = [b"WARC-Profile: " + profile.encode()]
    if "identical" in profile:
        fields += [
            b"WARC-Refers-To-Target-URI: " + of.uri.encode(),
            b"WARC-Refers-To-Date: " + of.date.encode(),
            b"WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-%012d>" % of_number,
        ]
    return replace(of, type="revisit", fields=tuple(fields), **changes)


def member(data: bytes, level: int = 6) -> bytes:
    return gzip.compress(data, level, mtime=0)


def in_frames(raws: Sequence[bytes], *, known: bytes = b"", packed: bool = False) -> bytes:
    """A frame for each, with a dictionary or without."""
    start = dictionary_frame(known, compressed=packed) if known else b""
    return start + b"".join(frame(raw, dictionary=known) for raw in raws)


# Frames between records: an empty one, and one that is passed over.
BETWEEN = frame(b"") + skippable(b"somebody's own")
FRAMED: dict[str, Callable[[Sequence[bytes]], bytes]] = {
    "frames": in_frames,
    "dictionary": lambda raws: in_frames(raws, known=dictionary()),
    "packed dictionary": lambda raws: in_frames(raws, known=dictionary(), packed=True),
    "one frame": lambda raws: frame(b"".join(raws)),
    "split frames": lambda raws: b"".join(
        frame(raw[: len(raw) // 2]) + frame(raw[len(raw) // 2 :]) for raw in raws
    ),
    "frames between": lambda raws: b"".join(frame(raw) + BETWEEN for raw in raws),
}
SUFFIXES = {"plain": ".warc"}


@dataclass
class ArchiveFile:
    """`layout`: plain, gzip, shared (all in one member), pairs (two to a member), split
    (each over two members), empties (members without content between), or one of `FRAMED`."""

    name: str
    records: Sequence[Rec]
    layout: str = "gzip"
    first_number: int = 0
    raws: list[bytes] = field(default_factory=list)

    def data(self) -> bytes:
        self.raws = [rec.raw(self.first_number + at) for at, rec in enumerate(self.records)]
        raws = self.raws
        if self.layout == "plain":
            return b"".join(raws)
        if self.layout in FRAMED:
            return FRAMED[self.layout](raws)
        if self.layout == "shared":
            return member(b"".join(raws)) if raws else b""
        if self.layout == "pairs":
            return b"".join(member(b"".join(raws[at : at + 2])) for at in range(0, len(raws), 2))
        if self.layout == "split":
            cut = [(raw[: len(raw) // 2], raw[len(raw) // 2 :]) for raw in raws]
            return b"".join(member(left) + member(right) for left, right in cut)
        if self.layout == "empties":
            return b"".join(member(raw) + member(b"") for raw in raws)
        return b"".join(map(member, raws))


def write_set(folder: Path, files: Iterable[ArchiveFile]) -> list[Path]:
    """Write the files; numbers of records run through all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths, number = [], 0
    for file in files:
        file.first_number = number
        number += len(file.records)
        suffix = ".warc.zst" if file.layout in FRAMED else SUFFIXES.get(file.layout, ".warc.gz")
        path = folder / (file.name + suffix)
        path.write_bytes(file.data())
        paths.append(path)
    return paths


def manifest_of(paths: Iterable[Path]) -> list[ManifestLine]:
    lines: list[ManifestLine] = []
    for path in paths:
        with open_source(path) as source:
            lines += iter_manifest(iter_records(source), file=str(path), now=NOW)
    return lines


def second(line: ManifestLine) -> str:
    moment = parse_date(line.date)
    return moment.replace(microsecond=0).isoformat() if moment else ""


def refer(line: ManifestLine, original: ManifestLine) -> ManifestLine:
    """The line as a duplicate of another."""
    return line._replace(
        hash_extension=0,
        copy_number=2,
        original_uri=original.target_uri,
        original_date=original.date,
        original_file=original.file,
        original_offset=original.offset,
        original_length=original.length,
        original_inner_offset=original.inner_offset,
    )


def plan(paths: Iterable[Path], *, resources: bool = False) -> list[ManifestLine]:
    """The manifest with decisions: see the module's docstring.

    What revisits of others refer to, and what cannot be addressed, stays full; so do
    resources, unless they are asked for.
    """
    taking_part = {None, "resource"} if resources else {None}
    lines = manifest_of(paths)
    bodies: dict[tuple[str, str], set[str]] = defaultdict(set)
    pinned = {line.refers_uri or line.target_uri for line in lines if line.type == "revisit"}
    for line in lines:
        bodies[line.target_uri, second(line)].add(line.digest if not line.skip else "?")
    originals: dict[tuple[str, int | None], ManifestLine] = {}
    result = {}
    for line in sorted(lines, key=lambda line: (second(line), line.file, line.offset)):
        place = (line.file, line.offset, line.inner_offset)
        result[place] = line
        if line.skip or line.type not in taking_part:
            continue
        addressable = len(bodies[line.target_uri, second(line)]) == 1
        original = originals.get((line.digest, line.status))
        if original is None or line.target_uri in pinned:
            if addressable and original is None:
                originals[line.digest, line.status] = line
            result[place] = line._replace(hash_extension=0, copy_number=1)
        elif (original.target_uri, second(original)) != (line.target_uri, second(line)):
            result[place] = refer(line, original)
    return [result[place] for place in sorted(result)]


def copy_real_archives(shared_data: Path, folder: Path) -> list[Path]:
    """Every archive of the shared data in one new folder; damaged ones among them."""
    folder.mkdir()
    found = sorted(
        path
        for pattern in ("*.warc", "*.warc.gz")
        for path in (shared_data / "archives").rglob(pattern)
        if "_oracle" not in path.parts
    )
    for number, path in enumerate(found):
        shutil.copyfile(path, folder / f"{number:03d}-{path.name}")
    return sorted(folder.iterdir())


def refs(
    paths: Iterable[Path],
    lines: Iterable[ManifestLine],
    out: Path,
) -> RefsCount:
    """Write every file anew into `out`."""
    total = RefsCount()
    by_file: dict[str, list[ManifestLine]] = defaultdict(list)
    for line in lines:
        by_file[line.file].append(line)
    duplicates = {
        (line.file, line.offset, line.inner_offset)
        for group in by_file.values()
        for line in group
        if line.is_duplicate
    }
    out.mkdir(parents=True, exist_ok=True)
    with ArchiveFiles() as files:
        originals = OriginalReader(files, duplicates)
        writer = RevisitWriter(originals.find, run="test")
        for path in paths:
            count = RefsCount()
            replacements = partial(writer.replacements, lines=by_file[str(path)], count=count)
            rewrite_or_copy(partial(rewrite_to, str(path), out / path.name), replacements, count)
            total.add(count)
    return total


def restore(paths: Sequence[Path], out: Path, *, others: Iterable[Path] = ()) -> RestoreCount:
    """Restore every file into `out`, with originals in these files and `others`."""
    count, originals = RestoreCount(), Originals()
    out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        with open_source(path) as source:
            want_originals(source, originals)
    for path in (*paths, *others):
        with open_source(path) as source:
            originals.look_through(source)
    with ArchiveFiles() as files:
        for path in paths:
            replacements = partial(restorations, originals=originals, files=files, count=count)
            rewrite_to(str(path), out / path.name, replacements)
    return count


def validate(before: Path, after: Path) -> Validation:
    return validate_folders(before, after)


def codes(result: Validation) -> set[str]:
    return {found.code for found in result.comparison.discrepancies}


def inflated(path: Path) -> bytes:
    """The file's bytes; of a compressed one, those of all members, read by zlib alone."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        return content_of_frames(data)
    if path.suffix != ".gz":
        return data
    result = []
    while data:
        inflater = zlib.decompressobj(31)
        result.append(inflater.decompress(data))
        data = inflater.unused_data
    return b"".join(result)


def records_of(path: Path) -> list[Record]:
    source = Source(io.BytesIO(path.read_bytes()), name=str(path))
    return [item for item in iter_records(source) if isinstance(item, Record)]


def write_manifest(path: Path, lines: Iterable[ManifestLine]) -> Path:
    path.write_text("".join(format_line(line) + "\n" for line in lines), errors="surrogateescape")
    return path


def index_of(paths: list[Path], *, with_urls: bool = True) -> list[CdxLine]:
    """An index of the files, by their base names."""
    lines = []
    for path in paths:
        for record in records_of(path):
            moment = parse_date(record.date_text or "")
            assert moment is not None
            digest = (record.header.get("WARC-Payload-Digest") or "").removeprefix("sha1:")
            lines.append(
                CdxLine(
                    urlkey(record.target_uri or ""),
                    format_14(moment),
                    url=record.target_uri if with_urls else None,
                    mime="warc/revisit" if record.type == "revisit" else "text/html",
                    status="200",
                    digest=digest,
                    length=record.length,
                    offset=record.offset,
                    filename=path.name,
                )
            )
    return sorted(lines, key=lambda line: line[:2])
