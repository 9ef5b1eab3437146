"""The reader beside the manifest of the shared data, warcio and FastWARC."""

from __future__ import annotations

import bz2
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import evidence
import pytest
import reading_page
from debatable import CASES, Case, by_fastwarc, by_warcio, ours
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from invariants import check_items, check_source, facts, read_slowly
from warcio.archiveiterator import ArchiveIterator

from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

# One block of 256 MiB out of 2 KB: read once, not ten times.
BOMB = "bench.warc.bz2"


def test_as_the_manifest_says_where_readers_agree(shared_data: Path) -> None:
    compared = 0
    used: Counter[str] = Counter()
    surprises = []
    for line in filter(evidence.is_agreed, evidence.manifest_lines(shared_data)):
        compared += 1
        for difference in evidence.differences(shared_data, line):
            name = evidence.exempted(difference)
            used[name] += 1
            if not name:
                surprises.append((line["file"], *difference[2:]))
    assert surprises == []
    assert compared > 100
    assert set(used) == {exemption.name for exemption in evidence.EXEMPTIONS}


@pytest.mark.slow
def test_every_archive_holds_the_invariants(shared_data: Path) -> None:
    """Tiling, both roads, reading again by place: on every file, the odd ones too."""
    for line in evidence.manifest_lines(shared_data):
        with open_source(shared_data / "archives" / line["file"]) as source:
            if line["file"].endswith(BOMB):
                check_items_lightly(source)
            elif source.size < 1 << 20:
                check_source(source)
            else:
                items = list(iter_records(source))
                check_items(items, source)
                assert list(map(facts, items)) == list(map(facts, read_slowly(source)))
            source.check_unchanged()


def check_items_lightly(source: Source) -> None:
    items = list(iter_records(source))
    assert [item.ordinal for item in items if isinstance(item, Record)] == list(range(23))
    assert {f.code for item in items for f in item.findings} == {"member"}


Block = tuple[str, str, int]


def blocks_by_us(path: Path) -> list[Block]:
    """(type, SHA-1 of the block, its size) of every record."""
    with open_source(path) as source:
        return [
            (item.type or "none", item.block_digest().hex, item.block_size)
            for item in iter_records(source)
            if isinstance(item, Record)
        ]


def _open(path: Path) -> BinaryIO:
    """bzip2 is nothing that these two know."""
    return cast("BinaryIO", bz2.open(path)) if path.suffix == ".bz2" else path.open("rb")


def blocks_by_warcio(path: Path) -> Iterator[Block]:
    with _open(path) as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            block = record.raw_stream.read()
            yield (record.rec_type or "none").lower(), hashlib.sha1(block).hexdigest(), len(block)


def blocks_by_fastwarc(path: Path) -> Iterator[Block]:
    with _open(path) as file:
        for record in FastArchiveIterator(file, parse_http=False):
            block = record.reader.read()
            # It takes a header of LF lines for one field.
            kind = record.headers.get("WARC-Type", "").partition("\n")[0].lower() or "none"
            yield kind, hashlib.sha1(block).hexdigest(), len(block)


def test_record_by_record_with_warcio(shared_data: Path) -> None:
    compared = 0
    for line in filter(evidence.is_agreed, evidence.manifest_lines(shared_data)):
        path = shared_data / "archives" / line["file"]
        if line["kind"] == "arc" or line["file"].endswith(BOMB):
            continue  # types of ARC differ (see the exemptions); their blocks are in the manifest
        theirs = list(blocks_by_warcio(path))
        assert blocks_by_us(path) == theirs, line["file"]
        compared += len(theirs)
    assert compared > 3000


def test_record_by_record_with_fastwarc(shared_data: Path) -> None:
    compared = 0
    for line in evidence.manifest_lines(shared_data):
        if line["readers_agree"] is not True or line["file"].endswith(BOMB):
            continue
        path = shared_data / "archives" / line["file"]
        theirs = list(blocks_by_fastwarc(path))
        assert blocks_by_us(path) == theirs, line["file"]
        compared += len(theirs)
    assert compared > 3000


@pytest.mark.slow
def test_what_others_read_of_odd_files_we_read_too(shared_data: Path) -> None:
    """Every file that is not refused has at least the records that a reader got out of it."""
    for line in evidence.manifest_lines(shared_data):
        odd = reading_page.read_odd(shared_data, line)
        if line["container"] == "lz4" or "diagnosis" in line["file"]:
            assert odd.stretches
            continue
        # `jwarc validate` prints more lines than records where records are not closed.
        for reader in evidence.READERS[:2]:
            result = (line["readers"] or {}).get(reader) or {}
            count = result.get("records", result.get("validate_records")) or 0
            assert odd.records >= count, (line["file"], reader)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_debatable(case: Case) -> None:
    """Where one of the others reads as we do, it is said so; and no reader crashes."""
    stored, bare = ours(case)
    readings = {by_warcio(case), by_fastwarc(case), case.jwarc}
    assert stored in readings or bare in readings


@pytest.mark.slow
def test_the_page_says_what_is(shared_data: Path, repository: Path) -> None:
    page = (repository / "docs" / "reading.md").read_text(encoding="utf-8")
    for name, table in reading_page.tables(shared_data).items():
        found = reading_page.part_of(page, name)
        assert found == table, "run: python tests/support/reading_page.py"
    files = reading_page.ODD_FILES.read_text(encoding="utf-8")
    assert files == reading_page.odd_files(shared_data), "run: python tests/support/reading_page.py"
