"""Faults and noise, judged by the product's own judge in Chromium: one command.

    python -m bench.qa_faults --folder FOLDER [--pages 2] [--faults 6] [--workers 2]

Fetches packages into FOLDER/sites and looks at their pages: each as it is, twice; with a noise,
twice; with so many faults, beside the page as it is; with a fault and a noise beside the same
noise.  A line a pair goes to FOLDER/judged-N.jsonl; a run that was stopped goes on behind its
last page.  Nothing is trained, so no site is held out.  Prints tables, with Wilson's intervals of
95%.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.qa_accuracy.sites import SITES
from bench.qa_faults.grammar import FAMILIES
from bench.qa_faults.noise import KINDS, noisy
from bench.qa_training.held_out import AREAS, wilson
from bench.qa_training.in_processes import in_processes
from bench.qa_training.looks import LIMITS, in_turns, read_lines
from bench.qa_training.packages import fetch_all
from bench.qa_training.recorded import PackagedSite, Page
from bench.qa_training.serving import MOMENT, Shown
from pinakes.catalog.pages import PageCapture as CataloguedPage
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.compare.arrays_extra import cv2, np
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.server import LOOPBACK
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import Pair
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Snapshot
from pinakes.qa.views.side import Visit, load_snapshot

SEED = 22
LEAST_SEEN = 150
"""Pixels at full size from which a fault counts as seen; or the text is another."""
_BROWSER = "chromium"


class _Side:
    """A view that answers from a page's records."""

    browser = _BROWSER

    def __init__(self, kind: str, authority: Authority, stack: ExitStack) -> None:
        self.kind = kind
        self._shown = Shown(authority)
        stack.callback(self._shown.close)
        proxy = Proxy(host=LOOPBACK, port=self._shown.port)
        session: Session = open_browser(_BROWSER, proxy, Viewport(), limits=LIMITS)
        self._session = stack.enter_context(session)
        self.first: Snapshot | None = None
        self._page: tuple[PackagedSite, Page] | None = None

    def show(self, site: PackagedSite, page: Page) -> None:
        """What is looked at from now on."""
        self._page, self.first = (site, page), None

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """See `views.side.Side`."""
        assert self._page is not None
        site, page = self._page
        self._shown.show(site, page.records)
        snapshot = self._session.capture(url, pins=Pins(clock=MOMENT), folder=folder)
        self.first = self.first or snapshot
        return Visit(load_snapshot(snapshot, folder), None, 0)

    def asked(self) -> dict[str, Any]:
        """What the last look asked for, and is there."""
        return {url: record for url, record in self._shown.asked().items() if record is not None}


class _Trials:
    """One worker: two browsers, and the judge of the product."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        authority = Authority()
        self._folder = folder / "images"
        self._folder.mkdir(parents=True, exist_ok=True)
        kinds = ("replay:before", "replay:current")
        self._sides = [_Side(kind, authority, stack) for kind in kinds]
        self._judge = PageJudge(self._sides, self._folder, run="bench")

    def of_page(self, site: PackagedSite, url: str, faults: int) -> Iterator[dict[str, Any]]:
        """All pairs of a page."""
        own = site.record(url)
        if own is None:
            return
        dice = random.Random(f"{SEED} {url}")
        page = Page(url=url, records={url: own})
        yield self._pair(site, page, page, noise="", family="")
        page = Page(url=url, records={**self._sides[0].asked(), url: own})
        kind = dice.choice(KINDS)
        marks = dice.random()
        moving = noisy(kind, page, random.Random(marks))
        yield self._pair(site, moving, moving, noise=kind, family="")
        families = list(FAMILIES)
        dice.shuffle(families)
        made = ((name, FAMILIES[name](page, random.Random(dice.random()))) for name in families)
        found = [(name, harmed) for name, harmed in made if harmed is not None][:faults]
        quiet: dict[str, Any] = {}
        for name, harmed in found:
            quiet = self._pair(site, page, harmed, noise="", family=name)
            yield quiet
        if not found:
            return
        name, harmed = found[-1]
        both = noisy(kind, harmed, random.Random(marks))
        beside = self._pair(site, moving, both, noise=kind, family=name)
        # Whether the fault is seen is told by what it changes without the noise.
        yield {**beside, **{what: quiet[what] for what in ("pixels", "area", "text")}}

    def _pair(
        self, site: PackagedSite, mine: Page, theirs: Page, *, noise: str, family: str
    ) -> dict[str, Any]:
        for side, page in zip(self._sides, (mine, theirs), strict=True):
            side.show(site, page)
        catalogued = CataloguedPage(
            urlkey="-", second=f"{MOMENT:%Y%m%d%H%M%S}", url=mine.url, media_type="text/html",
            row_key=b"-",
        )  # fmt: skip
        drawn = SampledPage(page=catalogued, weight=1.0, is_always=False)
        [judged] = self._judge.judge(drawn, [Pair("before.chromium", "current.chromium")])
        first, other = (side.first for side in self._sides)
        assert first is not None
        assert other is not None
        pixels, area = self._changed(first, other)
        result = judged.result
        return {
            "site": site.name, "page": mine.url, "noise": noise, "family": family,
            "verdict": result.verdict.value, "model": result.model, "confidence": result.confidence,
            "reasons": result.reasons[:6], "pixels": pixels, "area": area,
            "text": first.text.split() != other.text.split(),
            "outcomes": [first.outcome.value, other.outcome.value],
            "images": [s.image.name if s.image else None for s in (first, other)],
        }  # fmt: skip

    def _changed(self, first: Snapshot, other: Snapshot) -> tuple[int, float]:
        """Pixels that differ between the first looks, at full size; and their share."""
        if first.image is None or other.image is None:
            return 0, 0.0
        one, two = (
            cv2.imdecode(np.frombuffer(read_image(self._folder, image), np.uint8), cv2.IMREAD_COLOR)
            for image in (first.image, other.image)
        )
        rows, columns = min(one.shape[0], two.shape[0]), min(one.shape[1], two.shape[1])
        whole = max(one.shape[0], two.shape[0]) * max(one.shape[1], two.shape[1])
        same = (one[:rows, :columns] == two[:rows, :columns]).all(axis=2).sum()
        return int(whole - same), float((whole - same) / whole)


def look(folder: Path, pages: int, faults: int, worker: int, workers: int) -> None:
    """One worker's pairs."""
    folders, _ = fetch_all(SITES, folder / "sites")
    sites = [PackagedSite(name, place) for name, place in folders.items()]
    random.Random(SEED).shuffle(sites)
    path = folder / f"judged-{worker}.jsonl"
    done = {line["page"] for line in read_lines(path)}
    with ExitStack() as stack, path.open("a", encoding="utf-8") as out:
        trials = _Trials(folder, stack)
        for number, (site, url) in enumerate(in_turns(sites, pages)):
            if number % workers == worker and url not in done:
                lines = list(trials.of_page(site, url, faults))
                out.writelines(json.dumps(line) + "\n" for line in lines)
                out.flush()


def report(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Tables of all pairs whose pages were shown to the end."""
    shown = [row for row in rows if row["outcomes"] == ["complete", "complete"]]
    plain = [row for row in shown if not row["family"]]
    seen = [row for row in shown if row["family"] and _is_seen(row)]
    quiet = [row for row in seen if not row["noise"]]
    counts = (len({row[name] for row in rows}) for name in ("site", "page"))
    found = ["{} sites, {} pages, {} pairs, {} not shown to the end".format(
        *counts, len(rows), len(rows) - len(shown))]  # fmt: skip
    found += _table("no fault: alarms", plain, lambda row: row["noise"] or "as it is")
    found += _table("seen faults: found", quiet, lambda row: row["family"])
    found += _table("seen faults: found, by changed pixels", quiet, _area)
    found += _table("faults beside noise: found", [r for r in seen if r["noise"]],
                    lambda row: row["noise"])  # fmt: skip
    unseen = [row for row in shown if row["family"] and not row["noise"] and not _is_seen(row)]
    found += _table("not seen: called dissimilar", unseen, lambda row: "all")
    return found


def _is_seen(row: dict[str, Any]) -> bool:
    return row["pixels"] >= LEAST_SEEN or row["text"]


def _area(row: dict[str, Any]) -> str:
    return next(name for most, name in AREAS if row["area"] < most)


def _table(
    title: str, rows: Sequence[dict[str, Any]], group: Callable[[dict[str, Any]], str]
) -> Iterator[str]:
    by: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by[group(row)].append(row["verdict"])
    yield f"\n{title}"
    for name, verdicts in [*sorted(by.items()), ("all", [row["verdict"] for row in rows])]:
        alarms, of = verdicts.count("dissimilar"), len(verdicts)
        low, high = wilson(alarms, of)
        unsure = verdicts.count("uncertain")
        yield f"  {name:30}{alarms:5} of {of:<5}{low:6.1%} - {high:6.1%}   uncertain {unsure}"


def main() -> None:
    """Do what is not done yet, and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.qa_faults", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=2, help="of a site (default 2)")
    parser.add_argument("--faults", type=int, default=6, help="of a page (default 6)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only-report", action="store_true", help="of the pairs that are there")
    given = parser.parse_args()
    folder, workers = given.folder, given.workers
    if not given.only_report:
        fetch_all(SITES, folder / "sites")
        each = [(folder, given.pages, given.faults, n, workers) for n in range(workers)]
        in_processes(look, each)
    files = sorted(folder.glob("judged-*.jsonl"))
    print("\n".join(report([row for file in files for row in read_lines(file)])))


if __name__ == "__main__":
    main()
