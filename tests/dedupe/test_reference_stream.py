"""References judged as they pass by, sorted, come to what the database says of them."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from warc_sets import OTHER, PAGE, Rec

from pinakes.dedupe.references.outcomes import CHECKED, KEPT, RESTORED, REWRITTEN, Full, Revisit
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.references.stream import judge_references, place_of, uri_of, wanted_id
from pinakes.dedupe.references.values import full_of, revisit_of
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

URIS = ("http://a/", "http://b/é\udcff")
DATES = ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z", "2020-02-02T00:00:00Z", "no\udcffdate")
BODIES = (PAGE, OTHER)


@st.composite
def recs(draw: st.DrawFn) -> tuple[Rec, str, str]:
    """A record, the kind of reference it has if it is a revisit, and a body's SHA-256."""
    rec = Rec(
        uri=draw(st.sampled_from(URIS)),
        date=draw(st.sampled_from(DATES)),
        body=draw(st.sampled_from(BODIES)),
        declared=draw(st.sampled_from(("sha1", "sha1", "hex", "SHA-256", None))),
    )
    kind = draw(st.sampled_from((KEPT, KEPT, REWRITTEN, RESTORED, CHECKED)))
    body = draw(st.sampled_from(("1", "2")))
    if draw(st.booleans()):
        return rec, kind, body
    fields = []
    if draw(st.booleans()):
        fields.append(b"WARC-Refers-To-Target-URI: " + _raw(draw(st.sampled_from(URIS))))
        if draw(st.booleans()):
            fields.append(b"WARC-Refers-To-Date: " + _raw(draw(st.sampled_from(DATES))))
    if draw(st.booleans()):
        number = draw(st.integers(0, 5))
        fields.append(b"WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-%012d>" % number)
    return replace(rec, type="revisit", fields=tuple(fields)), kind, body


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@settings(max_examples=200)
@given(st.lists(recs(), max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_outcomes_are_those_of_the_database(
    made: list[tuple[Rec, str, str]], stays: list[bool]
) -> None:
    data = b"".join(rec.raw(number) for number, (rec, _, _) in enumerate(made))
    wanted: dict[bytes, set[bytes]] = defaultdict(set)
    entries: dict[bytes, list[Full | Revisit]] = defaultdict(list)
    found = {}
    with Resolution() as resolution:
        number = resolution.add_file("a.warc")
        for record in iter_records(Source(io.BytesIO(data), name="a.warc")):
            assert isinstance(record, Record)
            _, kind, body = made[record.ordinal]
            if record.type == "response":
                resolution.add_full(record, body, stays=stays[record.ordinal])
                uri, full = full_of(record, body, stays=stays[record.ordinal])
                assert uri is not None
                entries[uri].append(full)
                continue
            resolution.add_reference(number, record, kind, body)
            revisit = revisit_of(record, kind, body)
            to = uri_of(revisit)
            assert to is not None
            entries[to].append(revisit)
            if record_id := wanted_id(revisit):
                wanted[to].add(record_id)
        by_database = {reference.ordinal: reference.outcome for reference in resolution.outcomes()}
    for uri, of_uri in entries.items():
        judged = judge_references(wanted[uri], sorted(of_uri, key=place_of))
        found.update((revisit.ordinal, outcome) for revisit, outcome in judged)
    assert found == by_database
