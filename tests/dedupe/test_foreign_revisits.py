"""Revisits by crawlers, however they name their originals: judged by zlib and warcio."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import pytest
from judge import content
from landed_revisits import records_of
from named_originals import BODY, HEAD, NOT_PROVEN, OTHER, PROVEN, Pair, raw, sha1
from store_chain import Answer, call
from warcio.archiveiterator import ArchiveIterator

from pinakes.cli import main

PAIRS = {**PROVEN, **NOT_PROVEN}
CASES = {
    "R1": ("R1-orig.warc.gz", "R1-rev.warc.gz"),
    "R2": ("R2-orig.warc.gz", "R2-rev-idonly.warc.gz"),
    "BL": (
        "BL-20140325121225068-00000-32090~opera~8443.warc.gz",
        "BL-20140325122341434-00000-32090~opera~8443.warc.gz",
    ),
}


@pytest.fixture
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the original in one file, and the revisit in another."""
    pair: Pair = PAIRS[request.param]
    folder = tmp_path / "given"
    folder.mkdir()
    for name, data in zip(("original", "revisit"), pair.files(), strict=True):
        (folder / f"{name}.warc.gz").write_bytes(data)
    return folder


def _restore(folder: Path, *options: object) -> Answer:
    revisit = folder / "revisit.warc.gz"
    return call("restore", revisit, "-o", folder.parent / "out", "--dir", folder, *options)


@pytest.mark.parametrize("written", PAIRS, indirect=True)
def test_they_stay_unless_asked_for(written: Path) -> None:
    assert _restore(written).exit_code == 0
    given, new = written / "revisit.warc.gz", written.parent / "out" / "revisit.warc.gz"
    assert content(new.read_bytes()) == content(given.read_bytes())


@pytest.mark.parametrize(("written", "name"), [(n, n) for n in PROVEN], indirect=["written"])
def test_where_bytes_prove_it_they_become_full(written: Path, name: str) -> None:
    pair = PROVEN[name]
    done = _restore(written, "--foreign")
    assert done.exit_code == 0, done
    [(old, before)] = records_of(written / "revisit.warc.gz").items()
    [(new, record)] = records_of(written.parent / "out" / "revisit.warc.gz").items()
    assert old == new
    head, _, block = record.partition(b"\r\n\r\n")
    assert block == pair.head + pair.body + b"\r\n\r\n"
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields[b"WARC-Type"] == b"response"
    assert not {b"WARC-Profile", b"WARC-Refers-To"} & fields.keys()
    was = dict(line.split(b": ", 1) for line in before.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:])
    for kept in (b"WARC-Target-URI", b"WARC-Date", b"WARC-Payload-Digest"):
        assert fields.get(kept) == was.get(kept)
    if b"WARC-Block-Digest" in fields:
        digest = base64.b32encode(hashlib.sha1(block[:-4]).digest())
        assert fields[b"WARC-Block-Digest"] == b"sha1:" + digest
    said = re.search(rb"crc32=([0-9a-f]{8})", fields[b"Pinakes-Revisit"])
    assert said is not None
    assert int(said[1], 16) == zlib.crc32(before)
    [seen] = _warcio(record)
    assert (seen.kind, seen.content) == ("response", BODY)


@pytest.mark.parametrize("written", NOT_PROVEN, indirect=True)
def test_where_nothing_proves_it_they_stay_and_are_named(written: Path) -> None:
    done = _restore(written, "--foreign")
    assert done.exit_code == 3, done
    assert "revisit.warc.gz:0: " in done.err
    assert "not written: none of its revisits could be restored" in done.err
    assert not (written.parent / "out" / "revisit.warc.gz").exists()


@pytest.mark.parametrize(("written", "name"), [(n, n) for n in PAIRS], indirect=["written"])
def test_references_say_what_they_lead_to(written: Path, name: str) -> None:
    done = call("validate", "--refs", written, "--json")
    outcomes = re.findall(r'"outcome": "([a-z-]+)"', done.out)
    expected = PAIRS[name].outcome
    assert outcomes == ([] if expected == "resolves" else [expected]), done


@pytest.mark.parametrize(("written", "name"), [(n, n) for n in PAIRS], indirect=["written"])
def test_cat_gives_the_body_that_bytes_prove(
    written: Path, name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code = main(["-q", "cat", f"{written / 'revisit.warc.gz'}:0", "--payload"])
    given = capfdbinary.readouterr().out
    # Whose original says the same of itself: what a writer hashed otherwise can still be read.
    may_be_taken = name in PROVEN or name == "no digest" or PAIRS[name].body is OTHER
    assert (code, given) == ((0, PAIRS[name].body) if may_be_taken else (3, b""))


def test_the_latest_earlier_record_of_its_uri_goes_before_others(tmp_path: Path) -> None:
    """All have the digest; heads tell which was taken, for the revisit has none."""
    dates = ["2019-01-01T00:00:00Z", "2020-01-01T12:00:00Z", "2023-01-01T00:00:00Z"]
    heads = [HEAD.replace(b"\r\n\r\n", b"\r\nX-Of: %d\r\n\r\n" % number) for number in range(4)]
    records = [
        raw("response", {**sha1(BODY), "WARC-Date": at}, head + BODY)
        for at, head in zip(dates, heads, strict=False)
    ]
    elsewhere = {**sha1(BODY), "WARC-Target-URI": "http://example.org/z"}
    records.append(raw("response", elsewhere, heads[3] + BODY))
    records.append(raw("revisit", sha1(BODY), b""))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(gzip.compress(one, mtime=0) for one in records))
    assert call("restore", path, "-o", tmp_path / "out", "--foreign").exit_code == 0
    restored = content((tmp_path / "out" / "a.warc.gz").read_bytes())
    assert restored.endswith(heads[1] + BODY + b"\r\n\r\n")


def test_with_an_index_other_files_are_not_read_through(tmp_path: Path) -> None:
    original, revisit = PROVEN["digest alone, at another URL"].files()
    (tmp_path / "original.warc.gz").write_bytes(original)
    (tmp_path / "revisit.warc.gz").write_bytes(revisit)
    index = tmp_path / "index.cdxj"
    assert call("cdx", tmp_path / "original.warc.gz", "-o", index).exit_code == 0
    options = ["--cdx", index, "--dir", tmp_path, "--foreign"]
    done = call("restore", tmp_path / "revisit.warc.gz", "-o", tmp_path / "out", *options)
    assert done.exit_code == 0, done
    assert BODY in content((tmp_path / "out" / "revisit.warc.gz").read_bytes())


def test_a_forged_field_of_ours_is_named_and_the_digest_decides(tmp_path: Path) -> None:
    forged = {
        **sha1(BODY),
        "WARC-Refers-To-Target-URI": "http://example.org/x",
        "WARC-Refers-To-Date": "2020-01-01T00:00:01Z",
        "Pinakes-Replaced": "version=1; run=a; crc32=00000000; added=1; 2=WARC-Type:%20response",
    }
    records = [
        raw("response", sha1(BODY), HEAD + BODY),
        raw("response", {**sha1(OTHER), "WARC-Date": "2020-01-01T00:00:02Z"}, HEAD + OTHER),
        raw("revisit", forged, HEAD),
    ]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(gzip.compress(one, mtime=0) for one in records))
    done = call("restore", path, "-o", tmp_path / "out", "--foreign")
    assert done.exit_code == 3
    assert "has another body" in done.err
    restored = content((tmp_path / "out" / "a.warc.gz").read_bytes())
    assert restored.endswith(HEAD + BODY + b"\r\n\r\n")
    assert restored.count(b"WARC-Type: response") == 3


@pytest.mark.parametrize("name", ["digest", "id alone, at another URL", "URI and date"])
def test_filter_takes_their_originals_along(tmp_path: Path, name: str) -> None:
    pair, path, out = PROVEN[name], tmp_path / "a.warc.gz", tmp_path / "out.warc.gz"
    other = raw("response", {**sha1(OTHER), "WARC-Record-ID": "<urn:uuid:1>"}, HEAD + OTHER)
    other = other.replace(b"http://example.org/x", b"http://example.org/z")
    path.write_bytes(b"".join([*pair.files(), gzip.compress(other, mtime=0)]))
    done = call("filter", path, "-o", out, "--type", "revisit", "--originals")
    assert done.exit_code == 0, done
    assert content(out.read_bytes()) == pair.original + pair.revisit


def test_filter_names_what_has_no_original(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(NOT_PROVEN["names nothing"].files()[1])
    done = call("filter", path, "-o", tmp_path / "out.warc.gz", "--originals")
    assert done.exit_code == 3
    assert "a revisit that names none" in done.err


@pytest.mark.parametrize("case", CASES)
def test_real_ones_become_full(case: str, shared_data: Path, tmp_path: Path) -> None:
    paths = [shared_data / "cases" / name for name in CASES[case]]
    done = call("validate", "--refs", *paths)
    assert done.exit_code == 0, done
    done = call("restore", *paths, "-o", tmp_path, "--foreign")
    assert done.exit_code == 0, done
    before, after = records_of(paths[1]), records_of(tmp_path / paths[1].name)
    made = 0
    for name, record in before.items():
        if b"\r\nWARC-Type: revisit\r\n" not in record:
            assert after[name] == record
            continue
        made += 1
        [full] = _warcio(after[name])
        assert full.kind == "response"
        stored = after[name].split(b"\r\n\r\n", 2)[2][:-4]
        assert b"sha1:" + base64.b32encode(hashlib.sha1(stored).digest()) in record
    assert made == {"R1": 1, "R2": 1, "BL": 55}[case]


class _Seen(NamedTuple):
    """Type and body of a record, without chunks and coding."""

    kind: str
    content: bytes


def _warcio(data: bytes) -> list[_Seen]:
    return [
        _Seen(record.rec_type, record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(data))
    ]


def test_the_one_of_heritrix_finds_no_original_alone(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "cases" / "20130729-heritrix-revisit-with-http-headers.warc.gz"
    assert "dangling" in call("validate", "--refs", path).out
    assert not re.search(r"[ \t]$", call("validate", "--refs", path).out, re.MULTILINE)
    assert "was not before" not in call("validate", "--refs", path).out
    done = call("restore", path, "-o", tmp_path, "--foreign")
    assert done.exit_code == 3
    assert not (tmp_path / path.name).exists()
