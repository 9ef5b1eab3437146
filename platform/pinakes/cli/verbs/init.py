"""`pinakes init`: make the store, bring it up to date, or say where it has drifted."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from pinakes.catalog.presplits import sampled_splits
from pinakes.cli.frame.event_printer import next_command, store_place
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, number_to, options_of
from pinakes.cli.frame.output import Console
from pinakes.config import Configuration
from pinakes.errors import ConfigError
from pinakes.hbase_schema.tables import FoundSchema, schema_drift
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.profile import ROWS, create_stores, hbase_connection, open_schema_admin, schema_of
from pinakes.row_store.hbase.shell import shell_lines

_REGIONS = 16

Splits = Mapping[str, tuple[bytes, ...]]


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the store is comes from the configuration, or `--store`."""
    add_settings(parser, "store", "collection", "cell_versions")
    either = options_of(parser.add_mutually_exclusive_group())
    either("--check", "change nothing; exit 1 where the schema has drifted")
    either(
        "--print",
        "on a cluster: change nothing; print the commands for the HBase shell",
        dest="lines",
    )
    option = options_of(parser)
    option(
        "--sample PATH",
        "on a cluster: choose the regions of new tables by these archive files; repeatable",
        action="append",
        default=[],
    )
    option(
        "--regions N",
        f"with --sample: number of regions (default: {_REGIONS})",
        type=number_to(10_000),
        default=_REGIONS,
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each thing found, or to be run; with -v or --json, for each thing done."""
    configuration = configuration_of(arguments)
    if configuration.profile == "embedded" and (arguments.lines or arguments.sample):
        raise ConfigError("--print and --sample need profile = cluster; it is embedded")
    if arguments.check:
        return _check(configuration, console)
    splits = _splits(configuration, arguments.sample, arguments.regions)
    if arguments.lines:
        return _print(configuration, splits, console)
    return _make(configuration, splits, console)


def _check(configuration: Configuration, console: Console) -> Exit:
    if configuration.profile == "embedded" and not (configuration.store / ROWS).exists():
        raise ConfigError(f"there is no store at {configuration.store}")
    with open_schema_admin(configuration) as admin:
        drift = schema_drift(schema_of(configuration), admin.describe())
    console.results({"drift": line} if console.json else line for line in drift)
    if not drift:
        console.say(f"{store_place(configuration)} is as declared")
    return Exit.FOUND if drift else Exit.DONE


def _print(configuration: Configuration, splits: Splits, console: Console) -> Exit:
    """Of a live schema only what it lacks, where a Thrift 2 server can report it."""
    found: FoundSchema | None = None
    if configuration.hbase_admin is not None:
        with open_schema_admin(configuration) as admin:
            found = admin.describe()
    lines = shell_lines(
        hbase_connection(configuration), schema_of(configuration), found, splits=splits
    )
    console.results({"line": line} if console.json else line for line in lines)
    if not lines:
        console.say(f"{store_place(configuration)} is as declared; nothing to do")
    return Exit.DONE


def _make(configuration: Configuration, splits: Splits, console: Console) -> Exit:
    done = create_stores(configuration, splits=splits, on_wait=console.say)
    for line in done:
        if console.json:
            console.result({"done": line})
        else:
            console.detail(line)
    place = store_place(configuration)
    is_new = any(line.startswith("made captures:") for line in done)
    if configuration.profile != "embedded" and is_new and not any(splits.values()):
        console.say(
            "each new table has one region, on one region server, until HBase splits it; "
            "on an empty store, `pinakes init --sample DIR` makes more, by the files to be ingested"
        )
    ready = f"{place} is ready; next: {next_command('ingest DIR --crawl NAME', configuration)}"
    console.say(ready if done else f"{place} is as declared; nothing to do")
    return Exit.DONE


def _splits(configuration: Configuration, paths: Iterable[str], regions: int) -> Splits:
    left = LeftOut()
    places = [item.place for item in iter_inputs(paths, left)]
    for refused in left.refused:
        raise refused
    if paths and not places:
        raise ConfigError("--sample: no archive files found")
    return sampled_splits(places, collection=configuration.collection, regions=regions)
