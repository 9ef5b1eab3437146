"""Whatever digest a crawler's revisit declares, and however it refers, its target stays full."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from judge import pieces
from warc_sets import PAGE, Rec, member

from pinakes.cli import main

EARLIER = Rec(uri="http://example.org/elsewhere", date="2020-01-01T00:00:00Z", declared=None)
TARGET = Rec(uri="http://example.org/page", date="2020-02-02T00:00:00Z", declared=None)
OTHERS = [
    replace(EARLIER, uri=f"http://example.org/{n}", date="2020-03-03T00:00:00Z") for n in range(3)
]
PROFILE = b"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
REFERS = {
    "by id": (b"WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-%012d>" % 2,),
    "by URI and date": (
        b"WARC-Refers-To-Target-URI: http://example.org/page",
        b"WARC-Refers-To-Date: 2020-02-02T00:00:00Z",
    ),
    "by URI, a second off": (
        b"WARC-Refers-To-Target-URI: http://example.org/page",
        b"WARC-Refers-To-Date: 2020-02-02T00:00:01Z",
    ),
    "by nothing": (),
}
ALGORITHMS = ("sha1", "sha256", "sha512", "md5")
# Each two of the three together; all three in `make test-large`.
WAYS = [
    pytest.param(
        *(computed, refers, declared), marks=() if (n + m + k) % 4 == 0 else pytest.mark.large
    )
    for (n, computed), (m, refers), (k, declared) in product(
        enumerate(ALGORITHMS), enumerate(REFERS), enumerate((*ALGORITHMS, None))
    )
]


def digest_of(algorithm: str | None) -> tuple[bytes, ...]:
    if algorithm is None:
        return ()
    found = hashlib.new(algorithm, PAGE).hexdigest()
    return (f"WARC-Payload-Digest: {algorithm}:{found}".encode(),)


def write_crawl(folder: Path, refers: str, declared: str | None) -> Path:
    revisit = replace(TARGET, type="revisit", date="2020-04-04T00:00:00Z", block_digest=False)
    fields = (PROFILE, *REFERS[refers], *digest_of(declared))
    crawl = [EARLIER, TARGET, *OTHERS, replace(revisit, fields=fields)]
    path = folder / "before" / "a.warc.gz"
    path.parent.mkdir()
    path.write_bytes(b"".join(member(rec.raw(number)) for number, rec in enumerate(crawl, 1)))
    return path


def check_target(path: Path) -> None:
    """It is a full record, while each other copy became a revisit."""
    now = [record for _, record in pieces(path.read_bytes())]
    assert now[1] == TARGET.raw(2)
    assert sum(b"WARC-Type: revisit" in record for record in now) == len(OTHERS) + 1


@pytest.mark.parametrize(("computed", "refers", "declared"), WAYS)
def test_a_target_stays_full(
    computed: str, refers: str, declared: str | None, tmp_path: Path
) -> None:
    path = write_crawl(tmp_path, refers, declared)
    manifest, decided, after = (str(tmp_path / name) for name in ("m", "d", "after"))
    assert main(["-q", "manifest", "--digest", computed, str(path), "-o", manifest]) == 0
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) == 0
    refs = ["refs", str(path), "--manifest", decided, "-o", after, "--min-saving", "none"]
    assert main(["-q", *refs]) == 0
    check_target(tmp_path / "after" / path.name)
    assert main(["-q", "validate", str(path.parent), after]) == 0


@pytest.mark.parametrize("refers", ["by URI and date", "by URI, a second off"])
@pytest.mark.parametrize("declared", ["sha256", "sha512", "md5"])
@pytest.mark.parametrize("by_target", [None, "md5"])
@pytest.mark.parametrize("by_later", ["sha256", "md5"])
def test_another_capture_that_declares_the_digest_stays_full(
    refers: str, declared: str, by_target: str | None, by_later: str, tmp_path: Path
) -> None:
    """A tool may take it for the target, where the one at the second declares another digest."""
    path = write_crawl(tmp_path, refers, declared)
    target = replace(TARGET, fields=digest_of(by_target))
    later = replace(TARGET, date="2020-03-01T00:00:00Z", fields=digest_of(by_later))
    first, _, *others, revisit = [record for _, record in pieces(path.read_bytes())]
    crawl = [first, target.raw(2), later.raw(9), *others, revisit]
    path.write_bytes(b"".join(map(member, crawl)))
    manifest, decided, after = (str(tmp_path / name) for name in ("m", "d", "after"))
    assert main(["-q", "manifest", str(path), "-o", manifest]) == 0
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) == 0
    refs = ["refs", str(path), "--manifest", decided, "-o", after, "--min-saving", "none"]
    assert main(["-q", *refs]) == 0
    assert main(["-q", "validate", str(path.parent), after]) == 0


@pytest.mark.parametrize("later", [False, True], ids=["earlier", "later"])
@pytest.mark.parametrize("by_target", ["sha256", "md5"])
@pytest.mark.parametrize("in_store", [False, True], ids=["files", "store"])
def test_target_with_another_digest_stays_full(
    in_store: bool, by_target: str, later: bool, tmp_path: Path
) -> None:
    """It has the body; but who goes by declared digests takes another capture, which stays."""
    date = "2020-01-15T00:00:00Z" if later else "2020-04-04T00:00:00Z"
    fields = (PROFILE, *REFERS["by URI and date"], *digest_of("sha1"))
    revisit = Rec(
        uri="http://example.org/other", date=date, type="revisit", declared=None,
        block_digest=False, fields=fields,
    )  # fmt: skip
    target = replace(TARGET, fields=digest_of(by_target))
    meant = replace(TARGET, date="2020-03-01T00:00:00Z", fields=digest_of("sha1"))
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    path = before / "a.warc.gz"
    crawl = [target, meant, *OTHERS, revisit]
    path.write_bytes(b"".join(member(rec.raw(number)) for number, rec in enumerate(crawl)))
    if in_store:
        store = ("--store", str(tmp_path / "store"))
        assert main(["-q", "init", *store]) == 0
        assert main(["-q", "ingest", *store, "--crawl", "c", str(path)]) == 0
        spared = ("--min-saving-bytes=none", "--min-file-saving=0")
        assert main(["-q", "dedupe", *store, "--all", *spared]) == 0
        after = tmp_path / "store" / "archive" / "c" / "g2"
    else:
        manifest, decided = str(tmp_path / "m"), str(tmp_path / "d")
        assert main(["-q", "manifest", str(path), "-o", manifest]) == 0
        assert main(["-q", "resolve", manifest, "--process", "-o", decided]) == 0
        refs = ["refs", str(path), "--manifest", decided, "-o", str(after)]
        assert main(["-q", *refs, "--min-saving", "none"]) == 0
    assert b"WARC-Type: revisit" in list(pieces((after / path.name).read_bytes()))[2][1]
    assert main(["-q", "validate", str(before), str(after)]) == 0


@pytest.mark.parametrize(("refers", "declared"), [*product(REFERS, (*ALGORITHMS, None))])
def test_a_target_stays_full_in_a_store(refers: str, declared: str | None, tmp_path: Path) -> None:
    path = write_crawl(tmp_path, refers, declared)
    store = ("--store", str(tmp_path / "store"))
    assert main(["-q", "init", *store]) == 0
    assert main(["-q", "ingest", *store, "--crawl", "c", str(path)]) == 0
    dedupe = ["-q", "dedupe", *store, "--all", "--min-saving-bytes=none", "--min-file-saving=0"]
    assert main(dedupe) == 0
    check_target(tmp_path / "store" / "archive" / "c" / "g2" / path.name)
    assert main(["-q", "fsck", "--full", *store]) == 0
