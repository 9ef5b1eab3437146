"""One content decided in parts, none of which has all its captures.

Pure.  Of a content with a hundred million copies a decision depends on a few: the first, the
first that can be addressed, and, of those that stay full in every case (pinned,
settled, by a policy), the first two of a kind at two addresses.  `ContentCluster` takes no
other for an original, so who knows these *leaders* decides on any of the captures as if all
were there.  Only the copy numbers of a part are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes.index.manifest import ManifestLine

from .clusters import ALWAYS_FULL, OFFERED, UNADDRESSABLE, WAITS, Candidate, is_preferred
from .counting import ProcessCount
from .entries import Clusters, Entry, Group, decide_entry, group_of, offer_entry

Order = tuple[str, str, int, int]
"""Second, file, offset, inner offset."""


def order_of(entry: Entry) -> Order:
    """Where an entry stands among those of its content."""
    return entry[2:6]


class Leaders:
    """The leaders among entries of one content, that come in any order, some of them twice.

    Those of a whole are the leaders among the leaders of its parts.  Memory: six entries for
    each group.
    """

    def __init__(self) -> None:
        self._groups: dict[Group, _GroupLeaders] = {}

    def add(self, entry: Entry) -> None:
        """Take one more entry."""
        group = group_of(entry[8])
        leaders = self._groups.get(group)
        if leaders is None:
            leaders = self._groups[group] = _GroupLeaders()
        leaders.add(entry)

    def entries(self) -> list[Entry]:
        """The leaders of all groups, in order."""
        found = {order_of(e): e for leaders in self._groups.values() for e in leaders.entries()}
        return [found[order] for order in sorted(found)]


class _GroupLeaders:
    """The leaders of one group."""

    def __init__(self) -> None:
        self._first: Entry | None = None
        self._addressable: Entry | None = None
        self._preferred: list[Entry] = []
        self._others: list[Entry] = []

    def add(self, entry: Entry) -> None:
        flags = entry[7]
        if self._first is None or order_of(entry) < order_of(self._first):
            self._first = entry
        if flags & (UNADDRESSABLE | WAITS):
            return
        if self._addressable is None or order_of(entry) < order_of(self._addressable):
            self._addressable = entry
        if flags & (ALWAYS_FULL | OFFERED):
            _keep_two(self._preferred if is_preferred(flags) else self._others, entry)

    def entries(self) -> Iterator[Entry]:
        for entry in (self._first, self._addressable, *self._preferred, *self._others):
            if entry is not None:
                yield entry


def _keep_two(kept: list[Entry], entry: Entry) -> None:
    """The first, and the first after it at another address."""
    if len(kept) > 1 and order_of(entry) > order_of(kept[1]):
        return
    first, *others = sorted((*kept, entry), key=order_of)
    address = Candidate(first[2], first[8].target_uri, None)
    others = [one for one in others if not address.is_at(one[2], one[8].target_uri)]
    kept[:] = [first, *others[:1]]


def decide_part(
    leaders: Iterable[Entry], entries: Iterable[Entry], count: ProcessCount
) -> Iterator[ManifestLine]:
    """The lines of some entries of a content, decided as if all the others were there, too.

    Both in order.  A copy number above 1 counts within this part: it says that the line is
    no original, and no more.  Entries about one record have to be in one part: the first of
    them is taken.
    """
    clusters: Clusters = {}
    waiting = iter(leaders)
    leader = next(waiting, None)
    place: tuple[str, int, int] | None = None
    for entry in entries:
        if place == entry[3:6]:
            count.repeated += 1
            continue
        place = entry[3:6]
        while leader is not None and order_of(leader) <= order_of(entry):
            if order_of(leader) < order_of(entry):
                offer_entry(leader, clusters)
            leader = next(waiting, None)
        line = decide_entry(entry, clusters, count)
        if line is not None:
            yield line
