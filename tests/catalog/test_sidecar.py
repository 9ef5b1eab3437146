"""Sidecars give back what they were given, whatever text it is."""

from __future__ import annotations

import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.catalog.sidecar import (
    SidecarOf,
    SidecarRow,
    read_sidecar,
    read_sidecar_of,
    write_sidecar,
)
from pinakes.errors import MalformedRecord, SchemaError

# Unicode, bytes that are no UTF-8 (PEP 383), and the escape itself.
texts = st.text(
    st.one_of(
        st.sampled_from("\x10ab"),
        st.characters(exclude_categories=["Cs"]),
        st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF, categories=["Cs"]),
    ),
    max_size=8,
)


def _row(ordinal: int, **values: object) -> SidecarRow:
    row = SidecarRow(ordinal, None, "response", *[None] * 6, 0, 1, 0, 2, *[None] * 13)  # type: ignore[arg-type]
    return row._replace(**values)  # type: ignore[arg-type]


@given(st.lists(st.tuples(texts | st.none(), texts | st.none(), st.binary(max_size=5)), max_size=8))
def test_rows_come_back(values: list[tuple[str | None, str | None, bytes]]) -> None:
    rows = [
        _row(n, target_uri=uri, media_type=media, row_key=key, sha1=key or None, status=n or None)
        for n, (uri, media, key) in enumerate(values)
    ]
    file = io.BytesIO()
    assert write_sidecar(file, rows) == len(rows)
    assert list(read_sidecar(io.BytesIO(file.getvalue()))) == rows


def test_more_rows_than_a_batch() -> None:
    rows = [_row(n, target_uri=f"http://e.org/{n}") for n in range(20_000)]
    file = io.BytesIO()
    write_sidecar(file, rows)
    assert list(read_sidecar(io.BytesIO(file.getvalue()))) == rows


def test_a_sidecar_of_a_newer_version_is_refused() -> None:
    file = io.BytesIO()
    schema = pa.schema([pa.field("x", pa.int64())], metadata={b"pinakes.sidecar": b"2"})
    pq.write_table(pa.table({"x": [1]}, schema=schema), file)
    with pytest.raises(SchemaError, match="upgrade"):
        list(read_sidecar(io.BytesIO(file.getvalue())))


SOME = [
    _row(n, target_uri=f"http://e.org/{n}", row_key=b"key %d" % n, sha1=b"S" * (n % 40), status=n)
    for n in range(300)
]


@given(st.randoms(use_true_random=False))
def test_no_flipped_bit_of_a_page_gives_other_rows(dice: random.Random) -> None:
    """The footer behind the pages has no checksum, which Parquet does not foresee."""
    file = io.BytesIO()
    write_sidecar(file, SOME)
    content = bytearray(file.getvalue())
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    content[dice.randrange(len(content) - footer)] ^= 1 << dice.randrange(8)
    try:
        rows = list(read_sidecar(io.BytesIO(bytes(content))))
    except (MalformedRecord, SchemaError):
        return
    assert rows == SOME


@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_a_sidecar_that_ends_early_is_damaged(part: float) -> None:
    file = io.BytesIO()
    write_sidecar(file, SOME)
    content = file.getvalue()
    with pytest.raises(MalformedRecord, match="the sidecar is damaged: "):
        list(read_sidecar(io.BytesIO(content[: int(part * len(content))])))


def test_a_sidecar_without_checksums_is_read() -> None:
    """As older versions wrote it."""
    file, old = io.BytesIO(), io.BytesIO()
    write_sidecar(file, SOME)
    pq.write_table(pq.read_table(io.BytesIO(file.getvalue())), old)
    assert list(read_sidecar(io.BytesIO(old.getvalue()))) == SOME


@pytest.mark.parametrize("name", ["one/a.warc.gz", "one/g2/\udcff \u00e9.warc"])
def test_sidecar_says_whose_it_is(name: str) -> None:
    file = io.BytesIO()
    of = SidecarOf(name, 2, "0f" * 32)
    write_sidecar(file, SOME, lambda: of)
    assert read_sidecar_of(io.BytesIO(file.getvalue())) == of
    assert list(read_sidecar(io.BytesIO(file.getvalue()))) == SOME


def test_sidecar_of_an_older_version_does_not_say() -> None:
    file = io.BytesIO()
    write_sidecar(file, SOME)
    assert read_sidecar_of(io.BytesIO(file.getvalue())) is None
