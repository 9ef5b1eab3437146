"""What the crawls of a collection have, by digest: out of one scan of the rows and one sort.

    captures ─▶ a line each: bodies of a digest, originals in their order of choice
             ─▶ sorted by digest ─▶ an entry for each crawl and digest, and the crawl to refer to

The rules are those of `catalog.originals`.  A crawler believes a digest: one that several bodies
have is left out.  A SHA-256 is believed, as there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pinakes.catalog.copies import Copy
from pinakes.catalog.crawl_rows import COMMITTED
from pinakes.catalog.lookup import INDEXED
from pinakes.catalog.originals import Original, OriginalCandidate
from pinakes.catalog.reported import Report
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.warc.dates import UNREADABLE_17, format_17, parse_date
from pinakes.warc.digest import Digest, parse_digest

from .keys import DigestEntry, ListedFile, format_entry

DECLARED, SHA256 = "declared", "sha256"
_BODY, _ORIGINAL = range(2)
_COMPUTED = ("stored", "dechunked")


class CrawlDigest(NamedTuple):
    """A digest, as text, that a crawl has."""

    crawl: str
    digest: str
    value: bytes


class Owned(NamedTuple):
    """A digest that crawls may look up, and the committed crawl to refer to."""

    digest: str
    crawl: str


class _Line(NamedTuple):
    digest: str
    """Its algorithm and hex: equal for all spellings."""
    role: int
    rank: tuple[int, int, str, str, int] = (0, 0, "", "", 0)
    crawl: str = ""
    text: str = ""
    """The digest as it is looked up; in a line of a body, that body."""
    value: bytes = b""


class WaczNumbers:
    """The WACZ files of crawls, numbered in the order of their lists."""

    def __init__(self, lists: Mapping[str, Sequence[ListedFile]]) -> None:
        self.lists = lists
        self._numbers = {
            archive_file(crawl, listed.name): number
            for crawl, some in lists.items()
            for number, listed in enumerate(some)
        }

    def of(self, name: str) -> int:
        """The number of the one that an archive file landed in, or that has this name; else 0."""
        at = name.find("/")
        while at > 0:
            end = name.find("/", at + 1)
            number = self._numbers.get(name if end < 0 else name[:end])
            if number is not None:
                return number
            at = end
        return 0


class GatheredDigests:
    """What crawls have.

    `states` are the open and committed crawls, of which all are looked at; `crawls` those whose
    entries are given.  `why_unwanted` says which policy keeps crawls from referring to an original,
    if one does; `reports` are those of each crawl that it may refer to, None for one that it may
    not.
    """

    def __init__(
        self,
        candidates: Iterable[list[OriginalCandidate]],
        states: dict[str, str],
        waczs: WaczNumbers,
        *,
        why_unwanted: Callable[[Original], str | None],
        reports: Iterable[tuple[str, Report | None]] = (),
        crawls: Collection[str],
        digests: str,
        space: SortSpace,
    ) -> None:
        self._candidates = candidates
        self._states = states
        self._waczs = waczs
        self._why_unwanted = why_unwanted
        self._reports = reports
        self._crawls = crawls
        self._digests = digests
        self._space = space
        self.several_bodies = 0
        """Digests that are left out, since several bodies have them."""
        self.unwritable = 0
        """Captures that are left out, since their URL cannot stand in an entry."""
        self.unwanted: Counter[str] = Counter()
        """Captures that are left out, by the policy that does not want them."""
        self.withheld = 0
        """Reported digests that are left out: by them, no look-up finds an original."""

    def items(self) -> Iterator[CrawlDigest | Owned]:
        """Entries and owners, by digest; lazy."""
        lines = sort_outside_memory(self._lines(), space=self._space)
        for _, group in groupby(lines, key=lambda line: line.digest):
            yield from self._of_digest(group)

    def _lines(self) -> Iterator[_Line]:
        for candidates in self._candidates:
            for one in candidates:
                yield from self._of_candidate(one)
        for crawl, report in self._reports:
            if report is None:
                self.withheld += 1
            else:
                yield from self._of_report(crawl, report)

    def _of_candidate(self, one: OriginalCandidate) -> Iterator[_Line]:
        for form in ("stored", "dechunked"):
            body = one.copy.sha256(form)
            sha1 = _sha1(one.copy, form) if body is not None else None
            if body is not None and sha1 is not None:
                yield _Line(f"sha1:{sha1.hex}", _BODY, text=body.decode("ascii"))
        original, found = one.original, self._digest_of(one.copy)
        if original is None or found is None or original.place.crawl not in self._crawls:
            return
        why = self._why_unwanted(original)
        if why is not None:
            self.unwanted[why] += 1
            return
        digest, text = found
        yield from self._of_original(original, f"{digest.algorithm}:{digest.hex}", text)

    def _of_original(self, original: Original, key: str, text: str) -> Iterator[_Line]:
        copy, name = original.copy, original.place.archive_file
        choice, second, ordinal = copy.choice, copy.second, copy.ordinal
        crawl = original.place.crawl
        is_open = int(self._states.get(crawl) != COMMITTED)
        size = original.location.length
        entry = DigestEntry(self._waczs.of(name), _shown(copy.time), copy.facts["url"], size)
        rank = (is_open, choice, second, name, ordinal)
        yield from self._of_entry(_Line(key, _ORIGINAL, rank, crawl, text), entry)

    def _of_report(self, crawl: str, report: Report) -> Iterator[_Line]:
        """What is reported stands after what has landed, and is that of its crawl alone."""
        seen, digest = report.seen, report.digest
        name = archive_file(crawl, seen.file) if seen.file else ""
        length = seen.length if seen.length is not None else seen.size or 0
        moment = parse_date(seen.date)
        time = _shown(format_17(moment) if moment is not None else UNREADABLE_17)
        rank = (2, 0, report.second, name, 0)
        key = f"{digest.algorithm}:{digest.hex}"
        line = _Line(key, _ORIGINAL, rank, crawl, str(digest))
        yield from self._of_entry(line, DigestEntry(self._waczs.of(name), time, seen.url, length))

    def _of_entry(self, line: _Line, entry: DigestEntry) -> Iterator[_Line]:
        value = format_entry(entry)
        if value is not None:
            yield line._replace(value=value)
        else:
            self.unwritable += 1

    def _digest_of(self, copy: Copy) -> tuple[Digest, str] | None:
        """The digest by which crawlers find a capture, and its text."""
        facts = copy.facts
        text = facts.get("declared_digest", "")
        declared = parse_digest(text)
        is_known = self._digests == DECLARED and facts.get("declared_over") in _COMPUTED
        if declared is not None and is_known and declared.algorithm in INDEXED:
            return declared, text
        sha256 = parse_digest(facts.get("dechunked_sha256") or facts.get("payload_sha256") or "")
        return (sha256, str(sha256)) if sha256 is not None else None

    def _of_digest(self, group: Iterator[_Line]) -> Iterator[CrawlDigest | Owned]:
        bodies: set[str] = set()
        given: set[tuple[str, str]] = set()
        owned: set[str] = set()
        for line in group:
            if line.role == _BODY:
                if len(bodies) < 2:
                    bodies.add(line.text)
                continue
            if len(bodies) > 1:
                self.several_bodies += 1
                return
            if (line.crawl, line.text) not in given:
                given.add((line.crawl, line.text))
                yield CrawlDigest(line.crawl, line.text, line.value)
            if self._states[line.crawl] == COMMITTED and line.text not in owned:
                owned.add(line.text)
                yield Owned(line.text, line.crawl)


def _shown(time: str) -> str:
    """A time of 17 digits, without milliseconds that are 0: most dates have none."""
    return time.removesuffix("000")


def _sha1(copy: Copy, form: str) -> Digest | None:
    return parse_digest(copy.facts.get("digest" if form == "stored" else "dechunked_sha1", ""))
