"""What `pinakes redis` says of crawls that were written, and read."""

from __future__ import annotations

from pinakes.application.sharing import SharedWith
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.shared_index.exporting import Exported
from pinakes.shared_index.gathered import GatheredDigests
from pinakes.shared_index.importing import ImportedCrawl


def say_exported(done: SharedWith, collection: str, console: Console) -> None:
    """A line for each crawl, and what was left out."""
    for crawl, digests in sorted(done.exported.digests.items()):
        state = done.states[crawl]
        console.result(
            {"crawl": crawl, "state": state, "outcome": "written", "digests": digests},
            text=f"{crawl}: written, {state}, {count_of(digests, 'digest')}",
        )
    if not done.chosen:
        nothing = "no crawl is open or committed and may be given out"
        console.say(f"{collection}: {nothing}")
    _say_rest(console, done.exported, done.gathered)


def _say_rest(console: Console, done: Exported, gathered: GatheredDigests) -> None:
    for crawl, why in done.left.items():
        console.result({"crawl": crawl, "outcome": "left"}, text=f"{crawl}: left as it is: {why}")
    for crawl in done.taken_out:
        console.result({"crawl": crawl, "outcome": "taken out"}, text=f"{crawl}: taken out")
    if gathered.several_bodies:
        console.say(
            f"{count_of(gathered.several_bodies, 'digest')} left out: several bodies have them"
        )
    if gathered.unwritable:
        console.say(
            f"{count_of(gathered.unwritable, 'capture')} left out: "
            "a blank in their URL, or no UTF-8"
        )
    for why, number in sorted(gathered.unwanted.items()):
        console.say(f"{count_of(number, 'capture')} left out: {why}")
    if gathered.withheld:
        console.say(
            f"{count_of(gathered.withheld, 'reported digest')} left out: look-ups do not give them"
        )


def say_imported(one: ImportedCrawl, console: Console) -> None:
    """A line for a crawl, and for each of its files that is not in the store."""
    count = f"{count_of(one.reported, 'digest')} " if one.reported else ""
    missing = [file._asdict() for file in one.missing]
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(one.left_out.items()))
    left_out = f"; left out: {reasons}" if reasons else ""
    lines = [f"{one.crawl}: {count}{one.outcome}{left_out}"]
    lines += [
        f"  never imported here: {printable(file.name)}"
        + (f"  {file.sha256}" if file.sha256 is not None else "  (not yet there)")
        for file in one.missing
    ]
    console.result(
        {
            "crawl": one.crawl,
            "outcome": one.outcome,
            "reported": one.reported,
            "left_out": dict(one.left_out),
            "missing": missing,
        },
        text="\n".join(lines),
    )
