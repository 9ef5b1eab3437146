"""Believing digests gives what comparing bytes gives, and reads what digests disagree about."""

from __future__ import annotations

import gzip
import json
from base64 import b32encode
from datetime import datetime, timezone
from hashlib import sha1
from pathlib import Path

import pytest
from archive_builders import HTTP, warc
from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import TIGHT, Bodies, collections, fit

from pinakes.catalog.requests import iter_rows
from pinakes.cli import main
from pinakes.dedupe.decide.counting import ResolveCount
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.decide.trust import Trust, second_digest
from pinakes.dedupe.run.survey import stored_line
from pinakes.index.manifest import ManifestLine, place_of
from pinakes.warc.digest import parse_digest
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

Collection = tuple[list[ManifestLine], Bodies]


def sha1_of(body: bytes) -> str:
    return f"sha1:{b32encode(sha1(body).digest()).decode()}"


def resolved(
    lines: list[ManifestLine], bodies: Bodies, trust: Trust | None
) -> tuple[list[ManifestLine], ResolveCount]:
    count = ResolveCount()
    done = list(resolve_lines(lines, bodies, count=count, trust=trust, space=TIGHT))
    return sorted(done, key=place_of), count


def with_second(lines: list[ManifestLine], bodies: Bodies) -> list[ManifestLine]:
    """The digest said to be strong, and the SHA-1 of each body beside it."""
    return [
        line._replace(
            digest=line.digest.replace("md5:", "sha256:"),
            also=sha1_of(bodies.by_place[place_of(line)]),
        )
        for line in lines
    ]


@given(collections(), st.sampled_from((0.0, 0.5, 1.0)))
def test_where_digests_disagree_bodies_decide(collection: Collection, sample: float) -> None:
    # Of the strong digest there are two here, and five bodies: worse than any real one.
    lines, bodies = collection
    lines = with_second(lines, bodies)
    by_bytes, bytes_count = resolved(lines, bodies, None)
    by_digests, count = resolved(lines, bodies, Trust(sample=sample))
    assert by_digests == by_bytes
    assert count.collisions == bytes_count.collisions
    assert count.as_json() | {"compared_bytes": 0, "believed": 0} == bytes_count.as_json() | {
        "compared_bytes": 0
    }
    if sample == 1.0:
        assert (count.believed, count.compared_bytes) == (0, bytes_count.compared_bytes)


@given(collections(collisions=False), st.data())
def test_declared_digests_alone_decide_nothing(collection: Collection, data: st.DataObject) -> None:
    lines, bodies = collection
    said = st.sampled_from((None, sha1_of(b"one"), sha1_of(b"other"), "sha256:00"))
    lines = [line._replace(also=data.draw(said)) for line in lines]
    by_bytes, _ = resolved(lines, bodies, None)
    by_digests, count = resolved(lines, bodies, Trust(sample=0.0))
    assert by_digests == by_bytes
    assert count.collisions == []


@given(collections(collisions=False))
def test_equal_bodies_under_two_strong_digests_are_no_collision(collection: Collection) -> None:
    lines, bodies = collection
    lines = [
        line._replace(digest=f"sha256:{number:064x}")
        for number, line in enumerate(with_second(lines, bodies))
    ]
    _, count = resolved(lines, bodies, Trust(sample=0.0))
    assert count.collisions == []


@given(collections(collisions=False))
def test_nothing_is_read_where_digests_agree(collection: Collection) -> None:
    lines, bodies = collection
    lines = [
        line._replace(size=len(bodies.by_place[place_of(line)]))
        for line in with_second(lines, bodies)
    ]
    done, count = resolved(lines, bodies, Trust(sample=0.0))
    assert bodies.read == []
    contents = {(line.digest, line.hash_extension) for line in filter(fit, done)}
    assert count.believed == sum(map(fit, lines)) - len(contents)


@pytest.mark.parametrize("algorithm", ["md5:", "sha1:"])
@given(collections())
def test_weak_digests_are_never_believed(algorithm: str, collection: Collection) -> None:
    lines, bodies = collection
    lines = [line._replace(digest=line.digest.replace("md5:", algorithm)) for line in lines]
    by_bytes, bytes_count = resolved(lines, bodies, None)
    by_digests, count = resolved(lines, bodies, Trust(sample=0.0))
    assert by_digests == by_bytes
    assert count == bytes_count


def test_sample_depends_on_the_seed() -> None:
    digests = [f"sha256:{number:064x}" for number in range(2000)]

    def taken(seed: str) -> list[str]:
        return [digest for digest in digests if not Trust(sample=0.1, seed=seed).believes(digest)]

    assert taken("a") == taken("a") != taken("b")
    assert 100 < len(taken("a")) < 300


@pytest.fixture
def pdfs(shared_data: Path, tmp_path: Path) -> Path:
    """Two PDFs of one SHA-1, which their records declare, the first of them twice."""
    members = []
    for number, name in enumerate(("sha1-1.pdf", "sha1-2.pdf", "sha1-1.pdf")):
        body = (shared_data / "collisions" / name).read_bytes()
        declared = [("WARC-Payload-Digest", sha1_of(body))]
        members.append(gzip.compress(warc(HTTP + body, number=number, extra=declared)))
    archive = tmp_path / "crawl" / "a.warc.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"".join(members))
    return archive


@pytest.mark.parametrize("compare", ["sha256", "bytes"])
@pytest.mark.parametrize("digest", ["sha1", "sha256"])
def test_real_collisions_are_reported(
    pdfs: Path, tmp_path: Path, compare: str, digest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, stats = tmp_path / "manifest", tmp_path / "stats"
    assert main(["manifest", "--digest", digest, str(pdfs), "-o", str(manifest)]) == 0
    words = ["resolve", str(manifest), "--compare", compare, "-o", str(tmp_path / "out")]
    assert main([*words, "--stats", str(stats), "--sample-bytes", "0"]) == 0
    told = json.loads(stats.read_text())
    [collision] = told["collisions"]
    assert collision["digest"].startswith("sha1:")
    assert len(collision["captures"]) == 2
    assert (told["records"], told["contents"]) == (3, 2)
    assert "warning: collision: sha1:" in capsys.readouterr().err


@pytest.mark.parametrize("compare", ["sha256", "bytes"])
def test_collisions_in_the_store_are_reported(
    pdfs: Path, tmp_path: Path, compare: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--config", str(tmp_path / "pinakes.toml")]
    (tmp_path / "pinakes.toml").write_text(f'store = "{tmp_path}/store"\n')
    assert main([*store, "init"]) == 0
    assert main([*store, "-q", "ingest", str(pdfs), "--crawl", "spring"]) == 0
    capsys.readouterr()
    words = ["--json", "dedupe", "spring", "--compare", compare, "--sample-bytes", "0"]
    assert main([*store, *words]) == 0
    report = json.loads(capsys.readouterr().out)
    [collision] = report["decisions"]["resolve"]["collisions"]
    assert collision["digest"].startswith("sha1:")
    assert report["decisions"]["resolve"]["believed"] == (compare == "sha256")
    assert report["revisits"] == 1


@pytest.mark.parametrize("declares", ["", "md5:900150983cd24fb0d6963f7d28e17f72"])
def test_digests_of_a_stored_line(declares: str, tmp_path: Path) -> None:
    """First the stored body's SHA-1, the second digest; last that by which tools know it."""
    framed = b"3\r\nabc\r\n0\r\n\r\n"
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed
    fields = [("WARC-Payload-Digest", declares)] if declares else []
    path = tmp_path / "a.warc"
    path.write_bytes(warc(block, extra=fields))
    with open_source(path) as source:
        records = (item for item in iter_records(source) if isinstance(item, Record))
        now = datetime.now(timezone.utc)
        [row] = iter_rows(records, archive_file="c/a.warc", landed=now)
    line = stored_line(row, "c/a.warc")
    assert line is not None
    assert line.also is not None
    first, *between, last = line.also.split(",")
    assert first == second_digest(line) == sha1_of(framed)
    assert sha1_of(b"abc") in between
    assert last == (str(parse_digest(declares)) if declares else first)
