"""`pinakes zstd train`: a dictionary for archive files in Zstandard."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex

from pinakes.application.recompressing import LEVEL
from pinakes.application.record_inputs import InputFile, RecordInputs, size_of
from pinakes.archive_store.local.whole_files import require_absent, written_aside
from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs
from pinakes.cli.frame.options import add_dry_run, add_settings, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import RECORDS, record_inputs_of
from pinakes.dictionaries.samples import Sampler
from pinakes.dictionaries.savings import Measurement, Saving, best_of, measure_sizes
from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.compression.zstd_writer import LEVELS

_MOST_KINDS_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    """What to train on, for which level, and the new file."""
    add_inputs(parser, *RECORDS)
    option = options_of(parser)
    option(
        "-o, --output DICT", "a new file for the dictionary, as `zstd -D` takes it", required=True
    )
    option(
        "--level N",
        f"level at which it is to be used, 1 to {LEVELS[-1]} (default: {LEVEL})",
        type=int,
        default=LEVEL,
    )
    option("--seed N", "random seed of the records drawn (default: 1)", type=int, default=1)
    option("--keep COLLECTION", "also keep it in the store, as the dictionary of this collection")
    add_dry_run(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """One pass over the inputs, then a measurement of each size."""
    if arguments.level not in LEVELS:
        raise ConfigError(f"--level is {arguments.level}, and should be 1 to {LEVELS[-1]}")
    target = Path(arguments.output)
    _check_target(target)
    keep: str | None = arguments.keep
    printer = EventPrinter(console)
    with record_inputs_of(arguments, printer) as inputs:
        if keep is not None:
            known = {crawl.facts.collection for crawl in scan_crawls(inputs.stores.rows)}
            if keep not in known:
                raise ConfigError(f"--keep {keep}: no crawl is in a collection of this name")
        files = list(inputs.files())
        sampler = Sampler(seed=arguments.seed)
        counted = _sample(inputs, files, sampler, console)
        savings = _measure(sampler, counted, arguments.level, console)
        best = best_of(savings)
        kept = None
        if best is not None and not arguments.dry_run:
            # This may be done twice; where the file is there, a second run would be refused.
            if keep is not None:
                archive, token = inputs.stores.archive, f"dictionary-{token_hex(8)}"
                kept = keep_dictionary(archive, keep, best.dictionary, token=token).name
            with written_aside(target) as out:
                out.write(best.dictionary)
    _print(target, savings, best, console, dry_run=arguments.dry_run)
    if kept is not None:
        console.say(f"kept as {kept}")
    return printer.exit()


def _check_target(target: Path) -> None:
    """Before everything is read."""
    if target.is_dir():
        raise ConfigError(f"-o {target} is a folder: name a file")
    if not target.parent.is_dir():
        raise ConfigError(f"-o {target}: there is no folder {target.parent}")
    require_absent(target)


def _sample(
    inputs: RecordInputs, files: Sequence[InputFile], sampler: Sampler, console: Console
) -> int:
    """Read every record once; the number of files that have any."""
    counted = 0
    with console.progress("train: reading", total=sum(map(size_of, files))) as progress:
        for file in files:
            has_records = False
            for _, record in inputs.records(file, progress.advance):
                sampler.add(record)
                has_records = True
            if not has_records:
                name = file if isinstance(file, str) else file.archive_file
                console.warn(InputRefused("no record in it: left out", file=name))
            counted += has_records
    return counted


def _measure(sampler: Sampler, files: int, level: int, console: Console) -> list[Saving]:
    """Each size that was tried."""
    held_out = sampler.held_out()
    measurement = Measurement(held_out, sampler.records, level=level, files=files)
    records = sum(sampler.records.values())
    console.say(
        f"{records:,} records in {files:,} files; {len(held_out):,} of them, which no dictionary "
        f"was trained on, compressed at level {level}; estimated for all:"
    )
    console.say(f"  {'dictionary':>12} {'in a file':>12} {'records save':>16} {'files save':>16}")
    savings = []
    for saving in measure_sizes(sampler.training(), measurement.of):
        savings.append(saving)
        console.say(
            f"  {len(saving.dictionary):>12,} {saving.stored_bytes:>12,} "
            f"{saving.saved_bytes:>16,} {saving.net_bytes:>16,}"
        )
    return savings


def _print(
    target: Path, savings: Sequence[Saving], best: Saving | None, console: Console, *, dry_run: bool
) -> None:
    """What was chosen and why."""
    name = printable(target)
    sizes = [_as_object(saving) for saving in savings]
    if best is None:
        why = "no size saves more than it takes" if savings else "too few records to train on"
        console.result({"output": None, "why": why, "sizes": sizes}, f"{why}: nothing written")
        return
    largest = sorted(best.by_kind.items(), key=lambda kind: -kind[1][0])
    for kind, (without, with_it) in largest[:_MOST_KINDS_SHOWN]:
        console.say(f"  {printable(kind):<28} {without:>16,} → {with_it:>16,} bytes")
    text = (
        f"{name}: {len(best.dictionary):,} bytes, {best.stored_bytes:,} in each of {best.files:,} "
        f"files; saves {best.net_bytes:,} of {best.plain_bytes:,} bytes "
        f"({best.net_bytes / best.plain_bytes:.1%}) net"
    )
    text += ", nothing written" if dry_run else ""
    kinds = {kind: {"without": a, "with": b} for kind, (a, b) in best.by_kind.items()}
    console.result(
        {
            "output": None if dry_run else str(target),
            **_as_object(best),
            "kinds": kinds,
            "sizes": sizes,
        },
        text,
    )


def _as_object(saving: Saving) -> dict[str, object]:
    return {
        "dictionary_bytes": len(saving.dictionary),
        "stored_bytes": saving.stored_bytes,
        "files": saving.files,
        "plain_bytes": saving.plain_bytes,
        "saved_bytes": saving.saved_bytes,
        "net_bytes": saving.net_bytes,
    }
