"""Pages of packaged sites looked at, as they are and with changes and faults in their records.

    OUT/looks-N.jsonl       a line a look, of worker N: `Taken`
    OUT/SITE/*.json         snapshots; images lie in OUT/images

Which looks a page gets is drawn by its URL and the seed; `pairs` makes pairs of them.  A run that
was stopped goes on behind the pages whose last line is there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.qa_training.kept_snapshots import write_snapshot
from bench.qa_training.recorded import PackagedSite, Page, Recorded
from bench.qa_training.serving import MOMENT, Shown
from pinakes.qa.browsers.page_scripts import Limits, Pins
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.server import LOOPBACK

LIMITS = Limits(load_s=8.0, quiet_s=2.0, page_s=40.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A look that was taken.  `variant` is reference, again, benign:KIND or fault:KIND."""

    site: str
    page: str
    browser: str
    variant: str
    dressing: str
    base: str
    """The variant of which it differs by a fault alone; itself where there is none."""
    snapshot: str
    payloads: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A look to be taken."""

    variant: str
    base: str
    page: Page
    browsers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a generator makes looks: the page as it is shown first, and then the others."""

    dressing: str
    reference: Page
    others: Callable[[Mapping[str, Recorded]], Iterator[Wanted]]
    """Given what was asked for of the site itself, and is there."""


Planning = Callable[[Page, random.Random], Plan]


class Looker:
    """A worker: its browsers, each behind a server of its own."""

    def __init__(self, browsers: Sequence[str], folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._shown: dict[str, Shown] = {}
        self._sessions: dict[str, Session] = {}
        authority = Authority()
        for name in browsers:
            shown = Shown(authority)
            self._stack.callback(shown.close)
            proxy = Proxy(host=LOOPBACK, port=shown.port)
            session = open_browser(name, proxy, Viewport(), limits=LIMITS)
            self._shown[name] = shown
            self._sessions[name] = self._stack.enter_context(session)

    def close(self) -> None:
        """End browsers and servers."""
        self._stack.close()

    def page(
        self, site: PackagedSite, url: str, planning: Planning, seed: int, number: int
    ) -> Iterator[Taken]:
        """Look at a page in all its variants."""
        own = site.record(url)
        if own is None:
            return
        dice = random.Random(f"{seed} {url}")
        plan = planning(Page(url=url, records={url: own}), dice)
        browsers = tuple(self._sessions)
        taken = count = 0
        reference = Wanted(
            variant="reference", base="reference", page=plan.reference, browsers=browsers[:1]
        )
        yield self._take(site, reference, browsers[0], plan, f"{number}-{count}")
        asked = self._shown[browsers[0]].asked()
        there = {u: r for u, r in asked.items() if r is not None and site.record(u) is not None}
        for name in browsers[1:]:
            count += 1
            yield self._take(site, reference, name, plan, f"{number}-{count}")
        for wanted in plan.others(there):
            for name in wanted.browsers:
                if name in self._sessions:
                    count += 1
                    yield self._take(site, wanted, name, plan, f"{number}-{count}")
                    taken += 1

    def _take(
        self, site: PackagedSite, wanted: Wanted, browser: str, plan: Plan, name: str
    ) -> Taken:
        shown = self._shown[browser]
        shown.show(site, wanted.page.records)
        snapshot = self._sessions[browser].capture(
            wanted.page.url, pins=Pins(clock=MOMENT), folder=self._images()
        )
        file = f"{site.host}/{name}.json"
        write_snapshot(self._folder / file, replace(snapshot, resources=snapshot.resources[:300]))
        return Taken(
            site=site.name,
            page=wanted.page.url,
            browser=browser,
            variant=wanted.variant,
            dressing=plan.dressing,
            base=wanted.base,
            snapshot=file,
            payloads=shown.payloads(),
        )

    def _images(self) -> Path:
        folder = self._folder / "images"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def in_turns(
    sites: Sequence[PackagedSite], pages: int, first: int = 0
) -> Iterator[tuple[PackagedSite, str]]:
    """The first page of each site, then the second of each: stopped anywhere, it is balanced.

    `first` are passed over.
    """
    for number in range(first, first + pages):
        for site in sites:
            if number < len(site.pages):
                yield site, site.pages[number]


def look_at_all(
    sites: Sequence[PackagedSite],
    folder: Path,
    planning: Planning,
    *,
    pages: int,
    seed: int,
    browsers: Sequence[str],
    first: int = 0,
    worker: int = 0,
    workers: int = 1,
) -> int:
    """The looks of one worker of so many; how many were taken now."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"looks-{worker}.jsonl"
    done = {entry["page"] for entry in read_lines(path)}
    looker = Looker(browsers, folder)
    count = 0
    try:
        with path.open("a", encoding="utf-8") as lines:
            for number, (site, url) in enumerate(in_turns(sites, pages, first)):
                if number % workers != worker or url in done:
                    continue
                looks = list(looker.page(site, url, planning, seed, number))
                lines.writelines(json.dumps(asdict(look)) + "\n" for look in looks)
                lines.flush()
                count += len(looks)
    finally:
        looker.close()
    return count


def read_lines(path: Path) -> list[dict[str, object]]:
    """The whole lines of a file of looks; none where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_looks(folder: Path) -> list[Taken]:
    """All that were taken, of all workers."""
    return [
        Taken(**entry)  # type: ignore[arg-type]
        for path in sorted(folder.glob("looks-*.jsonl"))
        for entry in read_lines(path)
    ]
