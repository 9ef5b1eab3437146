"""Snapshots as files: a JSON document each, beside the images that it names."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

from pinakes.archive_store.local.whole_files import hidden_file
from pinakes.errors import MalformedRecord
from pinakes.qa.snapshot import Snapshot, value_of

SCHEMA = 1


def write_snapshot(file: Path, snapshot: Snapshot) -> None:
    """Write it whole, or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with hidden_file(file) as aside:
        aside.file.write(encode_snapshot(snapshot))
        aside.publish(replace=True)


def read_snapshot(file: Path) -> Snapshot:
    """Read what `write_snapshot` wrote.

    Raises:
        MalformedRecord: not a snapshot; names the file.
    """
    try:
        return decode_snapshot(file.read_bytes())
    except MalformedRecord as error:
        raise MalformedRecord(error.message, file=str(file)) from error


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """One JSON object in UTF-8, schema version first; equal snapshots give equal bytes."""
    document = {"schema": SCHEMA, **asdict(snapshot)}
    text = json.dumps(document, ensure_ascii=False, default=_format, separators=(",", ":"))
    # Pages may contain lone surrogates, which UTF-8 cannot encode.
    return text.encode("utf-8", "surrogatepass")


def decode_snapshot(encoded: bytes) -> Snapshot:
    """Undo `encode_snapshot`.

    Raises:
        MalformedRecord: not a snapshot, or one of a later schema.
    """
    try:
        document = json.loads(encoded.decode("utf-8", "surrogatepass"))
        if document.pop("schema") != SCHEMA:
            raise MalformedRecord(f"not a snapshot of schema {SCHEMA}")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise MalformedRecord(f"not a snapshot: {type(error).__name__}: {error}") from error
    return value_of(Snapshot, document)


def _format(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat()
    raise TypeError(f"{type(value).__name__} in a snapshot")
