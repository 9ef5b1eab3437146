"""What only the whole collection can show of a capture: can it be addressed, is it pinned.

A manifest is read once and joined three times, each join a sort outside memory: by urlkey
and second for captures that clash, by urlkey for what revisits refer to, by record id.
Replay looks up by urlkey, so everything here is judged by urlkey: `http` and `https`,
`www.` and none, any order of the query are one address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .clusters import CLASH, PINNED, SHARED, parse_flags
from .pins import (
    FULL,
    REVISIT,
    SKIPPED,
    Address,
    PinRequest,
    estimate_request_bytes,
    pins_by_id,
    request_of,
    watch_for_pins,
)

Flag = tuple[int, int]
"""Number of the line in the manifest, flags."""


def flag_lines(
    lines: Iterable[ManifestLine], *, space: SortSpace = DEFAULT_SPACE
) -> Iterator[tuple[ManifestLine, int]]:
    """Yield every line in the order given, with its flags (`clusters.FLAGS`).

    Reads all of `lines` before the first is yielded.  Flags that a line carries in `marks`
    are kept.  Memory: a few times `space`.
    """
    requests: Spool[PinRequest] = Spool(space=space, item_bytes=estimate_request_bytes)
    with Spool(space=space, item_bytes=estimate_line_bytes) as spool, requests:
        addresses = sort_outside_memory(
            _addresses(lines, spool, requests), space=space, item_bytes=_address_bytes
        )
        flags = sort_outside_memory(
            _all_flags(addresses, spool, requests, space), space=space, item_bytes=_flag_bytes
        )
        yield from _flagged(spool, flags)


def flag_urlkey(
    lines: Iterable[ManifestLine], requests: Spool[PinRequest]
) -> Iterator[tuple[ManifestLine, int]]:
    """The same for the captures of one urlkey, in order of their seconds, which all can read.

    `requests` are those of all revisits that refer to the urlkey.  Pins by record id are not
    among the flags.
    """
    with Spool(item_bytes=estimate_line_bytes) as spool:
        addresses = (
            _address_of(number, line, second_of(line.date) or "")
            for number, line in _kept(lines, spool)
        )
        found = _clashes_and_pins(addresses, requests, DEFAULT_SPACE)
        flags = sort_outside_memory(found, item_bytes=_flag_bytes)
        yield from _flagged(spool, flags)


def _flagged(
    lines: Iterable[ManifestLine], found: Iterator[Flag]
) -> Iterator[tuple[ManifestLine, int]]:
    """The lines with these flags, in order, and those that they carry."""
    flags_of = FlagsInOrder(found)
    for number, line in enumerate(lines):
        flags = flags_of.take(number) if number >= flags_of.next else 0
        if line.marks is not None:
            flags |= parse_flags(line.marks)
        if line.inner_offset:
            flags |= SHARED
        yield line, flags


def _kept(
    lines: Iterable[ManifestLine], spool: Spool[ManifestLine]
) -> Iterator[tuple[int, ManifestLine]]:
    for number, line in enumerate(lines):
        spool.append(line)
        yield number, line


def _address_of(number: int, line: ManifestLine, second: str) -> Address:
    full = FULL if line.skip is None else SKIPPED
    return Address(
        f"{urlkey(line.target_uri)} {second}",
        number,
        REVISIT if line.type == "revisit" else full,
        line.digest,
        line.hash_extension,
        line.also,
    )


def _addresses(
    lines: Iterable[ManifestLine], spool: Spool[ManifestLine], requests: Spool[PinRequest]
) -> Iterator[Address]:
    for number, line in _kept(lines, spool):
        second = second_of(line.date)
        if line.type == "revisit":
            requests.append(request_of(line, second))
        if second is not None:
            yield _address_of(number, line, second)


def _all_flags(
    addresses: Iterator[Address],
    spool: Iterable[ManifestLine],
    requests: Spool[PinRequest],
    space: SortSpace,
) -> Iterator[Flag]:
    # All lines are read, and `requests` filled, when the first address comes.
    first = next(addresses, None)
    ordered = addresses if first is None else chain((first,), addresses)
    if not requests:
        yield from clashes(ordered)
        return
    yield from _clashes_and_pins(ordered, requests, space)
    yield from ((number, PINNED) for number in pins_by_id(spool, requests, space))


def _clashes_and_pins(
    addresses: Iterable[Address], requests: Spool[PinRequest], space: SortSpace
) -> Iterator[Flag]:
    """What sorted addresses show; the pinned captures are known when all have been drawn."""
    with Spool[int](space=space, item_bytes=_number_bytes) as pinned:
        yield from clashes(watch_for_pins(addresses, requests, pinned, space))
        yield from ((number, PINNED) for number in pinned)


def clashes(addresses: Iterable[Address]) -> Iterator[Flag]:
    """Flag the full captures that share urlkey and second with another body.

    Needs `addresses` sorted.  A capture that takes no part counts as another body, since it
    was not compared; a revisit does, unless it declares a digest of this one.
    """
    previous: Address | None = None
    shared: _SharedAddress | None = None
    for address in addresses:
        if previous is not None and address.key == previous.key:
            if shared is None:
                shared = _SharedAddress()
                yield from shared.add(previous)
            yield from shared.add(address)
        elif shared is not None:
            shared = None
        previous = address


class _SharedAddress:
    """The captures of one urlkey and second: flagged as soon as two of them clash."""

    def __init__(self) -> None:
        self._body: tuple[str, int | None] | None = None
        self._answers: frozenset[str] = frozenset()
        self._revisits: set[str] = set()
        self._clash = False
        self._waiting: list[int] = []

    def add(self, address: Address) -> Iterator[Flag]:
        """Take one more capture; yield the flags that are due now."""
        if address.kind == FULL:
            self._waiting.append(address.number)
        self._clash = self._clash or self._is_another(address)
        if self._clash:
            yield from ((number, CLASH) for number in self._waiting)
            self._waiting = []

    def _is_another(self, address: Address) -> bool:
        if address.kind == SKIPPED:
            return True
        if address.kind == REVISIT:
            self._revisits.add(address.digest)
        elif self._body is None:
            self._body = (address.digest, address.extension)
            self._answers = frozenset({address.digest, *(address.also or "").split(",")})
        elif self._body != (address.digest, address.extension):
            return True
        return self._body is not None and not self._answers.issuperset(self._revisits)


class FlagsInOrder:
    """Flags in order of line number, several to a line, looked up while counting up.

    `next` is the number of the next line that has any.
    """

    def __init__(self, flags: Iterator[Flag]) -> None:
        self._groups = groupby(flags, key=itemgetter(0))
        self.next = 0
        self._flags = 0
        self._advance()

    def _advance(self) -> None:
        entry = next(self._groups, None)
        if entry is None:
            self.next = 1 << 62
            return
        self.next = entry[0]
        self._flags = 0
        for _, flag in entry[1]:
            self._flags |= flag

    def take(self, number: int) -> int:
        """The flags of this line; 0 where it has none."""
        if number != self.next:
            return 0
        flags = self._flags
        self._advance()
        return flags


def _address_bytes(address: Address) -> int:
    return 400 + len(address.key)


def _flag_bytes(_: Flag) -> int:
    return 120


def _number_bytes(_: int) -> int:
    return 40
