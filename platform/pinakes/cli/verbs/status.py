"""`pinakes status`: the whole store at a glance."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from pinakes.access.care_view import UNFINISHED, ActAtWork, EndedRun
from pinakes.application.status import CollectionStatus, StoreStatus, read_status
from pinakes.catalog.holdings import Holdings
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.backup import moment
from pinakes.counts import count_of
from pinakes.profile import open_stores

_WIDTH = len("old generations") + 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Whether duplicates are counted."""
    options_of(parser)("--quick", "do not count duplicates, which reads all sidecars")
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Say it; exit 1 where something needs care."""
    configuration = configuration_of(arguments)
    with (
        open_stores(configuration) as stores,
        console.progress("count", unit="crawls") as progress,
    ):
        status = read_status(
            stores,
            configuration,
            duplicates=not arguments.quick,
            counted=lambda: progress.advance(1),
        )
    console.result(_as_object(status), text="\n".join(_lines(status)))
    return Exit.FOUND if any(_care(status)) else Exit.DONE


def _as_object(status: StoreStatus) -> dict[str, object]:
    value = asdict(status)
    value |= value.pop("care")
    for one, collection in zip(value["collections"], status.collections, strict=True):
        one["holdings"]["saved_bytes"] = collection.holdings.saved_bytes
    return value


def _lines(status: StoreStatus) -> Iterator[str]:
    if not status.collections:
        yield "nothing has landed yet: pinakes ingest FILE --crawl NAME"
    for collection in status.collections:
        yield collection.collection
        yield from (_line(f"  {name}", text) for name, text in _held(collection))
    if len(status.collections) > 1:
        yield "all collections"
        yield from (_line(f"  {name}", text) for name, text in _sizes(status.holdings))
    for act in status.care.at_work:
        if act.state != UNFINISHED:
            yield _line(act.state, _named(act))
    yield from (_line("care", words) for words in _care(status))
    yield _line("last check", _checked(status.care.last_check))
    yield _line("last backup", _backed_up(status.care.last_backup))


def _line(name: str, text: str) -> str:
    return f"{name:<{_WIDTH + 2}}{text}"


def _held(one: CollectionStatus) -> Iterator[tuple[str, str]]:
    states = {
        "open": one.open_crawls,
        "committed": one.committed_crawls,
        "being taken out": one.leaving_crawls,
    }
    yield "crawls", ", ".join(f"{number:,} {state}" for state, number in states.items() if number)
    yield from _sizes(one.holdings)
    if one.duplicates is not None:
        if one.duplicates.captures:
            left = f"{one.duplicates.captures:,}, about {one.duplicates.saved_bytes:,} bytes"
            where = "" if one.collection == "default" else f" --collection {one.collection}"
            yield "duplicates left", f"{left}: pinakes dedupe --all{where}"
        else:
            yield "duplicates left", "none that are worth a revisit"


def _sizes(held: Holdings) -> Iterator[tuple[str, str]]:
    captures, records = count_of(held.captures, "capture"), count_of(held.records, "record")
    yield "holds", f"{captures}, {records} in {count_of(held.files, 'file')}"
    yield "as landed", count_of(held.landed_bytes, "byte")
    now = count_of(held.stored_bytes, "byte")
    if held.saved_bytes > 0:
        percent = 100 * held.saved_bytes / held.landed_bytes
        now += f"; {held.saved_bytes:,} saved ({percent:.1f}%)"
    elif held.saved_bytes < 0:
        now += f"; {-held.saved_bytes:,} more"
    yield "on disk now", now
    if held.old_generations:
        old = count_of(held.old_bytes, "byte")
        besides = f"{old} in {held.old_generations:,} besides"
        yield "old generations", f"{besides}: pinakes generations"


def _care(status: StoreStatus) -> Iterator[str]:
    """What a person should look at, and how."""
    for act in status.care.at_work:
        if act.state == UNFINISHED:
            yield f"{_named(act)}, was left unfinished: run its command again"
    if status.lost_crawls:
        lost = count_of(status.lost_crawls, "crawl")
        yield f"the catalogue has lost {lost}: pinakes fsck --repair"
    if status.stalled_files:
        stalled = count_of(status.stalled_files, "file is", "files are")
        yield f"{stalled} half landed by processes that died: run `ingest` again"
    if status.refused_files:
        refused = count_of(status.refused_files, "file was", "files were")
        yield f"{refused} refused, and wait: pinakes fsck"
    if status.holdings.damaged:
        places = count_of(status.holdings.damaged, "place")
        yield f"{places} in landed files that are no record: pinakes ls CRAWL"
    last = status.care.last_check
    if last is not None and last.left:
        yield "the last check found what is not mended: pinakes fsck"


def _named(act: ActAtWork) -> str:
    return f"{act.act} on {printable(act.place or 'the store')}, since {moment(act.since_ms)}"


def _checked(last: EndedRun | None) -> str:
    if last is None:
        return "never: pinakes fsck"
    found, mended = (last.counts.get(name, 0) for name in ("found", "mended"))
    words = f"{found:,} found, {mended:,} mended" if found else "nothing found"
    options = "".join(f" --{name}" for name in last.arguments)
    return f"{moment(last.at_ms)}{options}: {words}"


def _backed_up(last: EndedRun | None) -> str:
    if last is None:
        return "never: pinakes backup DEST"
    return f"{moment(last.at_ms)} in {printable(last.arguments[0])}"
