"""What only the whole collection can tell of a capture: can it be addressed, is it pinned.

Captures that share urlkey and second may clash, captures of a urlkey that a revisit refers to
may be pinned, and records whose id it names are: these are looked for in columns, and judged
here.  Replay looks up by urlkey, so everything is judged by urlkey: `http` and `https`,
`www.` and none, any order of the query are one address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .capture_table import CaptureTable, line_of, text_of
from .clusters import CLASH, PINNED, parse_flags
from .pins import (
    FULL,
    REVISIT,
    SKIPPED,
    Address,
    PinRequest,
    estimate_request_bytes,
    request_of,
    watch_for_pins,
)

Flag = tuple[int, int]
"""Number of the line, flags."""
_FLAG_BYTES = 120
_NUMBER_BYTES = 40


def flag_lines(
    lines: Iterable[ManifestLine], *, space: SortSpace = DEFAULT_SPACE
) -> Iterator[tuple[ManifestLine, int]]:
    """Yield every line in the order given, with its flags (`clusters.FLAGS`).

    Reads all of `lines` before the first is yielded.  Flags that a line carries in `marks`
    are kept.  Memory: that of a `CaptureTable`.
    """
    with CaptureTable(space) as table:
        table.load(lines)
        flag_captures(table, space)
        for line, flags in table.rows("SELECT line, flags FROM flagged ORDER BY n"):
            yield line_of(line), flags


def flag_captures(table: CaptureTable, space: SortSpace) -> None:
    """A view `flagged`: the captures, with the flags of those that clash or are pinned raised."""
    table.create("raised", {"n": "int64", "flag": "int64"})
    table.insert_rows("raised", clashes(_shared_addresses(table)))
    if table.has_revisits:
        table.execute(
            "INSERT INTO raised SELECT n, $pinned FROM captures WHERE NOT is_revisit AND "
            "record_id IN (SELECT refers_id FROM captures WHERE is_revisit "
            "AND refers_id IS NOT NULL)",
            pinned=PINNED,
        )
        _pin_requested(table, space)
    table.execute(
        "CREATE VIEW flagged AS SELECT captures.* REPLACE "
        "(captures.flags | coalesce(found.flags, 0) AS flags) FROM captures "
        "LEFT JOIN (SELECT n, bit_or(flag) AS flags FROM raised GROUP BY n) AS found USING (n)"
    )


def _shared_addresses(table: CaptureTable) -> Iterator[Address]:
    """The captures that share urlkey and second with another, those of a place together."""
    rows = table.rows(
        "SELECT urlkey, second, n, line, extension FROM captures SEMI JOIN "
        "(SELECT urlkey, second FROM captures WHERE second IS NOT NULL "
        "GROUP BY ALL HAVING count(*) > 1) USING (urlkey, second) ORDER BY urlkey, second, n"
    )
    yield from map(_address, rows)


def _pin_requested(table: CaptureTable, space: SortSpace) -> None:
    """Pin what revisits refer to by URI and second, or by digest."""
    with Spool[PinRequest](space=space, item_bytes=estimate_request_bytes) as requests:
        for (stored,) in table.rows("SELECT line FROM captures WHERE is_revisit"):
            line = line_of(stored)
            requests.append(request_of(line, second_of(line.date)))
        table.create("requested", {"urlkey": "text"})
        table.insert_rows("requested", ((request.prefix[:-1],) for request in requests))
        rows = table.rows(
            # In the order of `Address.key`.
            "SELECT urlkey, second, n, line, extension FROM captures "
            "SEMI JOIN requested USING (urlkey) WHERE second IS NOT NULL "
            "ORDER BY urlkey || encode(' ' || second), n"
        )
        with Spool[int](space=space, item_bytes=lambda _: _NUMBER_BYTES) as pinned:
            for _ in watch_for_pins(map(_address, rows), requests, pinned, space):
                pass
            table.insert_rows("raised", ((number, PINNED) for number in pinned))


def _address(row: tuple[bytes, int, int, bytes, int | None]) -> Address:
    key, second, number, stored, extension = row
    line = line_of(stored)
    return _address_at(f"{text_of(key)} {second}", number, line._replace(hash_extension=extension))


def flag_urlkey(
    lines: Iterable[ManifestLine],
    requests: Spool[PinRequest],
    *,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[tuple[ManifestLine, int]]:
    """The same for the captures of one urlkey, in order of their seconds, which all can read.

    `requests` are those of all revisits that refer to the urlkey.  Pins by record id are not
    among the flags.
    """
    with Spool(space=space, item_bytes=estimate_line_bytes) as spool:
        addresses = (
            _address_of(number, line, second_of(line.date) or "")
            for number, line in _kept(lines, spool)
        )
        found = _clashes_and_pins(addresses, requests, space)
        flags = sort_outside_memory(found, space=space, item_bytes=lambda _: _FLAG_BYTES)
        flags_of = FlagsInOrder(flags)
        for number, line in enumerate(spool):
            raised = flags_of.take(number) if number >= flags_of.next else 0
            yield line, raised | (parse_flags(line.marks) if line.marks else 0)


def _kept(
    lines: Iterable[ManifestLine], spool: Spool[ManifestLine]
) -> Iterator[tuple[int, ManifestLine]]:
    for number, line in enumerate(lines):
        spool.append(line)
        yield number, line


def _address_of(number: int, line: ManifestLine, second: str) -> Address:
    return _address_at(f"{urlkey(line.target_uri)} {second}", number, line)


def _address_at(key: str, number: int, line: ManifestLine) -> Address:
    full = FULL if line.skip is None else SKIPPED
    kind = REVISIT if line.type == "revisit" else full
    return Address(key, number, kind, line.digest, line.hash_extension, line.also)


def _clashes_and_pins(
    addresses: Iterable[Address], requests: Spool[PinRequest], space: SortSpace
) -> Iterator[Flag]:
    """What sorted addresses tell; who is pinned is known when all of them have been drawn."""
    with Spool[int](space=space, item_bytes=lambda _: _NUMBER_BYTES) as pinned:
        yield from clashes(watch_for_pins(addresses, requests, pinned, space))
        yield from ((number, PINNED) for number in pinned)


def clashes(addresses: Iterable[Address]) -> Iterator[Flag]:
    """Flag the full captures that share urlkey and second with another body.

    Needs `addresses` sorted.  A capture that takes no part counts as another body, since
    nobody compared it; a revisit does, unless it declares a digest of this one.
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
