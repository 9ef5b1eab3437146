"""The record that stands where a record was withdrawn."""

from __future__ import annotations

import io

import pytest
from archive_builders import arc, header, records_of, warc
from warcio.archiveiterator import ArchiveIterator

from pinakes.warc.header import Header
from pinakes.warc.tombstone import Inscription, is_tombstone, tombstone_of

WORDS = Inscription("withdraw-1", "2026-11-25T12:00:00Z")
SECRET = b"secret"


def stone_of(record: bytes) -> bytes:
    [old] = records_of(record)
    return tombstone_of(old.header, WORDS) + b"\r\n\r\n"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(warc(SECRET), id="response"),
        pytest.param(warc(SECRET, version="WARC/1.0"), id="1.0"),
        pytest.param(warc(SECRET, line_end=b"\n"), id="line ends without CR"),
        pytest.param(warc(SECRET, record_type="request"), id="request"),
        pytest.param(warc(SECRET, record_type="reqüest; x"), id="odd type"),
        pytest.param(
            warc(SECRET, extra=[("WARC-Payload-Digest", "sha1:secret"), ("X", "a\r\n secret")]),
            id="other lines",
        ),
        pytest.param(
            warc(
                SECRET,
                record_type="revisit",
                extra=[("WARC-Refers-To-Target-URI", "http://secret/"), ("WARC-Truncated", "x")],
            ),
            id="revisit",
        ),
    ],
)
def test_a_tombstone_keeps_id_place_and_nothing_of_the_content(record: bytes) -> None:
    [old] = records_of(record)
    stone = stone_of(record)
    [new] = records_of(stone)
    assert not new.findings
    assert new.type == "metadata"
    kept = (old.record_id, old.target_uri, old.date_text, old.version)
    assert kept == (new.record_id, new.target_uri, new.date_text, new.version)
    assert SECRET not in stone.lower()
    assert is_tombstone(new.header)
    assert not is_tombstone(old.header)
    assert str(new.block_digest()) == new.header.get("WARC-Block-Digest")
    read = next(iter(ArchiveIterator(io.BytesIO(stone))))
    assert read.rec_type == "metadata"
    words = read.content_stream().read()
    assert words.startswith(b"withdrawn: 2026-11-25T12:00:00Z\r\nact: withdraw-1\r\n")


def test_links_to_other_records_stay() -> None:
    links = [("WARC-Concurrent-To", "<urn:a>"), ("WARC-Concurrent-To", "<urn:b>")]
    [new] = records_of(stone_of(warc(extra=[*links, ("WARC-Warcinfo-ID", "<urn:c>")])))
    assert new.header.get_all("WARC-Concurrent-To") == ["<urn:a>", "<urn:b>"]
    assert new.header.get("WARC-Warcinfo-ID") == "<urn:c>"


def test_a_folded_line_stays_whole() -> None:
    old = Header(header([("WARC-Type", "response"), ("WARC-Target-URI", "http://a/\r\n b")]))
    stone = Header(tombstone_of(old, WORDS).partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
    assert stone.outline()[0] == old.outline()[0] == "http://a/ b"


@pytest.mark.parametrize("version", [1, 2])
def test_in_an_arc_file(version: int) -> None:
    described, first, _ = arc(version=version)
    old = records_of(described + first)[1]
    new = records_of(described + tombstone_of(old.header, WORDS) + b"\n")[1]
    assert not new.findings
    assert (new.target_uri, new.date_text) == (old.target_uri, old.date_text)
    assert (new.type, old.type) == ("metadata", "response")
    assert is_tombstone(new.header)
    assert not is_tombstone(old.header)


def test_indexers_that_take_it_for_http_find_no_status() -> None:
    described, first, _ = arc(version=1)
    old = records_of(described + first)[1]
    data = described + tombstone_of(old.header, WORDS) + b"\n"
    _, read = ArchiveIterator(io.BytesIO(data))
    assert read.http_headers.get_statuscode() == "-"


def test_a_capture_in_an_arc_file_with_the_media_type_of_one_is_none() -> None:
    described, first, _ = arc(version=1)
    odd = first.replace(b"text/html", b"application/warc-fields", 1)
    assert not is_tombstone(records_of(described + odd)[1].header)
