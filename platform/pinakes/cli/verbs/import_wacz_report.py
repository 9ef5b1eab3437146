"""What `pinakes import-wacz` says of each WACZ file, and of all at the end."""

from __future__ import annotations

from pinakes.application.wacz_events import (
    ImportEvent,
    ImportRun,
    WaczImported,
    WaczKnown,
    WaczMissed,
    WaczQueued,
)
from pinakes.catalog.wacz_rows import FAILED
from pinakes.cli.frame.event_printer import EventPrinter, next_command, store_place
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.ingest.wacz.queue import MissingCrawl
from pinakes.ingest.wacz.sources import WaczSource


class ImportPrinter:
    """Prints results; `purges`: what manifests no longer name will be purged."""

    def __init__(self, console: Console, *, purges: bool) -> None:
        self._console = console
        self._purges = purges

    def on_event(self, event: ImportEvent) -> None:
        """Print it, and flush."""
        if isinstance(event, WaczSource):
            self._would_import(event)
        elif isinstance(event, WaczQueued):
            self._queued(event)
        elif isinstance(event, WaczImported):
            self._imported(event)
        elif isinstance(event, WaczKnown):
            self._known(event)
        elif isinstance(event, WaczMissed):
            text = str(event.problem)
            is_named = event.place is None or event.place in text
            self._console.warn(event.problem if is_named else f"{event.place}: {text}")
        elif isinstance(event, MissingCrawl):
            (self._missing if event.is_whole else self._missing_in_part)(event)
        else:
            EventPrinter(self._console)(event)
        self._console.flush()

    def _would_import(self, source: WaczSource) -> None:
        into = f"{printable(source.crawl)}/{printable(source.name)}"
        self._console.result(
            {"wacz": source.place, "crawl": source.crawl, "name": source.name},
            text=f"{printable(source.place)} -> {into}",
        )

    def _queued(self, event: WaczQueued) -> None:
        entry, state = event
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

    def _imported(self, event: WaczImported) -> None:
        """It was imported just now; names the files of it that hold no record."""
        entry, imported = event
        name = printable(f"{imported.crawl}/{imported.name}")
        if not imported.has_archives:
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
                name = printable(file.archive_file)
                self._console.warn(f"{name}: stored unchanged, but no record in it could be read")
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
                "captures": event.captures,
            },
            text=f"{into}: imported, {imported.size:,} bytes, {count_of(count, 'file')}, "
            f"{count_of(event.captures, 'capture')}",
        )

    def _known(self, event: WaczKnown) -> None:
        place, crawl, name, sha256 = event
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

    def _missing(self, crawl: MissingCrawl) -> None:
        """A crawl that manifests no longer name, and what becomes of it."""
        fate = "to be purged" if self._purges else "kept"
        if crawl.other_files:
            fate = f"kept: it holds files that were not imported ({crawl.other_files:,})"
        self._console.result(
            {"crawl": crawl.crawl, "outcome": "missing", "bytes": crawl.size},
            text=f"{crawl.crawl}: no longer in the manifest, {crawl.size:,} bytes; {fate}",
        )

    def _missing_in_part(self, crawl: MissingCrawl) -> None:
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

    def removed(self, done: ImportRun) -> None:
        """How many crawls manifests no longer name."""
        if done.missing:
            count, size = len(done.missing), sum(done.missing.values())
            self._console.result(
                {"removedCrawls": count, "removedCrawlSize": size},
                text=f"removedCrawls: {count:,}, removedCrawlSize: {size:,} bytes",
            )

    def summarise(self, done: ImportRun, configuration: Configuration) -> None:
        """The sum, and the command that tries those again that failed."""
        imported = count_of(done.imported, "WACZ file")
        captures = count_of(done.captures, "capture")
        parts = [f"{imported} imported: {done.bytes:,} bytes, {captures}"]
        if done.were_there:
            parts.append(f"{done.were_there:,} were there")
        if done.failed:
            parts.append(f"{done.failed:,} failed (named above)")
        if done.refused:
            parts.append(f"{done.refused:,} refused, and not queued (named above)")
        where = f"collection {configuration.collection} of {store_place(configuration)}"
        self._console.say(f"{'; '.join(parts)}; {where}")
        if done.failed:
            again = next_command("import-wacz --resume", configuration, "collection")
            self._console.say(f"next: {again} tries those that failed again")
