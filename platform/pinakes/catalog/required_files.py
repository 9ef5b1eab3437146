"""What the WACZ files of a crawl say that they need: `relation.requires` of `datapackage.json`.

    {"filename": "spring.wacz", "hash": HEX, "size": 73405619, "crawlId": "spring",
     "resources": [{"path": "archive/a.warc.gz", "hash": "sha256:HEX", "bytes": 73405001}]}

`hash` is the SHA-256 of a WACZ file, or of an archive file.  `resources` is ours: the archive
files in that WACZ file that are needed, so that they are known without it, too.  Source:
browsertrix-crawler, `relation` of `datapackage.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest
from pinakes.warc.packages.datapackage import DATAPACKAGE, LONGEST_DATAPACKAGE

from .file_records import read_generations
from .file_rows import FileEntry, scan_entries
from .package_documents import Document, iter_documents, read_document
from .wacz_rows import wacz_places


class RequiredFile(NamedTuple):
    """A file that a WACZ file says it needs; SHA-256 in hex, None where it names none.

    `members` are those of archive files in it, `entry` is what was written, `package` who says so.
    """

    filename: str
    sha256: str | None
    size: int | None
    crawl: str | None
    members: tuple[str, ...]
    entry: Mapping[str, object]
    package: str


class StoredRequirement(NamedTuple):
    """A required file, and where it is in the store: WACZ or archive files; none: missing."""

    required: RequiredFile
    found: tuple[str, ...]


def scan_required(
    store: RowStore, archive: ArchiveReader, crawl: str, collection: str
) -> list[StoredRequirement]:
    """What the WACZ files of a crawl say that they need, and where the collection has it.

    Reads their `datapackage.json`.  Where an archive file is looked for, one scan of `files`.
    """
    documents = iter_documents(archive, scan_entries(store, crawl), _is_datapackage)
    required = [one for document in documents for one in _required_by(archive, document)]
    wanted = {one.sha256 for one in required if one.sha256}
    found = find_files(store, collection, wanted.union(*(one.members for one in required)))
    return [StoredRequirement(one, _found(one, found)) for one in required]


def _is_datapackage(path: str) -> bool:
    """That of the package itself: one that it keeps of another is not about its own files."""
    return path == DATAPACKAGE


def _found(required: RequiredFile, found: Mapping[str, str]) -> tuple[str, ...]:
    if required.sha256 is not None and required.sha256 in found:
        return (found[required.sha256],)
    if required.members and all(sha256 in found for sha256 in required.members):
        return tuple(found[sha256] for sha256 in required.members)
    return ()


def _required_by(archive: ArchiveReader, document: Document) -> Iterator[RequiredFile]:
    data = read_document(archive, document, most_bytes=LONGEST_DATAPACKAGE)
    return iter_required(data or b"", document.package)


def iter_required(datapackage: bytes, package: str) -> Iterator[RequiredFile]:
    """What a `datapackage.json` names; nothing of what cannot be understood.  Pure."""
    try:
        relation = json.loads(datapackage)["relation"]
        entries = list(relation["requires"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        filename, size, crawl = (entry.get(name) for name in ("filename", "size", "crawlId"))
        if not isinstance(filename, str):
            continue
        resources = entry.get("resources")
        digests = [
            _sha256(resource.get("hash") if isinstance(resource, dict) else None)
            for resource in (resources if isinstance(resources, list) else ())
        ]
        yield RequiredFile(
            filename,
            _sha256(entry.get("hash")),
            size if type(size) is int and size >= 0 else None,
            crawl if isinstance(crawl, str) else None,
            # Of which one is not known, it is not known whether all are there.
            tuple(known) if len(known := [d for d in digests if d]) == len(digests) else (),
            entry,
            package,
        )


def _sha256(text: object) -> str | None:
    digest = parse_digest(text) if isinstance(text, str) else None
    return digest.hex if digest is not None and digest.algorithm == "sha256" else None


def find_files(store: RowStore, collection: str, sha256s: Iterable[str]) -> dict[str, str]:
    """Where files of a collection with these SHA-256 are: WACZ files that were imported, and
    archive files, in any generation.  One round trip; for what is no WACZ file, a scan of `files`.
    """
    left = set(sha256s)
    found = {
        sha256: f"{place.crawl}/{place.name}"
        for sha256, place in (wacz_places(store, collection, left) if left else {}).items()
        if place.queued is None
    }
    left -= found.keys()
    for entry in scan_entries(store) if left else ():
        if entry.state is FileState.STORED and entry.facts and entry.facts.collection == collection:
            for sha256 in left.intersection(_sha256s_of(store, entry)):
                found.setdefault(sha256, entry.archive_file)
    return found


def _sha256s_of(store: RowStore, entry: FileEntry) -> set[str]:
    known = {entry.facts.sha256} if entry.facts is not None else set()
    if entry.generation > 1:
        known |= {facts.sha256 for facts in read_generations(store, entry.archive_file).values()}
    return known
