"""Servers that send whole files: what is kept of them, and that it is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from range_server import Handler, RangeServer, serving

from pinakes.archive_store.located import open_place
from pinakes.errors import InputRefused
from pinakes.warc.source import Source

FILES = {f"{number}.warc": b"%d" % number * 50_000 for number in range(6)}


@pytest.fixture
def server() -> Iterator[RangeServer]:
    def ignore(number: int, handler: Handler) -> bool:
        handler.answer(200, FILES[handler.path.lstrip("/")])
        return True

    with serving(FILES) as server:
        server.behave = ignore
        yield server


@pytest.fixture
def sources(server: RangeServer) -> Iterator[list[Source]]:
    """All files, open; each was fetched."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(open_place(f"{server.url}/{name}", window_bytes=100))
            for name in FILES
        ]


def kept() -> int:
    """How many temporary files this process has open."""
    targets = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return sum(target.endswith(" (deleted)") for target in targets)


def test_four_files_are_kept_and_others_fetched_again(
    server: RangeServer, sources: list[Source]
) -> None:
    before = kept()
    assert len(server.requests) == len(FILES)
    for turn in range(2):
        for number in (2, 3, 4, 5):
            assert bytes(sources[number].view(turn * 20_000, 3)) == b"%d" % number * 3
    assert len(server.requests) == len(FILES)
    assert bytes(sources[0].view(40_000, 3)) == b"000"
    assert bytes(sources[0].view(0, 3)) == b"000"
    assert len(server.requests) == len(FILES) + 1
    assert bytes(sources[5].view(40_000, 3)) == b"555"
    assert len(server.requests) == len(FILES) + 1
    assert kept() == before


def test_temporary_files_are_closed(server: RangeServer) -> None:
    before = kept()
    for name in FILES:
        with open_place(f"{server.url}/{name}"):
            assert kept() == before + 1
    assert kept() == before


def test_a_file_that_changed_when_it_is_fetched_again_is_refused(
    server: RangeServer, sources: list[Source]
) -> None:
    server.etag = '"another"'
    assert bytes(sources[5].view(0, 3)) == b"555"
    with pytest.raises(InputRefused, match="file changed on the server"):
        sources[0].view(0, 3)


def test_it_is_said_once_for_each_server(
    server: RangeServer, sources: list[Source], caplog: pytest.LogCaptureFixture
) -> None:
    said = [record.getMessage() for record in caplog.get_records("setup")]
    assert len(said) == 1
    assert said[0].startswith(f"{server.url} has no byte ranges and sends files whole")
    sources[0].view(0, 3)
    assert not caplog.messages
