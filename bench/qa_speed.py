"""Rendering QA measured: looks, comparisons, pairs, memory.  Run by `make bench-qa`.

    python -m bench.qa_speed [--pages 40] [--processes 2] [--looks 20] [--memory 1000]
        [--browser NAME ...]

Prints a table with the limit of each figure; exit code 1 where a limit is not kept.  What it
measures is this machine as busy as it is: the load is printed beside.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import mean, median

from bench.__main__ import commit, machine
from bench.cache import cache_dir
from bench.cases import pinakes
from bench.measure import run_step
from bench.qa_site import CRAWLS, DATES, SITE, make_store
from pinakes.config import load_configuration, user_folder
from pinakes.errors import PinakesError
from pinakes.profile import Stores, open_stores
from pinakes.qa.browsers.browser_list import BROWSERS, installed
from pinakes.qa.browsers.processes import processes_of
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.compare.pairs import LoadedSnapshot, compare_pair, features, reasons
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views.side import ReplaySide

MOMENT = datetime.fromisoformat(DATES[1].replace("Z", "+00:00"))
COMPARISON_LIMIT_MS = 100.0
LOOKED_AT_LIMIT_S, PROVEN_LIMIT_S = 1.0, 0.2
CRAWL_PAGES = 10_000
GROWTH_LIMIT = 1.25
"""Memory at the last page to that at page 100: what is called no growth."""


class Table:
    """Lines as they become known; `kept` is whether all limits were."""

    def __init__(self) -> None:
        self.kept = True

    def line(self, name: str, figure: str, limit: str = "", *, within: bool = True) -> None:
        self.kept &= within
        verdict = "" if not limit else ("  ok" if within else "  NOT KEPT")
        print(f"{name:<50}{figure:<56}{limit}{verdict}", flush=True)


def main() -> int:
    """Make the site where it is missing, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.qa_speed", description=__doc__)
    parser.add_argument("--pages", type=int, default=40, help="of the site (40)")
    parser.add_argument("--processes", default="2", help="of a run (2)")
    parser.add_argument("--looks", type=int, default=20, help="by each browser (20); 0: none")
    parser.add_argument("--memory", type=int, default=1_000, help="pages looked at for it; 0: none")
    parser.add_argument("--browser", action="append", help="of the list; default: all there are")
    parser.add_argument("--skip-pairs", action="store_true", help="measure no run")
    options = parser.parse_args()
    table = Table()
    print(f"{machine()}\ncommit {commit()}; load {os.getloadavg()[0]:.1f}; {options.pages} pages\n")
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="qa-") as name:
        folder = Path(name)
        make_store(folder, options.pages)
        if options.looks:
            with open_stores(configuration_of(folder)) as stores:
                seen = looks(stores, folder, options, table)
            comparisons(seen, table)
        if not options.skip_pairs:
            pairs(folder, options.pages, options.processes, table)
        if options.memory:
            with open_stores(configuration_of(folder)) as stores:
                memory(stores, folder, options.memory, options.pages, table)
    print(f"\nload {os.getloadavg()[0]:.1f}")
    return 0 if table.kept else 1


def configuration_of(folder: Path):  # type: ignore[no-untyped-def]
    """What `pinakes` reads in that folder."""
    options = {"store": str(folder / "pinakes-store")}
    return load_configuration(options=options, environment={}, folder=folder)


def there() -> list[str]:
    """The browsers of the list that are installed."""
    found = []
    for browser in BROWSERS:
        try:
            installed(browser, user_folder("cache") / "browsers")
        except PinakesError as error:
            print(f"absent: {browser.name}: {error}")
        else:
            found.append(browser.name)
    return found


@contextmanager
def side_of(stores: Stores, name: str, generation: str = "current") -> Iterator[Sided]:
    """A browser behind a replay of its own."""
    with ExitStack() as stack:
        proxy = stack.enter_context(ReplayProxy(stores.rows, stores.archive))
        replay = proxy.open_session(generation)  # type: ignore[arg-type]
        at = Proxy(host=replay.host, port=replay.port)
        session = stack.enter_context(open_browser(name, at, Viewport()))
        yield Sided(ReplaySide(generation, replay, session), session)


class Sided:
    """A side, and the session in it."""

    def __init__(self, side: ReplaySide, session: Session) -> None:
        self.side = side
        self.session = session

    def look(self, page: int, folder: Path) -> tuple[LoadedSnapshot, float]:
        """A page, and the seconds that it took; an incomplete one ends the bench."""
        began = time.perf_counter()
        looked = self.side.visit(f"{SITE}/{page}", MOMENT, folder / "images")
        took = time.perf_counter() - began
        snapshot = looked.loaded.snapshot
        if snapshot.outcome is not Outcome.COMPLETE or snapshot.image is None:
            raise SystemExit(f"{snapshot.url}: {snapshot.outcome.value}: {snapshot.reasons}")
        if snapshot.pictures is None or snapshot.pictures.broken or snapshot.pictures.total != 10:
            raise SystemExit(f"{snapshot.url}: not all pictures are there: {snapshot.pictures}")
        return looked.loaded, took

    def processor_s(self) -> float:
        """Seconds of processors that this process and the browser's have used."""
        tab = self.session._tab
        group = processes_of(tab.process_session) if tab is not None else []
        ticks = sum(map(_ticks, group))
        return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def looks(
    stores: Stores, folder: Path, options: argparse.Namespace, table: Table
) -> dict[str, list[LoadedSnapshot]]:
    """Seconds per snapshot, image decoded and all, by browser; what the first browser saw."""
    seen: dict[str, list[LoadedSnapshot]] = {}
    for name in options.browser or there():
        with side_of(stores, name) as sided:
            sided.look(0, folder)  # the browser's start, and what it asks for itself
            before_s = sided.processor_s()
            found = [sided.look(n % options.pages, folder) for n in range(options.looks)]
            used_s = (sided.processor_s() - before_s) / len(found)
        seconds = [took for _, took in found]
        figure = f"{mean(seconds):.2f} (median {median(seconds):.2f}, most {max(seconds):.2f})"
        table.line(f"seconds per snapshot, {name}", f"{figure}; of processors {used_s:.2f}")
        seen[name] = [one for one, _ in found]
    return seen


def comparisons(seen: dict[str, list[LoadedSnapshot]], table: Table) -> None:
    """Milliseconds of a comparison: a page and itself, and two different pages."""
    for name, all_seen in list(seen.items())[:1]:
        for kind, offset in (("the same page", 0), ("two pages", 1)):
            taken, used_s = [], time.process_time()
            for number, one in enumerate(all_seen):
                other = all_seen[(number + offset) % len(all_seen)]
                began = time.perf_counter()
                comparison = compare_pair(one, other)
                features(comparison)
                reasons(comparison)
                taken.append(1000 * (time.perf_counter() - began))
            used_ms = 1000 * (time.process_time() - used_s) / len(taken)
            spread = f"{mean(taken):.0f} (median {median(taken):.0f}, most {max(taken):.0f})"
            table.line(
                f"ms per comparison, {kind}, {name}",
                f"{spread}; of processors {used_ms:.0f}",
                f"mean <= {COMPARISON_LIMIT_MS:.0f}",
                within=mean(taken) <= COMPARISON_LIMIT_MS,
            )


def pairs(folder: Path, pages: int, processes: str, table: Table) -> None:
    """Seconds per pair, end to end: `qa run`, from its start to its end."""
    for words, name, limit_s in (
        (("--look-twice",), "both looked at", LOOKED_AT_LIMIT_S),
        ((), "proven by bytes", PROVEN_LIMIT_S),
    ):
        output = f"run{len(words)}"
        asked = ("qa", "run", CRAWLS[1], "--size", str(pages), "-j", processes, *words)
        cost = run_step(pinakes(*asked, "-o", output), folder)
        done = sum(1 for _ in (folder / output / "pairs.jsonl").open())
        each = cost.wall_s / max(done, 1)
        table.line(
            f"seconds per pair, {done} pairs, -j {processes}, {name}",
            f"{each:.2f} ({cost.wall_s:.0f} s in all, chromium)",
            f"<= {limit_s}",
            within=done >= pages and each <= limit_s,
        )
        table.line(
            f"pages a minute, {name}",
            f"{60 / each:,.0f}; {CRAWL_PAGES:,} take {CRAWL_PAGES * each / 3600:.1f} h (reckoned)",
        )


def memory(stores: Stores, folder: Path, looked: int, pages: int, table: Table) -> None:
    """Resident memory of this process, and of the browser's, as pages go by."""
    own: dict[int, int] = {}
    theirs: dict[int, int] = {}
    marks = {100, 200, *range(0, looked + 1, max(1, looked // 10))}
    with side_of(stores, "chromium") as sided:
        for number in range(1, looked + 1):
            sided.look(number % pages, folder)
            if number in marks or number == looked:
                own[number] = resident_bytes([os.getpid()])
                tab = sided.session._tab
                group = processes_of(tab.process_session) if tab is not None else []
                theirs[number] = resident_bytes(group)
                print(
                    f"page {number:,}: this process {own[number] >> 20} MB, "
                    f"the browser {theirs[number] >> 20} MB",
                    flush=True,
                )
    first = min(own) if looked < 100 else 100
    for name, found, growth in (("this process", own, True), ("the browser", theirs, False)):
        quotient = found[looked] / found[first]
        table.line(
            f"memory of {name}, page {looked:,} to page {first:,}",
            f"{quotient:.2f} ({found[first] >> 20} -> {found[looked] >> 20} MB)",
            f"<= {GROWTH_LIMIT}" if growth else "replaced every 200 pages",
            within=quotient <= GROWTH_LIMIT or not growth,
        )


def resident_bytes(processes: Sequence[int]) -> int:
    """What they hold, shared pages by their share (`Pss`)."""
    total = 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it has ended
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def _ticks(process: int) -> int:
    """Its own, and those of children that it waited for: proc(5), fields 14 to 17."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


if __name__ == "__main__":
    sys.exit(main())
