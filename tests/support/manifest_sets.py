"""Generated manifests with everything in them, and the rules once more, the slow way.

`decide_slowly` is written from docs/dedupe.md alone: every line against every line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from hypothesis import strategies as st
from surt import surt

from pinakes.dedupe.decide.counting import Decisions, ProcessCount, ResolveCount
from pinakes.dedupe.decide.process import process_lines, resolve_and_process
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.errors import MalformedRecord
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import ManifestLine, place_of

Place = tuple[str, int, int]
# Little enough that every sort spills.
TIGHT = SortSpace(memory_bytes=3000)
# Four addresses, two of them in two spellings.
URIS = (
    "http://example.org/",
    "https://www.example.org",
    "http://example.org/b?x=1&y=2",
    "http://example.org/b?y=2&x=1",
    "http://example.org/c",
    "http://example.net/%C3%A9",
)
SECONDS = tuple(f"2020-01-01T00:00:0{number}Z" for number in range(8))
DAYS = tuple(f"2020-01-{number:02}T00:00:00Z" for number in range(1, 9))
# As the store puts them into `marks=`.
POLICIES = (
    None,
    None,
    "same-url",
    "within-3",
    "same-url,within-2",
    "policy-size",
    "policy-off,same-url",
)
BODIES = (b"one body", b"two body", b"a longer body", b"other, longer", b"3rd body")


def weak_digest(body: bytes) -> str:
    """A digest with collisions: over bodies of one length, and of several."""
    return f"md5:{sum(body) % 2:032x}"


def good_digest(body: bytes) -> str:
    """One digest a body."""
    return f"sha256:{BODIES.index(body):064x}"


@dataclass
class Bodies:
    """Bodies by place, for `resolve_lines`; remembers what was read, and in which order."""

    by_place: Mapping[Place, bytes]
    unreadable: frozenset[Place] = frozenset()
    piece: int = 3

    def __post_init__(self) -> None:
        self.read: list[Place] = []

    def open_body(self, line: ManifestLine) -> Iterator[bytes | memoryview]:
        place = place_of(line)
        self.read.append(place)
        body = self.by_place[place]
        for at in range(0, len(body), self.piece):
            if place in self.unreadable and at:
                raise MalformedRecord("broken", file=line.file, offset=line.offset)
            piece = body[at : at + self.piece]
            # Archive files give both.
            yield memoryview(piece) if at % 2 else piece


@st.composite
def collections(
    draw: st.DrawFn,
    *,
    collisions: bool = True,
    revisits: bool = True,
    policies: bool = False,
    shared: bool = True,
) -> tuple[list[ManifestLine], Bodies]:
    """Captures of few addresses in few seconds with few bodies, revisits of all kinds.

    With `shared` some are behind others in their members.
    With `policies`: of few days, and so much alike that what is left full has been kept full.
    """
    count = draw(st.integers(6 if policies else 0, 14))
    uris, contents = (URIS[:3], BODIES[:2]) if policies else (URIS, BODIES)
    digest_of = weak_digest if collisions else good_digest
    lines: list[ManifestLine] = []
    bodies: dict[Place, bytes] = {}
    for number in range(count):
        body = draw(st.sampled_from(contents))
        line = ManifestLine(
            file=draw(st.sampled_from(("a", "b", "c"))),
            offset=number * 100,
            length=90,
            target_uri=draw(st.sampled_from(uris)),
            date=(DAYS if policies else SECONDS)[draw(st.integers(0, 7))],
            marks=draw(st.sampled_from(POLICIES)) if policies else None,
            digest=digest_of(body),
            size=draw(st.sampled_from((len(body), None))),
            status=draw(st.sampled_from((200, 200, 200, 404))),
            record_id=f"urn:{number}",
            inner_offset=draw(st.sampled_from((0, 0, 0, 0, 700 * shared))),
        )
        kind = draw(st.sampled_from("ffffffsr" if revisits else "ffffffs"))
        if kind == "s":
            line = line._replace(skip=draw(st.sampled_from(("status", "truncated"))))
        elif kind == "r" and lines:
            line = _revisit_of(draw, line, draw(st.sampled_from(lines)))
        lines.append(line)
        bodies[place_of(line)] = body
    return lines, Bodies(bodies, frozenset(), draw(st.sampled_from((1, 3, 100))))


def _revisit_of(draw: st.DrawFn, line: ManifestLine, target: ManifestLine) -> ManifestLine:
    line = line._replace(type="revisit", size=None, digest=target.digest)
    how = draw(st.sampled_from(("id", "uri", "both", "digest", "wrong date", "no digest")))
    if how in ("id", "both", "no digest"):
        line = line._replace(refers_id=target.record_id)
    if how in ("uri", "both", "no digest"):
        line = line._replace(refers_uri=target.target_uri, refers_date=target.date)
    if how == "digest":
        line = line._replace(target_uri=target.target_uri)
    if how == "wrong date":
        line = line._replace(refers_uri=target.target_uri, refers_date=SECONDS[-1])
    return line._replace(digest="-") if how == "no digest" else line


def as_revisit(line: ManifestLine) -> ManifestLine:
    """The line of the revisit that `refs` makes of a duplicate; a full record as it is."""
    if line.copy_number is None or line.copy_number == 1:
        return line
    return line._replace(
        type="revisit",
        size=None,
        refers_uri=line.original_uri,
        refers_date=line.original_date,
        hash_extension=None,
    )


def resolved(lines: Iterable[ManifestLine], bodies: Bodies) -> list[ManifestLine]:
    return list(resolve_lines(lines, bodies, count=ResolveCount(), space=TIGHT))


def processed(lines: Iterable[ManifestLine]) -> list[ManifestLine]:
    return list(process_lines(lines, count=ProcessCount(), space=TIGHT))


def chain(lines: Iterable[ManifestLine], bodies: Bodies) -> list[ManifestLine]:
    """Both in one go, as a dedupe run decides."""
    return list(resolve_and_process(lines, bodies, Decisions(), space=TIGHT))


def address(uri: str, date: str) -> tuple[str, str]:
    return surt(uri), date


def address_of(line: ManifestLine) -> tuple[str, str]:
    return address(line.target_uri, line.date)


def order_of(line: ManifestLine) -> tuple[str, Place]:
    return line.date, place_of(line)


def fit(line: ManifestLine) -> bool:
    return line.type is None and line.skip is None


def is_addressable(line: ManifestLine, lines: list[ManifestLine]) -> bool:
    if line.inner_offset:
        return False
    body = (line.digest, line.hash_extension)
    for other in lines:
        if other is line or address_of(other) != address_of(line):
            continue
        if other.type == "revisit":
            if other.digest != line.digest:
                return False
        elif other.skip is not None or (other.digest, other.hash_extension) != body:
            return False
    return True


def pinned_places(lines: list[ManifestLine]) -> set[Place]:
    """What the revisits among the lines refer to, in every way of looking it up."""
    pinned: set[Place] = set()
    records = sorted((line for line in lines if line.type != "revisit"), key=order_of)
    for revisit in lines:
        if revisit.type != "revisit":
            continue
        by_id = [r for r in records if revisit.refers_id and r.record_id == revisit.refers_id]
        target = surt(revisit.refers_uri or revisit.target_uri)
        there = [r for r in records if surt(r.target_uri) == target]
        exact = [r for r in there if r.date == revisit.refers_date]
        found = [*by_id, *exact]
        same = [r for r in there if r.digest == revisit.digest]
        untold = [r for r in there if algorithm_of(r) != algorithm_of(revisit)]
        if any(r in same for r in exact):
            pinned.update(map(place_of, found))
            continue
        if not any(r in untold for r in exact):
            # None of these can be asked for the digest that it declares.
            found += [r for r in untold if revisit.refers_date or r.date <= revisit.date]
        if same:
            chosen = [r.date for r in same if r.date <= revisit.date][-1:] or [same[0].date]
            if revisit.refers_date:
                chosen += [r.date for r in same if r.date < revisit.refers_date][-1:]
                chosen += [r.date for r in same if r.date >= revisit.refers_date][:1]
            found += [r for r in same if r.date in chosen]
        pinned.update(map(place_of, found))
    return pinned


def algorithm_of(line: ManifestLine) -> str:
    return line.digest.partition(":")[0]


def decide_slowly(lines: list[ManifestLine]) -> dict[Place, Place | None]:
    """What each fit capture refers to; None where it stays full."""
    pinned = pinned_places(lines)
    decisions: dict[Place, Place | None] = {}
    originals: list[ManifestLine] = []

    def decide(line: ManifestLine, known: list[ManifestLine]) -> None:
        same = [o for o in known if content_of(o) == content_of(line)]
        others = [o for o in same if address_of(o) != address_of(line)]
        stays = place_of(line) in pinned or "policy" in (line.marks or "")
        if stays or not others:
            decisions[place_of(line)] = None
            if is_addressable(line, lines) and (stays or not same):
                originals.append(line)
        else:
            decisions[place_of(line)] = place_of(others[0])

    in_order = sorted(filter(fit, lines), key=order_of)
    scoped = [o for o in in_order if scope_in(o) and place_of(o) not in pinned]
    for line in in_order:
        if line not in scoped:
            decide(line, originals)
    for line in scoped:
        reached = [
            other
            for other in originals
            if order_of(other) < order_of(line)
            and (other not in scoped or scope_in(other) == scope_in(line))
            and ("same-url" not in scope_in(line) or address_of(other)[0] == address_of(line)[0])
            and all(period_of(other, days) == period_of(line, days) for days in days_in(line))
        ]
        decide(line, sorted(reached, key=order_of))
    return decisions


def scope_in(line: ManifestLine) -> str:
    marks = line.marks or ""
    return marks if "policy" not in marks else ""


def days_in(line: ManifestLine) -> list[int]:
    return [int(mark[7:]) for mark in scope_in(line).split(",") if mark.startswith("within-")]


def period_of(line: ManifestLine, days: int) -> int:
    """The number of the period since 1970."""
    return int(datetime.fromisoformat(line.date.replace("Z", "+00:00")).timestamp()) // (
        days * 86_400
    )


def content_of(line: ManifestLine) -> tuple[object, ...]:
    return line.digest, line.hash_extension, line.status, line.type, line.ctype


def decisions_in(lines: Iterable[ManifestLine]) -> dict[Place, Place | None]:
    """What processed lines say each fit capture refers to."""
    return {
        place_of(line): None
        if line.original_file is None or line.original_offset is None
        else (line.original_file, line.original_offset, line.original_inner_offset)
        for line in lines
        if fit(line)
    }
