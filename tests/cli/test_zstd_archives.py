"""The verbs on `.warc.zst`: all that they say is what they say of the same records in gzip."""

from __future__ import annotations

import json
import random
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from archive_builders import dictionary, dictionary_frame, frame, records_of, skippable
from judge import content
from serve_process import serve_process
from warc_sets import PAGE, Rec, member, revisit

from pinakes.cli import main
from pinakes.warc.revisit import is_ours

BODY = PAGE + random.Random(1).randbytes(1500).hex().encode()
FIRST = Rec(uri="http://example.org/1", body=BODY)
LATER = "2021-01-01T00:00:00Z"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
RECORDS = [
    FIRST.raw(0),
    Rec(uri="http://example.org/2", body=PAGE + b"<p>two", declared="sha256").raw(1),
    Rec(uri="http://example.org/3", date=LATER, body=BODY).raw(2),
    revisit(FIRST, of_number=0, profile=IDENTICAL, date=LATER).raw(3),
]
KNOWN = dictionary()
FILES = {
    "plain": b"".join(map(frame, RECORDS)),
    "dictionary": dictionary_frame(KNOWN) + b"".join(frame(r, dictionary=KNOWN) for r in RECORDS),
    "compressed dictionary": dictionary_frame(KNOWN, compressed=True)
    + b"".join(skippable(b"") + frame(r, dictionary=KNOWN) for r in RECORDS),
    "several frames a record": b"".join(frame(r[:300]) + frame(r[300:]) for r in RECORDS),
}
files = pytest.mark.parametrize("data", FILES.values(), ids=FILES)
Said = Callable[..., str]


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    def call(*words: object, code: int = 0) -> str:
        capfd.readouterr()
        assert main([str(word) for word in words]) == code, capfd.readouterr().err
        return capfd.readouterr().out

    return call


def both(folder: Path, data: bytes) -> tuple[Path, Path]:
    """The same records in gzip and in Zstandard, each alone in a folder."""
    paths = folder / "gzip" / "a.warc.gz", folder / "zstd" / "a.warc.zst"
    for path, whole in zip(paths, (b"".join(map(member, RECORDS)), data), strict=True):
        path.parent.mkdir()
        path.write_bytes(whole)
    return paths


PLACES = {
    "manifest": r"(?m)^FILE \d+ \d+",
    "manifest --records": r"(?m)^FILE",
    "cdx": r'"length": "\d+", "offset": "\d+", "filename": "FILE"',
    "check": r"FILE:\d+",
    "ls": r"FILE:\d+",
    "--json ls": r'"place": "FILE:\d+", "file": "FILE", "offset": \d+, "length": \d+',
}
"""What a verb says of the place of a record."""


@files
@pytest.mark.parametrize("verb", PLACES)
def test_what_is_printed_of_a_file(data: bytes, verb: str, tmp_path: Path, said: Said) -> None:
    texts = []
    for path in both(tmp_path, data):
        text = said(*verb.split(), path, code=verb == "check")
        text = text.replace(str(path), "FILE").replace(path.name, "FILE")
        assert len(re.findall(PLACES[verb], text)) >= 3
        texts.append(re.sub(PLACES[verb], "PLACE", text))
    assert texts[0] == texts[1]


@files
def test_each_record_is_found_by_its_offset(data: bytes, tmp_path: Path, said: Said) -> None:
    _, path = both(tmp_path, data)
    listed = [json.loads(line) for line in said("--json", "ls", path).splitlines()]
    assert len(listed) == len(RECORDS)
    for entry, record in zip(listed, RECORDS, strict=True):
        assert said("cat", f"{path}:{entry['offset']}").encode() == record


def test_landed_and_served(tmp_path: Path, said: Said) -> None:
    """Captures, their pages and the records of a collection, by the index of the store."""
    stored = {"gzip": b"".join(map(member, RECORDS)), **FILES}
    store = ("--store", tmp_path / "store")
    said("-q", "init", *store)
    rows = {}
    for number, (name, data) in enumerate(stored.items()):
        path = tmp_path / ("a.warc.gz" if name == "gzip" else "a.warc.zst")
        path.write_bytes(data)
        of = ("--crawl", f"crawl-{number}", "--collection", f"news-{number}")
        said("-q", "ingest", path, *of, *store)
        lines = said("cdx", f"news-{number}", *store).splitlines()
        keys = [line.partition(" {")[0] for line in lines]
        rows[name] = keys, [json.loads("{" + line.partition(" {")[2]) for line in lines]
    assert said("-q", "fsck", "--full", *store) == ""
    with serve_process(tmp_path / "store") as (_, addresses):
        root = next(iter(addresses.values())).rstrip("/")
        for name, (_, captures) in rows.items():
            for row in captures:
                start, length = int(row["offset"]), int(row["length"])
                given = fetched(f"{root}/warc/{quote(row['filename'])}", row)
                assert given == stored[name][start : start + length], name
    told = {
        name: (keys, [(row["url"], row["digest"], row["mime"], row.keys()) for row in captures])
        for name, (keys, captures) in rows.items()
    }
    assert told == dict.fromkeys(stored, told["gzip"])
    assert len(told["gzip"][0]) == len(RECORDS)


def fetched(url: str, row: dict[str, str]) -> bytes:
    start, length = int(row["offset"]), int(row["length"])
    asked = urllib.request.Request(url, headers={"Range": f"bytes={start}-{start + length - 1}"})
    with urllib.request.urlopen(asked) as answer:
        content: bytes = answer.read()
        return content


@files
def test_deduplicated_and_restored(data: bytes, tmp_path: Path, said: Said) -> None:
    _, path = both(tmp_path, data)
    store, out = tmp_path / "store", tmp_path / "out"
    said("-q", "init", "--store", store)
    land = ("-q", "ingest", path, "--crawl", "one", "--collection", "news")
    said(*land, "--store", store)
    said("-q", "dedupe", "one", "--store", store)
    assert said("-q", "fsck", "--full", "--store", store) == ""
    stored = store / "archive" / "one" / "g2" / path.name
    new, old = (records_of(each) for each in (stored.read_bytes(), data))
    assert [r.type for r in new] == ["response", "response", "revisit", "revisit"]
    assert is_ours(new[2].header)
    assert stored.read_bytes()[: new[2].offset] == data[: old[2].offset]
    said("-q", "restore", stored, "-o", out)
    assert content((out / path.name).read_bytes()) == b"".join(RECORDS)


@files
def test_withdrawn_it_is_gone(data: bytes, tmp_path: Path, said: Said) -> None:
    _, path = both(tmp_path, data)
    store = tmp_path / "store"
    said("-q", "init", "--store", store)
    land = ("-q", "ingest", path, "--crawl", "one", "--collection", "news")
    said(*land, "--store", store)
    said("-q", "withdraw", "http://example.org/2", "--reason", "asked", "--store", store)
    assert "example.org/2" not in said("cdx", "news", "--store", store)
    assert said("-q", "fsck", "--full", "--store", store) == ""
    (stored,) = (store / "archive").rglob("*.zst")
    assert b"<p>two" in content(data)
    assert b"<p>two" not in content(stored.read_bytes())


def test_into_a_file_whose_dictionary_has_no_id_nothing_is_written(
    tmp_path: Path, said: Said
) -> None:
    """A record of it is hidden at once, and the file is named."""
    path = tmp_path / "a.warc.zst"
    raw_content = dictionary_frame(b"raw content that nothing refers to")
    path.write_bytes(raw_content + b"".join(map(frame, RECORDS)))
    store = tmp_path / "store"
    said("-q", "init", "--store", store)
    land = ("-q", "ingest", path, "--crawl", "one", "--collection", "news")
    said(*land, "--store", store)
    words = ("withdraw", "http://example.org/2", "--reason", "asked", "--store", store)
    assert main(list(map(str, words))) == 3
    assert "example.org/2" not in said("cdx", "news", "--store", store, code=3)
    assert "unfinished-act" in said("fsck", "--store", store, code=1)
    (stored,) = (store / "archive").rglob("*.zst")
    assert stored.read_bytes() == path.read_bytes()


@files
def test_files_are_compared_by_validate(data: bytes, tmp_path: Path, said: Said) -> None:
    _, path = both(tmp_path, data)
    after = tmp_path / "after"
    after.mkdir()
    (after / path.name).write_bytes(data)
    said("validate", path.parent, after)
    last = records_of(data)[-1]
    (after / path.name).write_bytes(data[: last.offset])
    said("validate", path.parent, after, code=1)
