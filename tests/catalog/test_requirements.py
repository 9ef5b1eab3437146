"""What a crawler's revisit refers to, as commits and requirements count it, and as bodies are read:
a URI and date that it names decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from landed_stores import LandedStore, page, sha1_of
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.catalog.browsertrix_counts import count_as_browsertrix
from pinakes.catalog.captures import place_captures, scan_captures_of
from pinakes.catalog.payloads import read_body
from pinakes.catalog.references import scan_references
from pinakes.catalog.requirements import read_requirements
from pinakes.errors import UnresolvedReference
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl

URI, OTHER = "http://example.org/", "http://example.org/other"
DATE, LATER = "2020-01-02T03:04:05Z", "2020-01-02T03:04:06Z"
BODY, ELSE = b"the body " * 900, b"another body"
DECLARED = [("WARC-Payload-Digest", sha1_of(BODY))]
OF_ELSE = [("WARC-Payload-Digest", sha1_of(ELSE))]
NAMED = [("WARC-Refers-To-Target-URI", URI), ("WARC-Refers-To-Date", DATE)]
THERE = page(URI, BODY, date=DATE, extra=DECLARED)
A_SECOND_LATER = page(URI, BODY, date=LATER, extra=DECLARED)
ANOTHER_BODY = page(URI, ELSE, date=DATE, extra=OF_ELSE)
BY_HTTPS = page("https://example.org/", BODY, date=DATE, extra=DECLARED)
AT_ANOTHER_URL = page(OTHER, BODY, date=DATE, extra=DECLARED)


def id_of(uri: str, date: str) -> tuple[str, str]:
    name = f"{uri}-{date}".encode().hex()[-12:]
    return "WARC-Refers-To", f"<urn:uuid:00000000-0000-4000-8000-{name}>"


CASES = {
    "there": ([THERE], [*NAMED, *DECLARED], True),
    "there, without a digest": ([THERE], NAMED, True),
    "there, with another id": ([THERE], [*NAMED, *DECLARED, ("WARC-Refers-To", "<urn:x>")], True),
    "a second later": ([A_SECOND_LATER], [*NAMED, *DECLARED], False),
    "a second later, with its id": (
        [A_SECOND_LATER],
        [*NAMED, *DECLARED, id_of(URI, LATER)],
        False,
    ),
    "another body there": ([ANOTHER_BODY], [*NAMED, *DECLARED], False),
    "another body there, with its id": (
        [ANOTHER_BODY],
        [*NAMED, *DECLARED, id_of(URI, DATE)],
        False,
    ),
    "another body there, and it a second later": (
        [ANOTHER_BODY, A_SECOND_LATER],
        [*NAMED, *DECLARED],
        False,
    ),
    "by https": ([BY_HTTPS], [*NAMED, *DECLARED], False),
    "at another URL": ([AT_ANOTHER_URL], [*NAMED, *DECLARED], False),
}


def land(store: LandedStore, originals: list[bytes], fields: list[tuple[str, str]]) -> bytes:
    """The originals in the crawl `one`, and a revisit of them in `two`."""
    date = "2021-01-01T00:00:00Z"
    record = page(f"{URI}r", b"", date=date, record_type="revisit", extra=fields)
    store.land("one", "a.warc.gz", *originals)
    store.land("two", "b.warc.gz", record)
    return record


@pytest.mark.parametrize(("originals", "fields", "resolves"), CASES.values(), ids=CASES)
def test_what_resolves_is_the_same_everywhere(
    store: LandedStore,
    tmp_path: Path,
    originals: list[bytes],
    fields: list[tuple[str, str]],
    resolves: bool,
) -> None:
    record = land(store, originals, fields)
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey(f"{URI}r")))
    try:
        assert b"".join(read_body(store.rows, store.archive, placed)) == BODY
        is_read = True
    except UnresolvedReference:
        is_read = False
    store.write("all.warc.gz", *originals, record)
    checked = call_here(store.inbox, "validate", "--refs", "all.warc.gz")
    if ("WARC-Payload-Digest", sha1_of(BODY)) in fields:
        assert (checked.returncode == 0) is resolves
    found = read_requirements(store.rows, store.archive, "two", "default")
    counts = count_as_browsertrix(store.rows, store.archive, "two", "default")
    done = commit_crawl(store.rows, store.archive, "two", Actor())
    assert is_read is resolves
    assert found.unresolved == done.findings.unresolved == int(not resolves)
    assert [need.requires for need in found.needs] == ["one/a.warc.gz"] * resolves
    assert (counts.conserved_size > 0) is resolves


def test_what_may_be_meant_is_still_protected(store: LandedStore) -> None:
    """Replay tools may take the nearest capture with its digest: that is not removed unasked."""
    land(store, [A_SECOND_LATER], [*NAMED, *DECLARED])
    found = list(scan_references(store.rows, store.archive, "one", "default"))
    assert [one.archive_file for one in found] == ["two/b.warc.gz"]
