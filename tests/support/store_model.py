"""What a store that dedupes by crawls must come to, in the fewest lines; see docs/dedupe.md."""

from __future__ import annotations

from manifest_sets import (
    Place,
    content_of,
    decisions_in,
    fit,
    is_addressable,
    order_of,
    pinned_places,
    processed,
)

from pinakes.index.manifest import ManifestLine, place_of


class StoreModel:
    """What has landed, and what became of it."""

    def __init__(self) -> None:
        self.lines: list[ManifestLine] = []
        self.refers: dict[Place, Place] = {}
        self.late: set[Place] = set()
        self.late_arrivals = 0

    def land(self, crawl: list[ManifestLine]) -> None:
        known = {place_of(line) for line in self.lines}
        for line in filter(fit, crawl):
            content = [o for o in self.lines if fit(o) and content_of(o) == content_of(line)]
            if any(order_of(line) < order_of(other) for other in content):
                self.late.add(place_of(line))
                self.late_arrivals += 1
        self.lines += crawl
        # A revisit whose target has become a revisit: the target is restored first.
        for place in pinned_places(self.lines):
            self.refers.pop(place, None)
        # One whose original cannot be addressed any more, too.
        by_place = {place_of(line): line for line in self.lines}
        for place, target in list(self.refers.items()):
            if not is_addressable(by_place[target], self.lines):
                del self.refers[place]
        settled = set(self.refers.values())
        marked = [self._seen(line, known, settled) for line in self.lines]
        for place, target in decisions_in(processed(marked)).items():
            if target is not None:
                self.refers[place] = target

    def _seen(self, line: ManifestLine, known: set[Place], settled: set[Place]) -> ManifestLine:
        place = place_of(line)
        if place in self.refers:
            original = self.refers[place]
            target = next(line for line in self.lines if place_of(line) == original)
            return line._replace(
                type="revisit", refers_uri=target.target_uri, refers_date=target.date
            )
        marks = {"settled": place in settled, "known": place in known, "late": place in self.late}
        return line._replace(marks=",".join(name for name in marks if marks[name]) or None)
