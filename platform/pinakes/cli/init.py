"""`pinakes init`: make the store, bring it up to date, or say where it has drifted."""

from __future__ import annotations

import argparse

from pinakes.cli.exits import Exit
from pinakes.cli.options import add_settings, configuration_of
from pinakes.cli.output import Console
from pinakes.errors import ConfigError
from pinakes.hbase_schema.tables import schema_drift
from pinakes.profile import ROWS, schema_admin, schema_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the store is comes from the configuration, or `--store`."""
    add_settings(parser, "store", "cell_versions")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 where the schema has drifted"
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each thing found; with -v or --json, for each thing done."""
    configuration = configuration_of(arguments)
    admin, schema = schema_admin(configuration), schema_of(configuration)
    if arguments.check:
        if not (configuration.store / ROWS).exists():
            raise ConfigError(f"there is no store at {configuration.store}")
        drift = schema_drift(schema, admin.describe())
        console.results({"drift": line} if console.json else line for line in drift)
        if not drift:
            console.say(f"{configuration.store} is as declared")
        return Exit.FOUND if drift else Exit.DONE
    done = admin.apply(schema)
    (configuration.store / "archive").mkdir(exist_ok=True)
    for line in done:
        if console.json:
            console.result({"done": line})
        else:
            console.detail(line)
    console.say(
        f"{configuration.store} is ready; next: pinakes ingest DIR --crawl NAME"
        if done
        else f"{configuration.store} is as declared; nothing to do"
    )
    return Exit.DONE
