"""References judged as they pass by, sorted, come to what the rules say of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from warc_sets import OTHER, PAGE, Rec

from pinakes.dedupe.references.outcomes import (
    CHECKED,
    KEPT,
    RESTORED,
    REWRITTEN,
    Full,
    Revisit,
    judge_at,
    judge_by_id,
    judge_others,
    judge_unplaced,
    may_be_elsewhere,
)
from pinakes.dedupe.references.resolution import Resolution, reference_of
from pinakes.dedupe.references.values import full_of, revisit_of
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
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


def outcome_of(revisit: Revisit, fulls: Sequence[tuple[str | None, Full]]) -> str:
    """By the rules alone, with every full record at hand."""
    dated = [(uri, full) for uri, full in fulls if full.second is not None]
    if revisit.uri is None:
        own = (full for uri, full in dated if uri == revisit.own_uri)
        until = revisit.own_second or ""
        earlier = [full for full in own if (full.second or "") <= until]
        with_id = [full for _, full in fulls if None is not full.id == revisit.id]
        outcome = judge_unplaced(revisit, earlier)
        return (
            judge_by_id(revisit, with_id)
            if may_be_elsewhere(revisit, outcome) and with_id
            else outcome
        )
    of_uri = [full for uri, full in dated if uri == revisit.uri]
    at = [full for full in of_uri if full.second == revisit.second]
    return judge_at(revisit, at) or judge_others(revisit, at, of_uri)


@settings(max_examples=300)
@given(
    st.lists(recs(), max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
    st.sampled_from([DEFAULT_SPACE, SortSpace(memory_bytes=0)]),
)
def test_outcomes_are_those_of_the_rules(
    made: list[tuple[Rec, str, str]], stays: list[bool], space: SortSpace
) -> None:
    data = b"".join(rec.raw(number) for number, (rec, _, _) in enumerate(made))
    fulls, revisits = [], []
    with Resolution(space=space) as resolution:
        number = resolution.add_file("a\udcff.warc")
        for record in iter_records(Source(io.BytesIO(data), name="a.warc")):
            assert isinstance(record, Record)
            _, kind, body = made[record.ordinal]
            if record.type == "response":
                fulls.append(full_of(record, body, stays=stays[record.ordinal]))
                resolution.add_full(*fulls[-1])
            else:
                resolution.add_reference(number, record, kind, body)
                revisits.append(revisit_of(record, kind, body, file="a\udcff.warc"))
        found = [list(resolution.outcomes()) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] == [reference_of(revisit, outcome_of(revisit, fulls)) for revisit in revisits]
