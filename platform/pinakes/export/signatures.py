"""`signed/`: what others have signed of the WACZ files that a crawl was imported from.

A signature is of a `datapackage.json`, and the one of an export is another.  So both files of the
signer are kept as they were, under other names:

    signed/item.datapackage           signed/item.datapackage-digest

They say what the imported WACZ file held: an archive file of the export with a SHA-256 that is
there is still that.  One that does not say the digest of its `datapackage.json`, and nothing else,
is not kept here.
They are not named `.json`: checkers of packages would take one for a package in this.
Source: WACZ signing 0.1.0 (`signedData`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.package_documents import Document, iter_documents, read_document
from pinakes.errors import DigestMismatch, MalformedRecord, PinakesError
from pinakes.warc.file_names import PACKAGE
from pinakes.warc.packages.datapackage import LONGEST_DATAPACKAGE

from .contents import member_names
from .wacz_file import WaczWriter

FOLDER = "signed/"
_NAMES = {
    "datapackage-digest.json": "datapackage.json",
    ".datapackage-digest": ".datapackage",  # what another export has kept
}
"""What follows the place of both: of the digest, and of what was signed."""


class SignedPackage(NamedTuple):
    """A signature, and the `datapackage.json` whose digest it has."""

    datapackage: Document
    digest: Document


OnProblem = Callable[[PinakesError], None]


def _is_signing(path: str) -> bool:
    return path.endswith((*_NAMES, *_NAMES.values()))


def scan_signed(
    archive: ArchiveReader, entries: Iterable[FileEntry], on_problem: OnProblem
) -> list[SignedPackage]:
    """What was signed, in the order of the files; `on_problem` gets what does not hold or cannot
    be read.  Memory: one `datapackage.json` at a time."""
    documents = list(iter_documents(archive, entries, _is_signing))
    by_place = {(one.file, one.path): one for one in documents}
    return list(_signed(archive, documents, by_place, on_problem))


def _signed(
    archive: ArchiveReader,
    documents: Iterable[Document],
    by_place: dict[tuple[str, str], Document],
    on_problem: OnProblem,
) -> Iterator[SignedPackage]:
    for digest in documents:
        place, end = _split(digest.path)
        if end not in _NAMES:
            continue
        datapackage = by_place.get((digest.file, place + _NAMES[end]))
        try:
            said = signed_hashes(_read(archive, digest))
            if said is None:
                continue
            if datapackage is None:
                raise DigestMismatch("what it signs is not there")  # noqa: TRY301
            if said != {hashlib.sha256(_read(archive, datapackage)).hexdigest()}:
                raise DigestMismatch("its signature is of another datapackage.json")  # noqa: TRY301
            yield SignedPackage(datapackage, digest)
        except (DigestMismatch, MalformedRecord) as problem:
            why = f"{problem.message}: kept among its documents only"
            on_problem(type(problem)(why, file=f"{digest.package}/{digest.path}"))


def _split(path: str) -> tuple[str, str]:
    """A path without the end by which it was found, and that."""
    for end in (*_NAMES, *_NAMES.values()):
        if path.endswith(end):
            return path[: -len(end)], end
    return path, ""


def signed_hashes(digest: bytes) -> set[str] | None:
    """The SHA-256 that a `datapackage-digest.json` says, in hex; None if it is not signed.

    Several if the one next to the signature differs from the one in it.  Whether the
    signature is its signer's is not looked at.  Pure.

    Raises MalformedRecord: it cannot be read, or has a signature of nothing.
    """
    try:
        found = json.loads(digest)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MalformedRecord("cannot be read")
    signed = found.get("signedData")
    if signed is None:
        return None
    if not isinstance(signed, dict) or not signed:
        raise MalformedRecord("its signedData is no signature")
    said = [one["hash"] for one in (found, signed) if "hash" in one]
    if not said or not all(isinstance(one, str) for one in said):
        raise MalformedRecord("its signature has no hash")
    return {one.lower().removeprefix("sha256:") for one in said}


def _read(archive: ArchiveReader, document: Document) -> bytes:
    return read_document(archive, document, most_bytes=LONGEST_DATAPACKAGE) or b""


def write_signed(out: WaczWriter, archive: ArchiveReader, signed: Iterable[SignedPackage]) -> None:
    """Write the members below `signed/`."""
    pairs: dict[str, SignedPackage] = {}
    for one in signed:
        stem = _stem(one)
        pairs[f"{stem}/{one.digest.path}" if stem in pairs else stem] = one
    # As of archive files: no two alike.
    stems = member_names(dict.fromkeys(pairs, ""))
    for place, one in pairs.items():
        out.write(f"{FOLDER}{stems[place]}.datapackage", _read(archive, one.datapackage))
        out.write(f"{FOLDER}{stems[place]}.datapackage-digest", _read(archive, one.digest))


def _stem(signed: SignedPackage) -> str:
    """A path whose last part names the package, or what it has kept of another."""
    package = signed.digest.package.removesuffix(PACKAGE)
    inner = _split(signed.digest.path)[0].rstrip("/")
    return f"{package}/{inner}" if inner else package
