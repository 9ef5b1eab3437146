"""refs and restore beside raw bytes: zlib says what a file holds, and nothing of ours does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from files_chain import files_chain
from judge import content
from warc_sets import Rec, member

from pinakes.cli import main

LATER = "2020-02-02T00:00:00Z"
FIRST, AGAIN = Rec().raw(1), replace(Rec(), uri="http://example.org/2", date=LATER).raw(2)
MORE = b"".join(
    member(replace(Rec(), uri=f"http://example.org/{n}", date=LATER).raw(n)) for n in range(3, 9)
)


@pytest.mark.parametrize(
    ("files", "revisits"),
    [
        ((member(FIRST) + member(AGAIN),), 1),
        ((member(FIRST) + member(AGAIN + b"\r\n"),), 0),
        ((member(FIRST) + member(AGAIN + b"\r\n\r\n\n\n") + MORE,), 6),
        ((member(FIRST) + member(AGAIN + b"\n" * (1 << 20)) + MORE,), 6),
        ((member(FIRST) + member(b"\r\n" + AGAIN) + MORE,), None),
        ((member(FIRST)[100:] + member(AGAIN) + MORE,), 6),
        ((b"\0" * 100 + member(FIRST) + member(AGAIN) + MORE,), 7),
        ((member(FIRST) + AGAIN,), 0),
        ((FIRST + member(AGAIN) + MORE,), None),
        ((member(MORE, level=0), member(FIRST) + member(AGAIN)), 1),
        ((member(FIRST) + member(AGAIN), member(b"text" + MORE, level=0) + MORE), 7),
        ((member(FIRST)[:-30] + member(b"text" + MORE, level=0) + MORE,), None),
    ],
    ids=[
        "as it should be",
        "a line end more",
        "line ends more",
        "a megabyte of line ends",
        "line ends before",
        "the first bytes gone",
        "the first bytes zero",
        "a plain record behind",
        "a plain record before",
        "gzip within gzip",
        "gzip within gzip, among others",
        "gzip within gzip, behind damage",
    ],
)
def test_original_bytes_are_restored(
    files: tuple[bytes, ...], revisits: int | None, tmp_path: Path
) -> None:
    steps = files_chain(tmp_path, list(files))
    assert list(map(content, steps.back)) == list(map(content, files))
    written = content(b"".join(steps.after)).count(b"WARC-Type: revisit")
    assert revisits is None or written == revisits
    # Every record that is read here is compressed, and so is what it becomes.
    assert b"WARC-Type: revisit" not in b"".join(steps.after)


@pytest.mark.parametrize("more", [b"\r\n", b"\n" * 5000], ids=["one", "many"])
def test_validate_does_not_see_missing_line_ends(more: bytes, tmp_path: Path) -> None:
    """As if a writer had passed them over: the revisit was made of a record without them."""
    [after] = files_chain(tmp_path / "sound", [member(FIRST) + member(AGAIN)]).after
    for name, data in {"before": member(FIRST) + member(AGAIN + more), "after": after}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.warc.gz").write_bytes(data)
    assert main(["-q", "validate", str(tmp_path / "before"), str(tmp_path / "after")]) == 1
    assert main(["-q", "validate", str(tmp_path / "after"), str(tmp_path / "before")]) == 1
