"""What `pinakes ingest` says: of a plan, of each file, of all at the end."""

from __future__ import annotations

from pinakes.application.events import notices_of
from pinakes.application.landing_loop import Arrived, IngestEvent, IngestRun
from pinakes.application.landing_plan import IngestPlan
from pinakes.cli.frame.event_printer import EventPrinter, next_command, store_place
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import InputRefused, PinakesError
from pinakes.ingest.landed import KEPT_ERRORS

NOTHING_FOUND = "nothing to ingest: no archive files found"


def say(event: IngestEvent, console: Console) -> None:
    """Print it, and flush: a watch goes on for days, and its reader waits."""
    if isinstance(event, Arrived):
        _say_landed(event, console)
    elif isinstance(event, PinakesError):
        console.warn(event)
    else:
        EventPrinter(console)(event)
    console.flush()


def _say_landed(arrived: Arrived, console: Console) -> None:
    place, landed = printable(arrived.place), arrived.landed
    what = "was there" if landed.was_there else "landed"
    console.result(
        {
            "file": landed.archive_file,
            "outcome": what,
            "bytes": landed.size,
            "sha256": landed.sha256,
            "records": dict(landed.records),
            "captures": landed.captures,
            "errors": dict(landed.errors),
        },
        text=f"{printable(landed.archive_file)}: {what}, {count_of(landed.size, 'byte')}"
        + ("" if landed.was_there else f", {count_of(landed.captures, 'capture')}"),
    )
    for line in landed.lines:
        code = line.split(": ")[1]
        kind = f"{code}, counting at most {KEPT_ERRORS} a file"
        console.warn(f"{place}:{printable(line)}", kind=kind)
    if arrived.is_unread:
        console.warn(f"{place}: stored unchanged, but no record in it could be read")


def say_plan(plan: IngestPlan, console: Console) -> Exit:
    """What would land, and what would be refused."""
    event: list[IngestEvent] = [*notices_of(plan.left), *plan.left.refused]
    for one in event:
        say(one, console)
    if plan.is_empty:
        console.warn(NOTHING_FOUND)
    is_well = not plan.left.refused
    for place, name in plan.files():
        if isinstance(name, InputRefused):
            is_well = False
            console.warn(name)
            continue
        text = f"{printable(place)} -> {printable(name)}"
        console.result({"file": name, "from": place}, text=text)
    return Exit.DONE if is_well else Exit.SOME_FAILED


def say_done(done: IngestRun, configuration: Configuration, console: Console) -> None:
    """What was saved, where it is, and what next; without a crawl, nothing was."""
    place = store_place(configuration)
    if not (done.files or done.were_there or done.missed):
        return
    held = f"{count_of(done.bytes, 'byte')}, {count_of(done.captures, 'capture')}"
    parts = [f"{count_of(done.files, 'file')} landed: {held}"]
    if done.were_there:
        parts.append(f"{done.were_there:,} landed before")
    if done.missed:
        parts.append(f"{done.missed:,} not landed (named above)")
    summary = "; ".join(parts)
    if done.crawl is None:
        console.say(f"{summary}; no crawl was begun in {place}")
        return
    crawl = printable(done.crawl)
    console.say(f"{summary}; crawl {crawl} of {place}")
    console.say(
        f"next: {next_command(f'dedupe {crawl} --plan', configuration)} says what "
        f"removing duplicates would save; {next_command('serve', configuration)} shows the "
        "store"
    )
