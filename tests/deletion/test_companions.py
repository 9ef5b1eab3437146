"""What belongs to records that are withdrawn: in their file, and in others of the crawl."""

from __future__ import annotations

import pytest
from archive_builders import HTTP, member, records_of, source_of, warc

from pinakes.deletion.companions import find_companions
from pinakes.warc.tombstone import Inscription, tombstone_of

SECRET = b"<p>secret"


def companions(data: bytes, going: set[int]) -> set[int]:
    return find_companions([("a", source_of(data))], {"a": going}).get("a", set())


TO_CAPTURE = ("WARC-Concurrent-To", "<urn:uuid:00000000-0000-4000-8000-000000000001>")
TO_OTHER = ("WARC-Concurrent-To", "<urn:uuid:00000000-0000-4000-8000-000000000009>")
ABOUT = ("WARC-Refers-To", TO_CAPTURE[1])
UPPER = ("WARC-Refers-To", TO_CAPTURE[1].upper())
SEGMENT = ("WARC-Segment-Origin-ID", TO_CAPTURE[1])
SAME_URI = ("WARC-Target-URI", "http://example.org/1")


def beside(record_type: str, *extra: tuple[str, str], uri: str = "http://example.org/2") -> bytes:
    return warc(b"x", number=2, record_type=record_type, extra=extra).replace(
        b"http://example.org/2", uri.encode()
    )


@pytest.mark.parametrize(
    ("other", "belongs"),
    [
        pytest.param(beside("request", TO_CAPTURE), True, id="its request"),
        pytest.param(beside("request", TO_OTHER, TO_CAPTURE), True, id="that names two"),
        pytest.param(beside("request", TO_OTHER, uri=SAME_URI[1]), False, id="of another"),
        pytest.param(beside("request", uri=SAME_URI[1]), True, id="a request that names nothing"),
        pytest.param(beside("request"), False, id="of another URI"),
        pytest.param(beside("metadata", TO_CAPTURE), True, id="its metadata"),
        pytest.param(beside("metadata", ABOUT), True, id="metadata about it"),
        pytest.param(beside("metadata", UPPER), True, id="in capitals"),
        pytest.param(beside("metadata", uri=SAME_URI[1]), False, id="metadata of its URI"),
        pytest.param(beside("conversion", ABOUT), True, id="a conversion"),
        pytest.param(beside("continuation", SEGMENT), True, id="a further segment"),
        pytest.param(beside("response", TO_CAPTURE), False, id="another capture"),
        pytest.param(beside("warcinfo", TO_CAPTURE), False, id="warcinfo"),
    ],
)
def test_what_belongs_to_a_capture(other: bytes, belongs: bool) -> None:
    data = member(warc(HTTP + SECRET, number=1)) + member(other)
    assert companions(data, {0}) == ({1} if belongs else set())


def test_a_request_that_the_capture_names_belongs_to_it() -> None:
    request = beside("request")
    named = ("WARC-Concurrent-To", "<urn:uuid:00000000-0000-4000-8000-000000000002>")
    data = member(request) + member(warc(HTTP, number=1, extra=[named]))
    assert companions(data, {1}) == {0}


def test_a_capture_that_names_its_metadata_alone_has_the_request_beside_it() -> None:
    metadata = ("WARC-Concurrent-To", "<urn:uuid:00000000-0000-4000-8000-000000000003>")
    data = (
        member(beside("request", uri=SAME_URI[1]))
        + member(warc(HTTP, number=1, extra=[metadata]))
        + member(warc(b"x", number=3, record_type="metadata"))
    )
    assert companions(data, {1}) == {0, 2}


def of_one_uri(kind: str, number: int, minute: int, *extra: tuple[str, str]) -> bytes:
    record = warc(
        HTTP if kind == "response" else b"x", number=number, record_type=kind, extra=extra
    )
    found = record.replace(b"example.org/%d" % number, b"example.org/")
    return member(found.replace(b"03:04:05Z", b"03:%02d:05Z" % minute))


NAMES_5 = ("WARC-Concurrent-To", "<urn:uuid:00000000-0000-4000-8000-000000000005>")


@pytest.mark.parametrize(
    ("captures", "wanted"),
    [
        pytest.param({0}, {0, 1}, id="the first"),
        pytest.param({2}, {2, 3}, id="that of the same date"),
        pytest.param({0, 2}, {0, 1, 2, 3}, id="both"),
        pytest.param({4}, {4, 5}, id="the one that names its request"),
    ],
)
def test_a_request_belongs_to_one_capture_of_its_uri(captures: set[int], wanted: set[int]) -> None:
    data = b"".join(
        [
            of_one_uri("response", 0, 1),
            of_one_uri("request", 1, 1),
            of_one_uri("response", 2, 2),
            of_one_uri("request", 3, 2),
            of_one_uri("response", 4, 3, NAMES_5),
            of_one_uri("request", 5, 3),
        ]
    )
    assert companions(data, captures) == wanted - captures


def named(number: int, kind: str, **fields: int) -> bytes:
    """A record that names others, by their numbers."""
    extra = [
        (f"WARC-{name.replace('_', '-')}", f"<urn:uuid:00000000-0000-4000-8000-{to:012d}>")
        for name, to in fields.items()
    ]
    return member(warc(HTTP + SECRET, number=number, record_type=kind, extra=extra))


CAPTURE = named(1, "response")
ELSEWHERE = [
    pytest.param([named(2, "conversion", Refers_To=1)], [0], id="a conversion"),
    pytest.param([named(2, "continuation", Segment_Origin_ID=1)], [0], id="a further segment"),
    pytest.param([named(2, "request", Concurrent_To=1)], [0], id="its request"),
    pytest.param(
        [named(3, "conversion", Refers_To=2), named(2, "conversion", Refers_To=1)],
        [0, 1],
        id="a conversion of a conversion before it",
    ),
    pytest.param(
        [named(2, "request", Concurrent_To=1), named(3, "metadata", Refers_To=2)],
        [0, 1],
        id="metadata of its request",
    ),
    pytest.param(
        [
            named(2, "conversion", Refers_To=1),
            named(3, "continuation", Segment_Origin_ID=2),
            named(4, "metadata", Concurrent_To=3),
            named(5, "metadata", Refers_To=6),
        ],
        [0, 1, 2],
        id="three deep, and one of another",
    ),
    pytest.param(
        [named(2, "metadata", Concurrent_To=1), named(3, "request", Concurrent_To=2)],
        [0],
        id="a request belongs to a capture alone",
    ),
    pytest.param(
        [named(2, "conversion", Refers_To=1), named(3, "resource", Refers_To=2)],
        [0],
        id="another capture",
    ),
]


@pytest.mark.parametrize(("others", "ordinals"), ELSEWHERE)
@pytest.mark.parametrize("before", [False, True], ids=["file behind", "file before"])
def test_what_lies_in_another_file(others: list[bytes], ordinals: list[int], before: bool) -> None:
    files = [("b", source_of(CAPTURE)), ("a" if before else "c", source_of(b"".join(others)))]
    found = find_companions(sorted(files, key=lambda file: file[0]), {"b": {0}})
    assert found == {files[1][0]: set(ordinals)}


def test_what_a_capture_names_in_another_file() -> None:
    files = [
        ("a", source_of(named(1, "response", Concurrent_To=5))),
        ("b", source_of(named(5, "request") + named(6, "request"))),
        ("c", source_of(named(2, "response", Concurrent_To=6))),
    ]
    assert find_companions(files, {"a": {0}}) == {"b": {0}}
    assert find_companions(files, {"a": {0}, "c": {0}}) == {"b": {0, 1}}


def test_a_tombstone_counts_as_what_it_stands_for() -> None:
    words = Inscription("withdraw-1", "2026-11-25T12:00:00Z")
    stones = [
        tombstone_of(records_of(data)[0].header, words) + b"\r\n\r\n"
        for data in (named(1, "response", Concurrent_To=5), named(2, "metadata", Concurrent_To=6))
    ]
    files = [
        ("a", source_of(b"".join(map(member, stones)))),
        ("b", source_of(named(5, "request") + named(6, "metadata"))),
        ("c", source_of(named(7, "metadata", Refers_To=2))),
    ]
    assert find_companions(files, {"a": {0, 1}}) == {"b": {0}, "c": {0}}
