"""The rules of docs/dedupe.md, each by the smallest manifest that shows it."""

from __future__ import annotations

import pytest
from manifest_sets import TIGHT, decisions_in, processed

from pinakes.dedupe.decide.clusters import (
    FLAGS,
    KNOWN,
    LATE,
    PINNED,
    SETTLED,
    ContentCluster,
    format_flags,
    parse_flags,
)
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.flags import flag_lines
from pinakes.dedupe.decide.process import process_lines
from pinakes.dedupe.decide.split import split_lines
from pinakes.errors import ConfigError
from pinakes.index.manifest import ManifestLine, place_of

A, B = "http://example.org/a", "http://example.org/b"
PAGE, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64


def line(number: int, uri: str = A, digest: str = PAGE, **changes: object) -> ManifestLine:
    """The capture at offset `number`, of the same number's day."""
    date = f"2020-01-{number:02d}T00:00:00Z"
    changes = {"date": date, "record_id": f"urn:{number}", "status": 200, "size": 9} | changes
    first = ManifestLine("f", number, 50, uri, date, digest, 0)
    return first._replace(**changes)


def revisit(number: int, **changes: object) -> ManifestLine:
    return line(number, type="revisit", hash_extension=None, size=None, **changes)


def targets(*lines: ManifestLine) -> dict[int, int | None]:
    """Offset of each fit capture → offset of what it refers to."""
    found = decisions_in(processed(lines))
    return {place[1]: target and target[1] for place, target in found.items()}


def reasons(*lines: ManifestLine) -> dict[int, str]:
    return {done.offset: done.full for done in processed(lines) if done.full}


def test_the_earliest_is_the_original() -> None:
    assert targets(line(3), line(1), line(2, B)) == {1: None, 2: 1, 3: 1}


def test_ties_are_broken_by_file_then_offset() -> None:
    same = {"date": "2020-01-01T00:00:00Z"}
    lines = [line(1, A, file="b", **same), line(9, B, **same), line(2, B + "2", file="a", **same)]
    assert targets(*lines) == {2: None, 9: 2, 1: 2}


def test_fractions_of_a_second_do_not_count() -> None:
    lines = [line(1, date="2020-01-01T00:00:00.9Z"), line(2, B, date="2020-01-01T00:00:00.1Z")]
    assert targets(*lines) == {1: None, 2: 1}


@pytest.mark.parametrize(
    "other",
    [
        {"status": 404},
        {"hash_extension": 1},
        {"digest": OTHER},
    ],
    ids=str,
)
def test_different_captures_do_not_merge(other: dict[str, object]) -> None:
    assert targets(line(1), line(2, B, **other)) == {1: None, 2: None}


def test_resources_merge_only_on_request_and_by_type() -> None:
    lines = [
        line(number, f"urn:{number}", type="resource", ctype=ctype)
        for number, ctype in enumerate(("text/html", "text/html", "text/plain"), 1)
    ]
    assert targets(*lines) == {}
    done = process_lines(lines, count=ProcessCount(), resources=True, space=TIGHT)
    assert [found.copy_number for found in done] == [1, 2, 1]


@pytest.mark.parametrize(
    "beside",
    [
        line(8, digest=OTHER),
        line(8, "https://www.example.org/A/", OTHER),
        line(8, hash_extension=1),
        line(8, digest=OTHER, skip="status", status=301),
        line(8, skip="truncated"),
        revisit(8, digest=OTHER),
        revisit(8, digest="-"),
    ],
    ids=["body", "by urlkey", "a collision", "a redirect", "skipped", "revisit", "undeclared"],
)
def test_unaddressable_capture_is_no_original(beside: ManifestLine) -> None:
    lines = [line(1), beside._replace(date=line(1).date), line(2), line(3)]
    found = targets(*lines)
    assert (found[1], found[2], found[3]) == (None, None, 2)
    assert reasons(*lines)[2] == "unaddressable"


@pytest.mark.parametrize("marks", [None, "pinned", "settled", "known"])
def test_a_record_behind_another_in_its_member_is_no_original(marks: str | None) -> None:
    lines = [line(1, inner_offset=700, marks=marks), line(2, B), line(3)]
    assert targets(*lines) == {1: None, 2: None, 3: 2}
    assert reasons(*lines) == {2: "unaddressable"}
    assert targets(*(part for _, part in split_lines(lines, 3))) == targets(*lines)


def test_a_record_behind_another_in_its_member_may_be_a_duplicate() -> None:
    assert targets(line(1), line(2, B, inner_offset=700)) == {1: None, 2: 1}


@pytest.mark.parametrize(
    "beside",
    [line(8), line(8, status=404), revisit(8), line(8, B, OTHER), line(8, digest=OTHER, date="?")],
    ids=["the same body", "another status", "revisit of it", "another URI", "no date"],
)
def test_odd_but_addressable_captures(beside: ManifestLine) -> None:
    if beside.date != "?":
        beside = beside._replace(date=line(1).date)
    assert targets(line(1), beside, line(2))[2] == 1


def test_a_revisit_may_declare_another_digest_of_the_same_body() -> None:
    declared = "sha1:" + "A" * 32
    beside = revisit(8, digest=declared, date=line(1).date)
    original = line(1)
    assert targets(original, beside, line(2))[2] is None
    assert targets(original._replace(also=f"md5:0,{declared}"), beside, line(2))[2] == 1


def test_a_reference_never_names_its_own_address() -> None:
    second = line(1).date
    lines = [line(1), line(2, "https://www.example.org/A?", date=second), line(3)]
    assert targets(*lines) == {1: None, 2: None, 3: 1}
    assert reasons(*lines) == {2: "ambiguous-reference"}


@pytest.mark.parametrize(
    "reference",
    [
        {"refers_id": "urn:2", "target_uri": B},
        {"refers_uri": "https://www.EXAMPLE.org/a", "refers_date": "2020-01-02T00:00:00Z"},
        {"refers_uri": A, "refers_date": "2020-01-02T00:00:00Z", "digest": "-"},
        {},
        {"digest": "sha1:X"},
        {"refers_uri": A, "target_uri": B},
        {"refers_uri": A, "target_uri": B, "digest": "md5:X", "date": "2020-01-02T00:00:00Z"},
        {"refers_uri": A, "refers_date": "2020-01-02T00:00:01Z"},
    ],
    ids=[
        "id",
        "urlkey and second",
        "no digest",
        "digest",
        "also",
        "URI alone",
        "own second",
        "nearest",
    ],
)
def test_target_of_a_revisit_is_pinned(reference: dict[str, object]) -> None:
    lines = [line(1, B), line(2, also="sha1:X"), revisit(3, **reference), line(4, B)]
    assert targets(*lines) == {1: None, 2: None, 4: 1}
    assert reasons(*lines) == {2: "pinned"}


def test_revisit_by_digest_means_the_latest_earlier_record() -> None:
    lines = [line(1, B), line(2), line(3), revisit(4), line(5)]
    assert targets(*lines) == {1: None, 2: 1, 3: None, 5: 1}


def test_revisit_by_digest_without_earlier_record_means_the_next() -> None:
    assert targets(line(1, B), revisit(2), line(3), line(4)) == {1: None, 3: None, 4: 1}


def test_a_dangling_revisit_pins_nothing() -> None:
    lost = revisit(3, refers_uri="http://gone.example/", refers_date="2020", digest=OTHER)
    assert targets(line(1), line(2, B), lost) == {1: None, 2: 1}


def test_several_pinned_copies_are_all_full() -> None:
    pins = [revisit(9 + n, refers_id=f"urn:{n}", target_uri=B, digest="-") for n in (2, 3)]
    assert targets(line(1), line(2, B), line(3, B), line(4), *pins) == {
        1: None, 2: None, 3: None, 4: 1,
    }  # fmt: skip


def test_an_unresolved_line_is_refused_by_place() -> None:
    with pytest.raises(ConfigError, match=r"^f:7: .*resolve"):
        processed([line(7, hash_extension=None)])


def test_a_record_named_twice_is_decided_once() -> None:
    count = ProcessCount()
    done = list(process_lines([line(1), line(2), line(1)], count=count))
    assert [found.offset for found in done] == [1, 2]
    assert (count.repeated, count.originals, count.duplicates) == (1, 1, 1)


def test_counts() -> None:
    count = ProcessCount()
    lines = [line(1), line(2), line(3, skip="empty"), revisit(4, digest=OTHER), line(5, date="?")]
    list(process_lines(lines, count=count))
    assert count.as_json() == {
        "originals": 1, "duplicates": 1, "duplicate_bytes": 50, "full": {},
        "skipped": {"empty": 1, "date-unreadable": 1}, "revisits": 1, "repeated": 0,
    }  # fmt: skip


def test_flags_have_names() -> None:
    for flags in range(1 << len(FLAGS)):
        assert parse_flags(format_flags(flags) or "") == flags
    assert parse_flags("from a later version,pinned") == PINNED


def test_a_late_arrival_is_a_second_original() -> None:
    # The worked example of docs/dedupe.md.
    content: ContentCluster[str] = ContentCluster()
    late = content.decide("20200101000000", B, 0, "B")
    between = content.decide("20200301000000", A, 0, "C")
    settled = content.decide("20200601000000", A, SETTLED, "A")
    after = content.decide("20200801000000", A, 0, "D")
    assert late[:2] == (1, None)
    assert between[1] == "B"
    assert settled[1:] == (None, "settled")
    assert after[1] == "A"


def test_late_original_does_not_displace_a_referenced_one() -> None:
    content: ContentCluster[str] = ContentCluster()
    content.decide("20200101000000", B, SETTLED | KNOWN | LATE, "late")
    content.decide("20200601000000", A, SETTLED | KNOWN, "first")
    assert content.decide("20200801000000", A, 0, "D")[1] == "first"


def test_marks_and_parts_keep_the_order_of_the_lines() -> None:
    lines = [line(number, digest=f"sha256:{number % 3}") for number in range(20, 0, -1)]
    assert [marked for marked, _ in flag_lines(lines, space=TIGHT)] == lines
    assert [part for _, part in split_lines(lines, 4, space=TIGHT)] == lines
    parts = {found.digest: part for part, found in split_lines(lines, 4)}
    assert [(parts[found.digest], found) for found in lines] == list(split_lines(lines, 4))


def test_content_with_many_copies_takes_constant_memory() -> None:
    content: ContentCluster[int] = ContentCluster()
    for number in range(10_000):
        content.decide(f"2020{number:010d}", A, PINNED, number)
    held = content._preferred + content._others
    assert [candidate.item for candidate in held] == [0, 1]


def test_place_names_one_record() -> None:
    lines = [line(1), line(1, inner_offset=700, uri=B, date="2021-01-01T00:00:00Z")]
    assert [found.original_offset for found in processed(lines)] == [None, 1]
    assert len(set(map(place_of, lines))) == 2
