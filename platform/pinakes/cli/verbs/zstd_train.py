"""`pinakes zstd train`: a dictionary for archive files in Zstandard."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex

from pinakes.archive_store.local.whole_files import require_absent, written_aside
from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_inputs, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import InputFile, RecordInputs, record_inputs_of, size_of
from pinakes.cli.verbs.zstd_convert import LEVEL
from pinakes.dictionaries.samples import Sampler
from pinakes.dictionaries.savings import Measurement, Saving, best_of, measure_sizes
from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.compression.zstd_writer import LEVELS

_MOST_KINDS_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    """What to train on, for which level, and the new file."""
    add_inputs(parser, "WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DICT",
        required=True,
        help="a new file for the dictionary, as `zstd -D` takes it",
    )
    parser.add_argument(
        "--level",
        metavar="N",
        type=int,
        default=LEVEL,
        help=f"level at which it is to be used, 1 to {LEVELS[-1]} (default: {LEVEL})",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=1,
        help="random seed of the records drawn (default: 1)",
    )
    parser.add_argument(
        "--keep",
        metavar="COLLECTION",
        help="also keep it in the store, as the dictionary of this collection",
    )
    add_dry_run(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """One pass over the inputs, then a measurement of each size."""
    if arguments.level not in LEVELS:
        raise ConfigError(f"--level is {arguments.level}, and should be 1 to {LEVELS[-1]}")
    target = Path(arguments.output)
    _check_target(target)
    keep: str | None = arguments.keep
    with record_inputs_of(arguments, configuration_of(arguments), console) as inputs:
        if keep is not None:
            _check_collection(inputs, keep)
        files = list(inputs.files())
        sampler = Sampler(seed=arguments.seed)
        counted = _sample(inputs, files, sampler, console)
        savings = _measure(sampler, counted, arguments.level, console)
        best = best_of(savings)
        kept = None
        if best is not None and not arguments.dry_run:
            # This may be done twice; where the file is there, a second run would be refused.
            if keep is not None:
                kept = _keep(inputs, keep, best.dictionary)
            _write(target, best.dictionary)
    _tell(target, savings, best, console, dry_run=arguments.dry_run)
    if kept is not None:
        console.say(f"kept as {kept}")
    return Exit.SOME_FAILED if inputs.failed else Exit.DONE


def _check_target(target: Path) -> None:
    """Before everything is read."""
    if target.is_dir():
        raise ConfigError(f"-o {target} is a folder: name a file")
    if not target.parent.is_dir():
        raise ConfigError(f"-o {target}: there is no folder {target.parent}")
    require_absent(target)


def _check_collection(inputs: RecordInputs, collection: str) -> None:
    if not any(crawl.facts.collection == collection for crawl in scan_crawls(inputs.stores.rows)):
        raise ConfigError(f"--keep {collection}: no crawl is in a collection of this name")


def _keep(inputs: RecordInputs, collection: str, dictionary: bytes) -> str:
    """The name that it is kept under."""
    token = f"dictionary-{token_hex(8)}"
    return keep_dictionary(inputs.stores.archive, collection, dictionary, token=token).name


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


def _write(target: Path, dictionary: bytes) -> None:
    with written_aside(target) as out:
        out.write(dictionary)


def _tell(
    target: Path, savings: Sequence[Saving], best: Saving | None, console: Console, *, dry_run: bool
) -> None:
    """What was chosen and why."""
    name = printable(target)
    sizes = [_as_object(saving) for saving in savings]
    if best is None:
        why = "no size saves more than it takes" if savings else "too few records to train on"
        console.result({"output": None, "why": why, "sizes": sizes}, f"{why}: nothing written")
        return
    for kind, (without, with_it) in _largest(best):
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


def _largest(saving: Saving) -> list[tuple[str, tuple[int, int]]]:
    kinds = sorted(saving.by_kind.items(), key=lambda kind: -kind[1][0])
    return kinds[:_MOST_KINDS_SHOWN]
