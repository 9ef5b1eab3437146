"""`pinakes dedupe PATH ... -o OUT`: the whole chain on files, without a store."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from pinakes.application.on_files import DedupedFile, DedupeResult, FilesEvent, dedupe_given
from pinakes.cli.frame.chain_options import trust_of
from pinakes.cli.frame.event_printer import EventPrinter, Steps, left_full_text
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.process import describe_decisions
from pinakes.counts import count_of
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.run.files_run import FilesRequest
from pinakes.errors import ConfigError
from pinakes.index.external_sort import SortSpace


def files_request_of(arguments: argparse.Namespace) -> FilesRequest:
    """What was asked for with `-o`.  Raises ConfigError for what only a store has."""
    refused = {
        "--all": arguments.all,
        "--sample": arguments.sample,
        "--runner": arguments.runner != "inline",
        "--drop-old": arguments.drop_old,
        "--decisions": arguments.decisions,
        "--metrics-file": arguments.metrics_file,
    }
    given = [option for option, value in refused.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)}: not with -o, which takes files")
    if not arguments.names:
        raise ConfigError("-o deduplicates files: name some, or folders of them")
    configuration = configuration_of(arguments)
    return FilesRequest(
        names=arguments.names,
        compare=arguments.compare != "none",
        trust=trust_of(arguments),
        min_saving_bytes=configuration.min_saving_bytes,
        now=datetime.now(timezone.utc),
        space=SortSpace(memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir),
    )


def dedupe_files(request: FilesRequest, output: Path | None, console: Console) -> Exit:
    """A line for each file, then what it came to; exit 1 where validation found anything.

    None for the folder: say what would be saved, and write nothing.
    """
    printer = EventPrinter(console)

    def show(event: FilesEvent) -> None:
        if isinstance(event, ProcessCount):
            console.say(describe_decisions(event))
        elif isinstance(event, DedupedFile):
            text = f"{printable(event.file)}: {_saved(event, '')}"
            console.result({"file": event.file, **_counts(event)}, text=text)
        else:
            printer(event)

    with Steps(console, "dedupe") as steps:
        done = dedupe_given(request, output, show, steps)
    _say_done(done, output, console)
    return printer.exit() if done.validated is not False else Exit.FOUND


def _saved(done: DedupedFile | DedupeResult, would: str, share: str = "") -> str:
    revisits, saved = count_of(done.revisits, "revisit"), count_of(done.saved_bytes, "byte")
    return f"{revisits}, {saved} {would}saved{share}{left_full_text(done.left_full)}"


def _counts(done: DedupedFile | DedupeResult) -> dict[str, object]:
    return {
        "revisits": done.revisits,
        "saved_bytes": done.saved_bytes,
        "left_full": dict(done.left_full),
    }


def _say_done(done: DedupeResult, output: Path | None, console: Console) -> None:
    """What was saved, whether it stands, where it is, and what next."""
    share = f" ({done.saved_bytes / done.size if done.size else 0.0:.1%})"
    would = "would be " if output is None else ""
    files, size = count_of(len(done.files), "file"), count_of(done.size, "byte")
    lines = [f"{files}, {size}: {_saved(done, would, share)}"]
    found = done.discrepancies or ()
    for one in found:
        console.warn(f"{one.file}: record {one.ordinal}: {one.code}: {one.message}")
    if found:
        count = count_of(len(found), "finding")
        lines.append(f"validation FAILED, {count}: do not use {printable(output)}")
    elif done.validated:
        what = "each record is as before, or a revisit that resolves to the same bytes"
        lines.append(f"validated: {what}")
    console.result(
        {
            "output": None if output is None else str(output),
            "files": len(done.files),
            "bytes": done.size,
            **_counts(done),
            "validated": done.validated,
        },
        text="\n".join(lines),
    )
    if output is None and done.revisits:
        console.say("nothing was written; next: the same command without --plan")
    if done.validated:
        console.say(
            f"next: use the files in {output} instead of those before; `pinakes restore` "
            "turns them back, as long as the originals are there"
        )
