"""What `pinakes import-wacz` says of each WACZ file, and of all at the end."""

from __future__ import annotations

from collections import Counter

from pinakes.catalog.wacz_rows import FAILED, QueueEntry
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.errors import PinakesError
from pinakes.ingest.wacz_import import Imported
from pinakes.ingest.wacz_queue import MissingCrawl
from pinakes.ingest.wacz_sources import WaczSource


class ImportReport:
    """Prints results and counts them; `failed` says that something was not done."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._counts = Counter[str]()
        self.failed = False

    def would_import(self, source: WaczSource) -> None:
        into = f"{printable(source.crawl)}/{printable(source.name)}"
        self._console.result(
            {"wacz": source.place, "crawl": source.crawl, "name": source.name},
            text=f"{printable(source.place)} -> {into}",
        )

    def queued(self, entry: QueueEntry, state: str) -> None:
        """What is in the queue, and in which state."""
        why = f": {entry.failure.why}" if entry.failure and state == FAILED else ""
        times = f" {count_of(entry.failure.attempts, 'time')}" if entry.failure else ""
        self._console.result(
            {
                "wacz": entry.wacz.place,
                "crawl": entry.wacz.crawl,
                "name": entry.wacz.name,
                "state": state,
                "by": entry.claim.owner if entry.claim and entry.claim.expires_ms else None,
                "attempts": entry.failure.attempts if entry.failure else 0,
                "why": entry.failure.why if entry.failure else None,
            },
            text=f"{printable(entry.wacz.place)}: {state}{times}{printable(why)}",
        )

    def imported(self, entry: QueueEntry, imported: Imported) -> None:
        """It was imported just now; names the files of it that hold no record."""
        name = printable(f"{imported.crawl}/{imported.name}")
        if not imported.has_archives:
            self.failed = True
            self._console.warn(f"{name}: no archive file in it: only its other members are stored")
        if not imported.is_described:
            self._console.warn(f"{name}: no datapackage.json: its files were not compared with it")
        for path in imported.empty:
            self._console.warn(f"{printable(path)}: empty; skipped")
        for file in imported.files:
            for line in file.lines:
                code = line.split(": ")[1]
                self._console.warn(f"{printable(file.archive_file)}:{printable(line)}", kind=code)
            if not file.was_there and not file.records:
                self.failed = True
                name = printable(file.archive_file)
                self._console.warn(f"{name}: stored unchanged, but no record in it could be read")
        captures = sum(file.captures for file in imported.files)
        self._counts.update(imported=1, captures=captures, bytes=imported.size)
        into = f"{printable(imported.crawl)}/{printable(imported.name)}"
        count = len(imported.files)
        self._console.result(
            {
                "wacz": entry.wacz.place,
                "outcome": "imported",
                "crawl": imported.crawl,
                "name": imported.name,
                "sha256": imported.sha256,
                "bytes": imported.size,
                "files": count,
                "captures": captures,
            },
            text=f"{into}: imported, {imported.size:,} bytes, {count_of(count, 'file')}, "
            f"{count_of(captures, 'capture')}",
        )

    def known(self, place: str, crawl: str, name: str, sha256: str | None) -> None:
        """It was there before, under this name."""
        self._counts["was there"] += 1
        self._console.result(
            {
                "wacz": place,
                "outcome": "was there",
                "crawl": crawl,
                "name": name,
                "sha256": sha256,
            },
            text=f"{printable(place)}: was there, as {printable(crawl)}/{printable(name)}",
        )

    def missed(self, problem: PinakesError, place: str | None, *, queued: bool) -> None:
        """It was not imported, and why; `queued` says that it is in the queue."""
        text = str(problem)
        self._console.warn(problem if place is None or place in text else f"{place}: {text}")
        self._counts["failed" if queued else "refused"] += 1
        self.failed = True

    def missing(self, crawl: MissingCrawl, fate: str) -> None:
        """A crawl that manifests no longer name, and what becomes of it."""
        self._console.result(
            {"crawl": crawl.crawl, "outcome": "missing", "bytes": crawl.size},
            text=f"{crawl.crawl}: no longer in the manifest, {crawl.size:,} bytes; {fate}",
        )

    def missing_in_part(self, crawl: MissingCrawl) -> None:
        """A crawl of which manifests still name some WACZ files."""
        for one in crawl.waczs:
            place = f"{crawl.crawl}/{one.name}"
            self._console.result(
                {
                    "crawl": crawl.crawl,
                    "name": one.name,
                    "outcome": "missing",
                    "bytes": one.wacz.size,
                },
                text=f"{printable(place)}: no longer in the manifest, {one.wacz.size:,} bytes; "
                "kept, for others of its crawl are",
            )

    def removed(self, count: int, size: int) -> None:
        """How many crawls manifests no longer name."""
        self._console.result(
            {"removedCrawls": count, "removedCrawlSize": size},
            text=f"removedCrawls: {count:,}, removedCrawlSize: {size:,} bytes",
        )

    def summarise(self, where: str, again: str) -> None:
        """The sum; `again` is the command that tries those again that failed."""
        counts = self._counts
        imported = count_of(counts["imported"], "WACZ file")
        captures = count_of(counts["captures"], "capture")
        parts = [f"{imported} imported: {counts['bytes']:,} bytes, {captures}"]
        if counts["was there"]:
            parts.append(f"{counts['was there']:,} were there")
        if counts["failed"]:
            parts.append(f"{counts['failed']:,} failed (named above)")
        if counts["refused"]:
            parts.append(f"{counts['refused']:,} refused, and not queued (named above)")
        self._console.say(f"{'; '.join(parts)}; {where}")
        if counts["failed"]:
            self._console.say(f"next: {again} tries those that failed again")
