"""Each page of a sample before and after deduplication, in one browser.

    DIR/SHA-256.png         what the browser showed
    DIR/pairs.jsonl         a line for each page, written once it is judged

A run that died goes on behind the last whole line: no page is judged twice, none left out.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from pinakes.errors import MalformedRecord
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.looking import Pins
from pinakes.qa.compare.pairs import Seen, compare_pair, feature_names, features, reasons
from pinakes.qa.compare.pixels import read_pixels
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.results.pair_result import PairResult, View
from pinakes.qa.sample.draw import Drawn
from pinakes.qa.snapshot import Outcome, Snapshot

from .proof import MODEL, judge, payloads_of

PAIRS = "pairs.jsonl"


class Browser(Protocol):
    """A browser that is pointed at one generation: `browsers.session.Session`."""

    def capture(self, url: str, *, pins: Pins, folder: Path) -> Snapshot:
        """Show a page and say what was seen."""
        ...


class Replay(Protocol):
    """What answers it: `replay.proxy.ReplaySession`."""

    def begin_page(self, name: str, moment: datetime) -> None:
        """From now on requests are this page's."""
        ...

    def end_page(self) -> PageLog:
        """What it asked for."""
        ...


class Side:
    """A generation, what answers from it, and the browser that is pointed there."""

    def __init__(self, kind: str, replay: Replay, browser: Browser) -> None:
        self.kind = kind
        self._replay = replay
        self._browser = browser

    def look(self, url: str, moment: datetime, folder: Path) -> tuple[Seen, PageLog, int]:
        """The page, what it asked for, and what that took in milliseconds."""
        started = time.monotonic()
        self._replay.begin_page(url, moment)
        try:
            snapshot = self._browser.capture(url, pins=Pins(clock=moment), folder=folder)
        finally:
            log = self._replay.end_page()
        pixels = read_pixels(read_image(folder, snapshot.image)) if snapshot.image else None
        seen = Seen(snapshot=snapshot, pixels=pixels, payloads=payloads_of(log))
        return seen, log, round(1000 * (time.monotonic() - started))


class BeforeAfter:
    """Looks at pages on both sides.  Not for several threads."""

    def __init__(self, before: Side, after: Side, folder: Path, *, run: str) -> None:
        self._before = before
        self._after = after
        self._folder = folder
        self._run = run

    def judge_all(self, drawn: Iterable[Drawn]) -> Iterator[PairResult]:
        """Judge the pages that are not judged yet; each is on disk when it is yielded."""
        self._folder.mkdir(parents=True, exist_ok=True)
        done = self._judged()
        with (self._folder / PAIRS).open("ab") as file:
            for one in drawn:
                if (one.page.url, one.page.second) in done:
                    continue
                result = self._judge(one)
                entry = {**asdict(result), "time": one.page.second, "weight": one.weight}
                file.write(json.dumps(entry).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
                yield result

    def _judged(self) -> set[tuple[str, str]]:
        """The pages that are; half a line at the end is cut off."""
        path = self._folder / PAIRS
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        if lines and not lines[-1].endswith(b"\n"):
            with path.open("r+b") as file:
                file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
        try:
            entries = [json.loads(line) for line in lines]
            return {(entry["url"], entry["time"]) for entry in entries}
        except (ValueError, KeyError, TypeError) as error:
            raise MalformedRecord("no pairs of a QA run", file=str(path)) from error

    def _judge(self, drawn: Drawn) -> PairResult:
        page = drawn.page
        moment = datetime.strptime(page.second, "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
        before, asked_before, took_before = self._before.look(page.url, moment, self._folder)
        after, asked_after, took_after = self._after.look(page.url, moment, self._folder)
        started = time.monotonic()
        comparison = compare_pair(before, after)
        outcomes = {before.snapshot.outcome, after.snapshot.outcome}
        verdict, confidence, harm = judge(
            comparison, asked_before, asked_after, complete=outcomes == {Outcome.COMPLETE}
        )
        return PairResult(
            run=self._run,
            url=page.url,
            date=moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            capture_key=page.row_key.hex(),
            reference=_view(self._before.kind, before.snapshot, asked_before, took_before),
            other=_view(self._after.kind, after.snapshot, asked_after, took_after),
            verdict=verdict,
            confidence=confidence,
            model=MODEL,
            features=dict(zip(feature_names(), features(comparison), strict=True)),
            reasons=(*harm, *reasons(comparison)),
            milliseconds=round(1000 * (time.monotonic() - started)),
        )


def _view(kind: str, snapshot: Snapshot, log: PageLog, took: int) -> View:
    return View(
        kind=kind,
        browser=snapshot.browser,
        browser_version=snapshot.browser_version,
        outcome=snapshot.outcome,
        milliseconds=took,
        image=snapshot.image.name if snapshot.image is not None else None,
        reasons=snapshot.reasons,
        missed=tuple(dict.fromkeys(exchange.url for exchange in log.misses)),
    )
