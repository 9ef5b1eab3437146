"""The files of a backup, and the two that describe it.

backup.json      written last: without it the backup is incomplete
begun.json       while it is made: the snapshot that is copied
files.jsonl      name, size, SHA-256 of every file below, one per line
crawls.jsonl     the crawls known when the snapshot of the files was taken
rows/…           the rows: `rows.sqlite`, or HBase's files by table
archive/…        archive files and sidecars, under their own names
runs/…           reports of runs
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from io import BytesIO
from typing import BinaryIO, NamedTuple, TypeVar

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ASIDE, ArchiveReader, ArchiveStore
from pinakes.archive_store.text_lines import iter_text_lines
from pinakes.errors import ConfigError, DigestMismatch, SchemaError

BACKUP, BEGUN, FILES, CRAWLS = "backup.json", "begun.json", "files.jsonl", "crawls.jsonl"
ROWS, ARCHIVE, RUNS = "rows", "archive", "runs"
FORMAT = 1
_OWN_SHA256 = "sha256"
"""Of backup.json and begun.json; those of earlier versions have none."""
T = TypeVar("T")


class FileLine(NamedTuple):
    """A file of a backup."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A backup that is being made.  Times in ms since 1970.

    It contains everything that had ended by `watermark_ms`; `pinned_ms` is the same moment by the
    store's clock.
    """

    act: str
    watermark_ms: int
    pinned_ms: int
    profile: str
    schema_version: int
    software: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupFacts(Begun):
    """A complete backup.  Checksums are SHA-256, in hex."""

    format: int = FORMAT
    files: int
    size: int
    files_sha256: str


def store_file(
    content: BinaryIO, store: ArchiveStore, name: str, *, token: str, replace: bool = False
) -> FileLine:
    """`publish_copy` of a file of a backup."""
    return FileLine(name, *publish_copy(store, content, name, token=token, replace=replace))


def write_text(store: ArchiveStore, name: str, text: str, *, token: str) -> FileLine:
    """Publish a small file, replacing an existing one."""
    content = BytesIO(text.encode("utf-8", "surrogateescape"))
    return store_file(content, store, name, token=token, replace=True)


def write_facts(store: ArchiveStore, name: str, facts: Begun, *, token: str) -> None:
    """Publish the description of a backup."""
    content = asdict(facts)
    content[_OWN_SHA256] = _sha256_of(content)
    write_text(store, name, json.dumps(content, indent=1) + "\n", token=token)


def _sha256_of(content: dict[str, object]) -> str:
    """Of a description but for its own checksum."""
    described = {key: value for key, value in content.items() if key != _OWN_SHA256}
    return hashlib.sha256(json.dumps(described).encode("ascii")).hexdigest()


def _read(store: ArchiveReader, name: str, cls: type[T]) -> T | None:
    if store.size(name) is None:
        return None
    with store.open(name) as file:
        data = file.read()
    try:
        content = json.loads(data)
        if content.get("format", FORMAT) > FORMAT:
            raise SchemaError(
                f"the backup has format {content['format']}, this Pinakes reads {FORMAT}: "
                "use a newer Pinakes",
                file=name,
            )
        if content.get(_OWN_SHA256, own := _sha256_of(content)) != own:
            raise DigestMismatch("is not what was written", file=name)
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**{key: value for key, value in content.items() if key in known})
    except (ValueError, TypeError, AttributeError) as error:
        raise SchemaError(
            f"cannot be read: {error}; put it back from a copy, or back up into another folder",
            file=name,
        ) from error


def read_begun(store: ArchiveReader) -> Begun | None:
    """The description of an unfinished backup; None if there is none."""
    return _read(store, BEGUN, Begun)


def read_facts(store: ArchiveReader) -> BackupFacts | None:
    """The description of a complete backup; None if there is none."""
    return _read(store, BACKUP, BackupFacts)


def require_facts(store: ArchiveReader, place: str) -> BackupFacts:
    """The description of a complete backup; Raises ConfigError if there is none."""
    facts = read_facts(store)
    if facts is None:
        why = (
            "this backup is incomplete: run `pinakes backup` again"
            if store.size(BEGUN) is not None
            else "there is no backup here"
        )
        raise ConfigError(why, file=place)
    return facts


def format_line(line: FileLine) -> str:
    """A line of files.jsonl, with its newline."""
    return json.dumps(line._asdict()) + "\n"


def read_lines(store: ArchiveReader, facts: BackupFacts) -> list[FileLine]:
    """The files of a backup.  Memory: one line per file.

    Raises:
        DigestMismatch: the list differs from the one written.
    """
    state = hashlib.sha256()
    lines = []
    with store.open(FILES) as file:
        for text in iter_text_lines(file):
            state.update(text)
            lines.append(text)
    if state.hexdigest() != facts.files_sha256:
        raise DigestMismatch("the list of files differs from the one written", file=FILES)
    return [FileLine(**json.loads(text)) for text in lines]


def read_listed(store: ArchiveReader, line: FileLine) -> bytes:
    """All of a small file of a backup, compared with its line.

    Raises:
        DigestMismatch: it differs from what was written.
    """
    with store.open(line.name) as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != line.sha256:
        raise not_backed_up(line.name)
    return data


def not_backed_up(name: str) -> DigestMismatch:
    """The problem that a file of a backup differs from what was written."""
    return DigestMismatch("is not what was backed up: verify the backup", file=name)


def clear(store: ArchiveStore) -> None:
    """Delete every file; `begun.json`, which names the backup, last."""
    for prefix in ("", ASIDE):
        for stored in store.list(prefix):
            if stored.name != BEGUN:
                store.delete(stored.name)
    store.delete(BEGUN)


def total_bytes(lines: Iterable[FileLine]) -> int:
    """The total size of these files."""
    return sum(line.size for line in lines)
