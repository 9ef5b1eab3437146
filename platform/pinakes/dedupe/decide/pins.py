"""What the revisits of a collection refer to: records that must stay full.

A revisit that was here before us is found its target in every way a replay tool may try:
by record id; by URI and second; and by digest among the captures of that URI, the latest
earlier one first.  Where it declares no digest, or one that was not computed here, all
earlier captures of the URI may be meant, and later ones where it names a date.  What any
of these finds is pinned: one full record too many costs space, one too few a page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

# What a line is to its address.
FULL, SKIPPED, REVISIT = 0, 1, 2
_LAST_SECOND = "9" * 14
_AFTER_ALL = 1 << 62
_Captures = list[tuple[str, int]]
"""Second and number of the line, in order."""


class Address(NamedTuple):
    """A capture where replay looks for it: `urlkey SP second`, as in a CDX.

    A tuple, sorted by its first two fields: there is one for each line.
    """

    key: str
    number: int
    kind: int
    digest: str
    extension: int | None
    also: str | None


class PinRequest(NamedTuple):
    """What one revisit refers to.  A tuple, sorted by its first field."""

    prefix: str
    """urlkey of the target, and a space: the start of its addresses' keys."""
    wanted_second: str | None
    own_second: str
    digest: str
    record_id: str | None


def request_of(line: ManifestLine, second: str | None) -> PinRequest:
    """The request that a revisit's line makes; `second` is its own."""
    return PinRequest(
        urlkey(line.refers_uri or line.target_uri) + " ",
        second_of(line.refers_date) if line.refers_date else None,
        second or _LAST_SECOND,
        line.digest,
        line.refers_id,
    )


def watch_for_pins(
    addresses: Iterable[Address],
    requests: Iterable[PinRequest],
    pinned: Spool[int],
    space: SortSpace,
) -> Iterator[Address]:
    """Pass sorted addresses on, noting in `pinned` the numbers of those referred to.

    Memory: the requests for one urlkey, and the captures that answer to their digests.
    """
    ordered = sort_outside_memory(
        requests, key=attrgetter("prefix"), space=space, item_bytes=estimate_request_bytes
    )
    searches = (_Search(prefix, list(group)) for prefix, group in groupby(ordered, _prefix))
    search = next(searches, None)
    for address in addresses:
        while search is not None and address.key > search.last_key:
            _note(search, pinned)
            search = next(searches, None)
        if search is not None and address.kind != REVISIT and address.key >= search.prefix:
            search.see(address)
        yield address
    if search is not None:
        _note(search, pinned)


def _note(search: _Search, pinned: Spool[int]) -> None:
    for number in search.found():
        pinned.append(number)


_prefix = attrgetter("prefix")


class _AtSecond:
    """The captures of one urlkey in one second, and what they answer to."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.digests: set[str] = set()
        self.shown: set[str] = set()
        self.algorithms: set[str] | None = None
        """Those that each of them has a digest of; None of no capture."""

    def add(self, number: int, digests: set[str], shown: str) -> None:
        algorithms = set(map(_algorithm, digests))
        self.numbers.append(number)
        self.digests |= digests
        self.shown.add(shown)
        self.algorithms = algorithms if self.algorithms is None else self.algorithms & algorithms


class _Search:
    """The requests for one urlkey, and what the captures of that urlkey answer."""

    def __init__(self, prefix: str, requests: list[PinRequest]) -> None:
        self.prefix = prefix
        self.last_key = prefix + _LAST_SECOND
        self._requests = requests
        self._at = {request.wanted_second: _AtSecond() for request in requests}
        self._digests = {request.digest for request in requests}
        self._algorithms = set(map(_algorithm, self._digests))
        self._answering: dict[str, _Captures] = {}
        self._showing: dict[str, _Captures] = {}
        self._unknown: dict[str, _Captures] = {}

    def see(self, address: Address) -> None:
        """Take the next capture of this urlkey, in order of time."""
        second = address.key[-14:]
        answers, shown = _answers(address), _shown(address)
        if second in self._at:
            self._at[second].add(address.number, answers, shown)
        for digest in answers & self._digests:
            self._answering.setdefault(digest, []).append((second, address.number))
        if shown in self._digests:
            self._showing.setdefault(shown, []).append((second, address.number))
        for algorithm in self._algorithms.difference(map(_algorithm, answers)):
            self._unknown.setdefault(algorithm, []).append((second, address.number))

    def found(self) -> set[int]:
        """The numbers of the lines that these requests mean.

        Stretches first, each once: very many revisits may mean the same very many captures.
        """
        found = {number for at in self._at.values() for number in at.numbers}
        unknown: dict[str, int] = {}
        seconds: set[tuple[str, str]] = set()
        for request in self._requests:
            exact = self._at[request.wanted_second]
            digest = request.digest
            if digest in exact.shown:
                continue
            same = self._showing.get(digest, [])
            seconds.update((digest, second) for second in _meant(same, request))
            if digest in exact.digests:
                continue
            algorithm = _algorithm(digest)
            if exact.algorithms is None or algorithm in exact.algorithms:
                # What names a date may mean a later capture that is nearest to it.
                until = request.own_second if request.wanted_second is None else _LAST_SECOND
                captures = self._unknown.get(algorithm, [])
                end = bisect_right(captures, (until, _AFTER_ALL))
                unknown[algorithm] = max(end, unknown.get(algorithm, 0))
            same = self._answering.get(digest, [])
            seconds.update((digest, second) for second in _meant(same, request))
        for algorithm, end in unknown.items():
            found.update(number for _, number in self._unknown.get(algorithm, [])[:end])
        for digest, second in seconds:
            found.update(_in_second(self._answering[digest], second))
        return found


def _meant(same: _Captures, request: PinRequest) -> Iterator[str]:
    """The seconds of the captures with a request's digest that a tool would take.

    pywb asks for the nearest capture with that digest; older tools for the one before.
    """
    if not same:
        return
    before = bisect_right(same, (request.own_second, _AFTER_ALL))
    yield same[max(before - 1, 0)][0]
    if request.wanted_second is not None:
        # On both sides: one of them is the nearest.
        at = bisect_left(same, (request.wanted_second, -1))
        yield from (second for second, _ in same[max(at - 1, 0) : at + 1])


def _in_second(captures: _Captures, second: str) -> Iterator[int]:
    """All captures of one second: which of them a tool would take is unknown."""
    start = bisect_left(captures, (second, -1))
    end = bisect_right(captures, (second, _AFTER_ALL))
    yield from (number for _, number in captures[start:end])


def _answers(address: Address) -> set[str]:
    return {address.digest, *(address.also.split(",") if address.also else ())}


def _shown(address: Address) -> str:
    """The digest by which tools that compute none know a capture: that which it declares."""
    return address.also.rpartition(",")[2] if address.also else address.digest


def _algorithm(digest: str) -> str:
    """Of a digest as lines have it; of what is none, something that no capture has."""
    return digest.partition(":")[0]


def pins_by_id(
    lines: Iterable[ManifestLine], requests: Iterable[PinRequest], space: SortSpace
) -> Iterator[int]:
    """The numbers of the full records whose record id a revisit names."""
    ids = (request.record_id for request in requests if request.record_id is not None)
    wanted = sort_outside_memory(ids, space=space)
    records = sort_outside_memory(
        (
            (line.record_id, number)
            for number, line in enumerate(lines)
            if line.record_id is not None and line.type != "revisit"
        ),
        space=space,
    )
    record = next(records, None)
    for record_id, _ in groupby(wanted):
        while record is not None and record[0] < record_id:
            record = next(records, None)
        while record is not None and record[0] == record_id:
            yield record[1]
            record = next(records, None)


def estimate_request_bytes(request: PinRequest) -> int:
    """About what a request takes in memory."""
    return 500 + len(request.prefix)
