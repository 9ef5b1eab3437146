"""The body of a crawler's revisit is that of its original, if that has the digest it declares."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import named_originals
import pytest
from landed_stores import LandedStore, page, sha1_of
from named_originals import Pair

from pinakes.catalog.captures import Placed, place_captures, scan_captures_of
from pinakes.catalog.payloads import have_one_body, read_body
from pinakes.catalog.revisit_targets import RevisitTargets, captures_named
from pinakes.errors import DigestMismatch, UnresolvedReference
from pinakes.index.urlkey import urlkey

URI, DATE, BODY = "http://example.org/", "2020-01-02T03:04:05Z", b"hello"
REVISIT = "http://example.org/later"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", page(URI, BODY, date=DATE))
    yield made
    made.close()


def body_of_revisit(store: LandedStore, declared: str | None) -> bytes:
    fields = {"WARC-Refers-To-Target-URI": URI, "WARC-Refers-To-Date": DATE}
    if declared is not None:
        fields["WARC-Payload-Digest"] = declared
    record = page(REVISIT, b"", record_type="revisit", extra=fields.items())
    store.land("two", "r.warc.gz", record)
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey(REVISIT)))
    return b"".join(read_body(store.rows, store.archive, placed))


@pytest.mark.parametrize(
    "declared",
    [
        None,
        sha1_of(BODY),
        f"sha256:{hashlib.sha256(BODY).hexdigest()}",
        f"md5:{hashlib.md5(BODY).hexdigest()}",
        f"sha512:{hashlib.sha512(BODY).hexdigest()}",
    ],
    ids=["none", "sha1", "sha256", "md5", "sha512"],
)
def test_it_has_the_body_with_its_digest(store: LandedStore, declared: str | None) -> None:
    assert body_of_revisit(store, declared) == BODY


@pytest.mark.parametrize(
    "declared",
    [
        sha1_of(b"else"),
        f"md5:{hashlib.md5(b'else').hexdigest()}",
        f"sha384:{hashlib.sha384(BODY).hexdigest()}",
    ],
    ids=["sha1", "md5", "not-computed"],
)
def test_no_other_body_is_taken_for_it(store: LandedStore, declared: str) -> None:
    with pytest.raises(UnresolvedReference):
        body_of_revisit(store, declared)


@pytest.mark.parametrize("named", ["2020-01-02T03:04:05.5Z", "2020-01-02T03:04:05.500000Z"])
@pytest.mark.parametrize(
    "declared",
    [None, f"md5:{hashlib.md5(b'later').hexdigest()}", sha1_of(b"later")],
    ids=["none", "md5", "sha1"],
)
def test_of_two_of_a_second_it_has_that_of_its_moment(
    store: LandedStore, declared: str | None, named: str
) -> None:
    """In WARC/1.1, dates have fractions of a second."""
    extra = (("WARC-Payload-Digest", declared),) if declared is not None else ()
    store.land("three", "a.warc.gz", page(URI, b"later", date="2020-01-02T03:04:05.5Z"))
    fields = (("WARC-Refers-To-Target-URI", URI), ("WARC-Refers-To-Date", named), *extra)
    store.land("two", "r.warc.gz", page(REVISIT, b"", record_type="revisit", extra=fields))
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey(REVISIT)))
    assert b"".join(read_body(store.rows, store.archive, placed)) == b"later"
    found = RevisitTargets(store.rows, captures_named(store.rows, [placed.capture])).of(
        placed.capture
    )
    assert [one.facts.date for one in found] == ["2020-01-02T03:04:05.5Z"]


def revisit_among(
    store: LandedStore, named: str, *bodies: tuple[str, bytes], by_id: str | None = None
) -> Placed:
    """A revisit without a digest, of captures of one URI at these moments."""
    for number, (moment, body) in enumerate(bodies):
        store.land(f"c{number}", "a.warc.gz", page(URI, body, date=moment))
    fields = [("WARC-Refers-To-Target-URI", URI), ("WARC-Refers-To-Date", named)]
    for capture in scan_captures_of(store.rows, urlkey(URI)):
        if capture.facts.date == by_id:
            fields += [("WARC-Refers-To", f"<{capture.facts.record_id}>")]
    store.land("two", "r.warc.gz", page(REVISIT, b"", record_type="revisit", extra=fields))
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey(REVISIT)))
    return placed


@pytest.mark.parametrize(
    "named", ["2021-01-02T03:04:05Z", "2021-01-02T03:04:05.7Z", "2021-01-02T03:04:05.900000Z"]
)
def test_where_two_bodies_may_be_meant_none_is_given(store: LandedStore, named: str) -> None:
    """Nor is one taken for the other that differs behind the microsecond."""
    moments = ("2021-01-02T03:04:05.9000001Z", "2021-01-02T03:04:05.9000009Z")
    placed = revisit_among(store, named, *zip(moments, (b"one", b"two"), strict=True))
    with pytest.raises(UnresolvedReference, match="2 records of unequal bodies"):
        list(read_body(store.rows, store.archive, placed))


def test_a_moment_tells_what_no_microsecond_tells(store: LandedStore) -> None:
    moments = ("2021-01-02T03:04:05.9000001Z", "2021-01-02T03:04:05.9000009Z")
    placed = revisit_among(store, moments[1], *zip(moments, (b"one", b"two"), strict=True))
    assert b"".join(read_body(store.rows, store.archive, placed)) == b"two"


def test_a_moment_goes_before_an_id_and_both_may_be_meant(store: LandedStore) -> None:
    moments = ("2021-01-02T03:04:05.1Z", "2021-01-02T03:04:05.2Z")
    placed = revisit_among(
        store, moments[1], *zip(moments, (b"one", b"two"), strict=True), by_id=moments[0]
    )
    assert b"".join(read_body(store.rows, store.archive, placed)) == b"two"
    targets = RevisitTargets(store.rows, captures_named(store.rows, [placed.capture]))
    assert not have_one_body(targets.of(placed.capture))


def test_of_two_of_a_moment_the_id_tells(store: LandedStore) -> None:
    moment = "2021-01-02T03:04:05.2Z"
    store.land("c0", "a.warc.gz", page(URI, b"one", date=moment))
    [first] = [c for c in scan_captures_of(store.rows, urlkey(URI)) if c.facts.date == moment]
    store.land("c1", "a.warc.gz", page(URI, b"two", date="2021-01-02T03:04:05.20Z"))
    fields = [
        ("WARC-Refers-To-Target-URI", URI),
        ("WARC-Refers-To-Date", moment),
        ("WARC-Refers-To", f"<{first.facts.record_id}>"),
    ]
    store.land("two", "r.warc.gz", page(REVISIT, b"", record_type="revisit", extra=fields))
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey(REVISIT)))
    assert b"".join(read_body(store.rows, store.archive, placed)) == b"one"
    targets = RevisitTargets(store.rows, captures_named(store.rows, [placed.capture]))
    assert [one.key for one in targets.of(placed.capture)] == [first.key]


def revisit_in_store(store: LandedStore, pair: Pair) -> Placed:
    """It lands first."""
    original, revisit = pair.files()
    store.land("four", "r.warc.gz", revisit)
    store.land("three", "o.warc.gz", original)
    uris = (named_originals.URI, named_originals.ELSEWHERE)
    captures = [one for uri in uris for one in scan_captures_of(store.rows, urlkey(uri))]
    [placed] = place_captures(store.rows, [c for c in captures if c.facts.type == "revisit"])
    return placed


def body_in_store(store: LandedStore, pair: Pair) -> bytes:
    placed = revisit_in_store(store, pair)
    return b"".join(read_body(store.rows, store.archive, placed))


@pytest.mark.parametrize(
    ("name", "resolves"),
    [
        ("digest", True),
        ("id alone, at another URL", True),
        ("URI and date", True),
        ("digest alone, at another URL", False),
        ("the id of another body", False),
    ],
)
def test_what_a_crawl_requires_is_what_nothing_else_may_be(
    store: LandedStore, name: str, resolves: bool
) -> None:
    """A digest leads to any record that has it: none of them is what a crawl needs."""
    pair = (named_originals.PROVEN | named_originals.NOT_PROVEN)[name]
    placed = revisit_in_store(store, pair)
    targets = RevisitTargets(store.rows, captures_named(store.rows, [placed.capture]))
    assert targets.resolve(placed.capture) is resolves


@pytest.mark.parametrize("name", named_originals.PROVEN)
def test_however_it_is_named_it_is_found(store: LandedStore, name: str) -> None:
    pair = named_originals.PROVEN[name]
    assert body_in_store(store, pair) == pair.body


# Both declare the same digest, as a writer that hashes something else gives all its records: the
# original that landed so has the body of its capture.
_OF_ONE_WRITER = {
    "URI and date of a body that is not the one declared",
    "a digest of its URI whose body is not the one declared",
}


@pytest.mark.parametrize(
    "name", sorted(named_originals.NOT_PROVEN.keys() - {"no digest"} - _OF_ONE_WRITER)
)
def test_what_nothing_proves_is_not_given(store: LandedStore, name: str) -> None:
    with pytest.raises(UnresolvedReference):
        body_in_store(store, named_originals.NOT_PROVEN[name])


def test_another_url_gives_no_rotten_body(store: LandedStore) -> None:
    """Its row still says that it has the digest."""
    pair = named_originals.PROVEN["digest alone, at another URL"]
    body_in_store(store, pair)
    path = store.archive.path_of("three/o.warc.gz")
    rotten = pair.original.replace(named_originals.BODY, named_originals.OTHER)
    path.write_bytes(gzip.compress(rotten, mtime=0))
    [placed] = place_captures(
        store.rows, scan_captures_of(store.rows, urlkey(named_originals.ELSEWHERE))
    )
    with pytest.raises(DigestMismatch, match=r"three/o\.warc\.gz:0: damaged"):
        list(read_body(store.rows, store.archive, placed))
