"""A content decided in parts is decided as a whole."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from pinakes.dedupe.decide.clusters import CLASH, KNOWN, LATE, PINNED, SETTLED, SHARED
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.divided import Leaders, decide_part, order_of
from pinakes.dedupe.decide.entries import Entry, decide_contents
from pinakes.index.manifest import ManifestLine, place_of

# Two spellings of one address, and another two.
URIS = (
    "http://example.org/",
    "https://www.example.org",
    "http://example.org/b",
    "http://example.net/",
)
LINE = ManifestLine("f", 0, 9, URIS[0], "2020-01-01T00:00:00Z", "sha1:X", 0, size=8, status=200)


def entry(number: int, second: int, uri: str, flags: int, status: int) -> Entry:
    line = LINE._replace(
        offset=number * 10, target_uri=uri, date=f"2020-01-01T00:00:0{second}Z", status=status
    )
    when = f"2020010100000{second}"
    return ("sha1:X", 0, when, "f", line.offset, 0, 0, flags, line)


FLAGS = st.sampled_from((0, 0, 0, CLASH, SHARED, PINNED, SETTLED, KNOWN)).flatmap(
    lambda flag: st.sampled_from(
        (flag, flag, flag | LATE, flag | CLASH, flag | SHARED, flag | KNOWN)
    )
)
ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(URIS), FLAGS, st.sampled_from((200, 200, 200, 404))
    ),
    max_size=14,
).map(lambda chosen: [entry(number, *values) for number, values in enumerate(chosen)])


@given(ENTRIES, st.data())
@example([entry(0, 0, URIS[0], PINNED, 200), entry(1, 0, URIS[1], 0, 200)], None)
def test_parts_decide_what_the_whole_does(entries: list[Entry], data: st.DataObject | None) -> None:
    ordered = sorted(entries, key=order_of)
    whole_count = ProcessCount()
    whole = list(decide_contents(ordered, whole_count))
    parts: list[list[Entry]] = [[], [], []]
    for one in entries:
        parts[data.draw(st.integers(0, 2)) if data else 0].append(one)
    leaders = Leaders()
    for part in parts:
        # Each part tells its own; some are told of twice.
        own = Leaders()
        for one in part:
            own.add(one)
        for one in own.entries() * 2:
            leaders.add(one)
    count = ProcessCount()
    decided = [
        line
        for part in parts
        for line in decide_part(leaders.entries(), sorted(part, key=order_of), count)
    ]
    assert numbered(decided) == sorted(whole, key=place_of)
    assert count == whole_count


def numbered(lines: list[ManifestLine]) -> list[ManifestLine]:
    """Copies count up, in order, whatever their parts said."""
    copies: Counter[int | None] = Counter()
    result = []
    for line in sorted(lines, key=lambda line: (line.date, place_of(line))):
        copies[line.status] += line.copy_number != 1
        number = 1 if line.copy_number == 1 else 1 + copies[line.status]
        result.append(line._replace(copy_number=number))
    return sorted(result, key=place_of)


@given(ENTRIES.filter(bool))
def test_few_lines_lead_and_repeats_are_left_out(entries: list[Entry]) -> None:
    leaders = Leaders()
    for one in entries:
        leaders.add(one)
    assert len(leaders.entries()) <= 12
    count = ProcessCount()
    twice = sorted([*entries, *entries], key=order_of)
    assert len(list(decide_part(leaders.entries(), twice, count))) == len(entries)
    assert count.repeated == len(entries)
