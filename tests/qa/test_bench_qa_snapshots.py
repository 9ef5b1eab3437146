"""A snapshot is written and read as it was; what is none is refused."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.qa_training.kept_snapshots import (
    decode_snapshot,
    encode_snapshot,
    read_snapshot,
    write_snapshot,
)
from pinakes.errors import MalformedRecord
from pinakes.qa.snapshot import Media, Outcome, Overlay, Snapshot

TAKEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
BLANK = Snapshot(
    url="http://a.example/",
    browser="chromium",
    browser_version="131.0",
    taken=TAKEN,
    clock=None,
    seed=None,
    outcome=Outcome.CUT_OFF,
    viewport_width=800,
    viewport_height=600,
)

aware = st.datetimes(timezones=st.just(timezone.utc))
numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(), max_size=20)  # lone surrogates too: pages have them
snapshots = st.builds(
    Snapshot,
    taken=aware,
    clock=st.none() | aware,
    text=words,
    media=st.lists(st.builds(Media, duration_s=st.none() | numbers, url=words)).map(tuple),
    overlay=st.none() | st.builds(Overlay, viewport_share=numbers, text=words),
)


@given(snapshots)
def test_what_is_encoded_is_decoded(snapshot: Snapshot) -> None:
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


def test_every_cut_of_a_snapshot_is_refused() -> None:
    whole = encode_snapshot(BLANK)
    for length in range(len(whole)):
        with pytest.raises(MalformedRecord):
            decode_snapshot(whole[:length])


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"url": 5},
        {"viewport_width": "800"},
        {"viewport_width": True},
        {"outcome": "splendid"},
        {"boxes": [{"tag": "p"}]},
        {"boxes": {}},
        {"timings_ms": [["loaded"]]},
        {"taken": "yesterday"},
        {"taken": "2026-01-02T03:04:05"},
        {"more": 1},
        {"image": []},
    ],
    ids=repr,
)
def test_a_lying_document_is_refused(change: dict[str, object]) -> None:
    document = {**json.loads(encode_snapshot(BLANK)), **change}
    with pytest.raises(MalformedRecord):
        decode_snapshot(json.dumps(document).encode())


@pytest.mark.parametrize("document", [b"", b"[]", b"null", b"1", b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_document_is_refused(document: bytes) -> None:
    with pytest.raises(MalformedRecord):
        decode_snapshot(document)


def test_a_file_is_named_when_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    write_snapshot(file, BLANK)
    assert read_snapshot(file) == BLANK
    file.write_bytes(b"{")
    with pytest.raises(MalformedRecord, match=r"one\.json: not a snapshot"):
        read_snapshot(file)
    assert [entry.name for entry in tmp_path.iterdir()] == ["one.json"]
