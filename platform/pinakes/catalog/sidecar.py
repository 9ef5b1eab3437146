"""Sidecars: everything about the records of a landed file, in Parquet next to it.

Jobs, fsck, removal and the rebuilding of tables start from sidecars, never from a table scan.
One row per record of every type, in the order of the file.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args, get_type_hints

from pinakes.errors import MalformedRecord, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

VERSION = 1
_BATCH_ROWS = 8192
# Columns with repeated values: in others a dictionary would be built and discarded.
_REPEATED = ["type", "status", "method", "media_type", "verified_over", "skip", "findings"]
_VERSION_KEY, _FILE_KEY = b"pinakes.sidecar", b"pinakes.sidecar.of"
_DAMAGED = "the sidecar is damaged"


class SidecarRow(NamedTuple):
    """One record.  A tuple, not a dataclass, for speed: jobs make one per record.

    URIs, dates, digests and ids are as written.  `offset` and `length` are those of the
    sidecar's generation; the rest describes the record as landed, except for dedupe's decision: a
    `copy_number` above 1 is a record that is a revisit in this generation, with its original's
    row key and, in `refers_`, its reference fields.  1 is an original that others refer to.
    """

    ordinal: int
    row_key: bytes | None
    type: str
    record_id: str | None
    target_uri: str | None
    date: str | None
    status: int | None
    method: str | None
    media_type: str | None
    offset: int
    length: int
    inner_offset: int
    content_length: int
    payload_size: int | None
    sha1: bytes | None
    sha256: bytes | None
    dechunked_sha1: bytes | None
    dechunked_sha256: bytes | None
    declared: str | None
    verified_over: str | None
    skip: str | None
    findings: str | None
    refers_uri: str | None
    refers_date: str | None
    refers_id: str | None
    concurrent_to: str | None
    hash_extension: int | None = None
    copy_number: int | None = None
    original_key: bytes | None = None

    @property
    def is_replaced(self) -> bool:
        """Whether a run of dedupe has made this record a revisit."""
        return self.copy_number is not None and self.copy_number > 1


class SidecarOf(NamedTuple):
    """The archive file that a sidecar describes: stored name, generation, SHA-256 in hex.

    In the metadata of the Parquet file.  By it a sidecar that is next to another file is
    recognized, and one of an earlier file of that name.
    """

    file: str
    generation: int
    sha256: str


def sidecar_name(file: str) -> str:
    """The name of a file's sidecar, next to it."""
    return f"{file}.sidecar.parquet"


@cache
def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {int: pa.int64(), str: pa.string(), bytes: pa.binary()}
    columns = []
    for name, hint in get_type_hints(SidecarRow).items():
        alternatives = get_args(hint) or (hint,)
        columns.append(pa.field(name, kinds[alternatives[0]], nullable=len(alternatives) > 1))
    return pa.schema(columns, metadata={_VERSION_KEY: str(VERSION).encode()})


def write_sidecar(
    file: BinaryIO, rows: Iterable[SidecarRow], of: Callable[[], SidecarOf] | None = None
) -> int:
    """Write the rows to an open file; return how many.  Memory: one batch of rows.

    `of` is called after the last row, when all of the archive file may have been read.  Sidecars
    of older versions do not say whose they are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    count = 0
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=_REPEATED,
        # Else most flipped bits are read as other rows.
        write_page_checksum=True,
    ) as writer:
        for batch in _batches(rows):
            columns: list[Any] = list(zip(*batch, strict=True))
            arrays = [
                _texts(column) if field.type == pa.string() else _array(column, field.type)
                for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            count += len(batch)
        if of is not None:
            writer.add_key_value_metadata({_FILE_KEY: json.dumps(of()._asdict())})
    return count


def _texts(column: tuple[str | None, ...]) -> pa.Array:
    """A column of strings, escaped where Parquet cannot hold them: see `_clean`."""
    import pyarrow as pa

    try:
        texts = _array(column, pa.string())
    except UnicodeEncodeError:
        pass
    else:
        if not _holds_escapes(texts):
            return texts
    return _array([_clean(text) for text in column], pa.string())


def _holds_escapes(texts: pa.Array) -> bool:
    characters = texts.buffers()[2]
    return characters is not None and characters.to_pybytes().find(_ESCAPE.encode()) >= 0


def _array(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    # Arrow's own pool allocates huge pages, which the kernel has to clear first.
    return pa.array(column, type=kind, memory_pool=pa.system_memory_pool())


def read_sidecar(file: BinaryIO | str) -> Iterator[SidecarRow]:
    """Yield the rows in order.  Memory: one row group.

    Raises:
        MalformedRecord: the sidecar is damaged.
        SchemaError: it has a newer version.
    """
    with _parquet(file) as parquet:
        left = parquet.metadata.num_rows
        for batch in parquet.iter_batches(batch_size=_BATCH_ROWS):
            left -= len(batch)
            columns = map(_values, batch.columns)
            yield from map(SidecarRow._make, zip(*columns, strict=True))
        if left:
            raise MalformedRecord(f"{_DAMAGED}: {left:,} rows are missing")


def read_sidecar_at(file: BinaryIO | str, offset: int) -> list[SidecarRow]:
    """The rows of the records that begin at an offset: several where they share a member.

    Reads the footer, and the row groups that may have it.  Raises as `read_sidecar`.
    """
    found: list[SidecarRow] = []
    with _parquet(file) as parquet:
        column = SidecarRow._fields.index("offset")
        for number in range(parquet.num_row_groups):
            among = parquet.metadata.row_group(number).column(column).statistics
            if among is None or not among.has_min_max or among.min <= offset <= among.max:
                for batch in parquet.read_row_group(number).to_batches():
                    rows = zip(*map(_values, batch.columns), strict=True)
                    found += (row for row in map(SidecarRow._make, rows) if row.offset == offset)
    return found


class Places(NamedTuple):
    """Where the records of a file are, in its order; those that share a member, at one offset."""

    offsets: Sequence[int]
    lengths: Sequence[int]


def read_places(file: BinaryIO | str) -> Places:
    """The places of all records.  Memory: 16 bytes each.  Raises as `read_sidecar`."""
    with _parquet(file) as parquet:
        columns = parquet.read(columns=["offset", "length"])
        offsets, lengths = (array("q", column.to_pylist()) for column in columns.itercolumns())
        return Places(offsets, lengths)


def read_sidecar_of(file: BinaryIO | str) -> SidecarOf | None:
    """The archive file that a sidecar says it describes; None of an older version.

    Reads the footer.  Raises as `read_sidecar`.
    """
    with _parquet(file) as parquet:
        value = (parquet.metadata.metadata or {}).get(_FILE_KEY)
        try:
            return SidecarOf(**json.loads(value)) if value is not None else None
        except (ValueError, TypeError) as error:
            raise MalformedRecord(f"{_DAMAGED}: whose it is cannot be read") from error


@contextmanager
def _parquet(file: BinaryIO | str) -> Iterator[pq.ParquetFile]:
    """An open sidecar; what Parquet finds wrong with it is ours."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            _require_version(parquet)
            if parquet.schema_arrow != _schema():
                raise MalformedRecord(f"{_DAMAGED}: its columns are not those of a sidecar")
            yield parquet
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk
        why = str(error).partition("\n")[0]
        raise MalformedRecord(f"{_DAMAGED}: {why}") from error


def _require_version(parquet: pq.ParquetFile) -> None:
    metadata = parquet.schema_arrow.metadata or {}
    version = int(metadata.get(_VERSION_KEY, b"0"))
    if version != VERSION:
        raise SchemaError(
            f"a sidecar of version {version}; this Pinakes reads version {VERSION}: upgrade it"
        )


def _values(column: pa.Array) -> list[Any]:
    """The values of a column; checked as a whole, because most have nothing to restore."""
    import pyarrow as pa

    if column.null_count == len(column):
        return [None] * len(column)
    values: list[Any] = column.to_pylist()
    if column.type == pa.string() and _holds_escapes(column):
        return list(map(_restore, values))
    return values


def _batches(rows: Iterable[SidecarRow]) -> Iterator[list[SidecarRow]]:
    batch: list[SidecarRow] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


# Parquet's strings are UTF-8.  A byte that is not UTF-8 was read as a lone surrogate, which is
# stored as an escape after U+0010 (DLE); a DLE in the text is doubled.
_ESCAPE = "\x10"


def _clean(text: str | None) -> str | None:
    if text is None or (text.isascii() and _ESCAPE not in text):
        return text
    return "".join(
        _ESCAPE * 2 if c == _ESCAPE else f"{_ESCAPE}{ord(c) - 0xDC00:02x}" if _lone(c) else c
        for c in text
    )


def _lone(character: str) -> bool:
    return 0xDC80 <= ord(character) <= 0xDCFF


def _restore(value: str | None) -> str | None:
    if value is None or _ESCAPE not in value:
        return value
    parts = []
    at = 0
    while at < len(value):
        if value[at] != _ESCAPE:
            parts.append(value[at])
            at += 1
        elif value[at + 1 : at + 2] == _ESCAPE:
            parts.append(_ESCAPE)
            at += 2
        else:
            parts.append(chr(0xDC00 + int(value[at + 1 : at + 3], 16)))
            at += 3
    return "".join(parts)
