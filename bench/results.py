"""What came out of a run, as a table for people and as JSON.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bench.cases import Case
from bench.measure import Cost, Spread, ratios, spread


@dataclass(slots=True, kw_only=True)
class Outcome:
    """One case: its costs, round by round, with those of what it is divided by; or why none."""

    case: Case
    costs: list[Cost] = field(default_factory=list)
    floors: list[Cost] = field(default_factory=list)
    why_not: str | None = None

    def cpu(self) -> Spread:
        """CPU time as multiples of the floor."""
        return ratios([c.cpu_s for c in self.costs], [f.cpu_s for f in self.floors])

    def wall(self) -> Spread:
        """Wall time as multiples of the floor; for a speed-up, how many times faster."""
        walls, floors = [c.wall_s for c in self.costs], [f.wall_s for f in self.floors]
        return ratios(floors, walls) if self.case.at_least else ratios(walls, floors)

    def peak_bytes(self) -> int:
        """The highest resident memory of any round."""
        return max(cost.peak_bytes for cost in self.costs)

    def limit(self) -> str:
        """The limit in words, empty where there is none."""
        case = self.case
        if case.at_least:
            return f"wall ≥ {case.at_least:g} × faster"
        if case.peak_limit:
            return f"< {case.peak_limit / 1e6:g} MB"
        return f"CPU ≤ {case.limit:.2f}" if case.limit else ""

    def verdict(self) -> str:
        """Tell whether the limit is kept, by the median; empty where there is none."""
        case = self.case
        if case.at_least:
            kept = self.wall().middle >= case.at_least
        elif case.peak_limit:
            kept = self.peak_bytes() < case.peak_limit
        elif case.limit:
            kept = self.cpu().middle <= case.limit
        else:
            return ""
        return "kept" if kept else "MISSED"


HEAD = ("work", "CPU × floor", "wall × floor", "CPU s", "µs/record", "peak MB", "limit", "")


def row(outcome: Outcome, records: int) -> tuple[str, ...]:
    """Return the cells of one line of the table; `records` of the corpus, whatever their type."""
    name = outcome.case.name
    if outcome.why_not is not None:
        return (name, outcome.why_not, *[""] * (len(HEAD) - 2))
    seconds = spread([cost.cpu_s for cost in outcome.costs]).middle
    end = (f"{outcome.peak_bytes() / 1e6:.0f}", outcome.limit(), outcome.verdict())
    if outcome.case.corpus_mb:  # other input than the floor's: no quotient
        return (name, "", "", f"{seconds:.2f}", "", *end)
    cpu, wall = written(outcome.cpu()), written(outcome.wall())
    return (name, cpu, wall, f"{seconds:.2f}", f"{1e6 * seconds / records:.0f}", *end)


def written(figures: Spread) -> str:
    """Write a spread as `median (min–max)`."""
    return f"{figures.middle:.2f} ({figures.least:.2f}–{figures.most:.2f})"


def table(outcomes: Sequence[Outcome], records: int) -> str:
    """Lay the outcomes out as one Markdown table, a line of its own for each group's name."""
    lines: list[tuple[str, ...]] = []
    group = ""
    for outcome in outcomes:
        if outcome.case.group != group:
            group = outcome.case.group
            lines.append((f"**{group}**", *[""] * (len(HEAD) - 1)))
        lines.append(row(outcome, records))
    widths = [max(len(line[i]) for line in (HEAD, *lines)) for i in range(len(HEAD))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(laid_out(line, widths) for line in (HEAD, rule, *lines))


def laid_out(cells: Iterable[str], widths: Sequence[int]) -> str:
    """Return one line of the table, its columns aligned."""
    return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"


def as_json(outcome: Outcome) -> dict[str, object]:
    """Return an outcome's figures, each round's, as JSON values."""
    return {
        "name": outcome.case.name,
        "group": outcome.case.group,
        "floor": outcome.case.floor,
        "why_not": outcome.why_not,
        "cpu_s": [cost.cpu_s for cost in outcome.costs],
        "wall_s": [cost.wall_s for cost in outcome.costs],
        "peak_bytes": [cost.peak_bytes for cost in outcome.costs],
        "floor_cpu_s": [cost.cpu_s for cost in outcome.floors],
        "floor_wall_s": [cost.wall_s for cost in outcome.floors],
        "limit": outcome.limit(),
        "verdict": outcome.verdict() if outcome.costs else "",
    }
