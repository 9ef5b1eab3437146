"""`pinakes import-wacz`: import WACZ files, each whole or not at all, by a queue in the store."""

from __future__ import annotations

import argparse

from pinakes.application.deleting import remove_crawls
from pinakes.application.wacz_events import ImportRequest, ImportRun
from pinakes.application.wacz_landing import import_waczs, plan_import
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.options import (
    add_accept_damaged,
    add_dry_run,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.crawl_deletion import add_references, say_removal
from pinakes.cli.verbs.import_wacz_report import ImportPrinter
from pinakes.errors import ConfigError
from pinakes.profile import Stores, open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """WACZ files, and whether to go on with the queue."""
    add_inputs(
        parser,
        "WACZ",
        "WACZ files, folders of them, or manifests (.json); also URLs",
    )
    option = options_of(parser)
    option(
        "--resume", "go on with what is queued, and retry what has failed; no WACZ need be named"
    )
    option(
        "--purge-removed",
        "then remove imported crawls that manifests no longer name, as `pinakes crawl remove`",
    )
    add_references(parser, "captures of other crawls that refer to one of these")
    add_accept_damaged(parser)
    add_settings(parser, "store", "collection", "import_from")
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per WACZ file: imported, was there; or failed, and why."""
    configuration = configuration_of(arguments)
    any_named = bool(arguments.inputs or arguments.files_from)
    request = ImportRequest(
        names=list(inputs_of(arguments)) if any_named or not arguments.resume else [],
        collection=configuration.collection,
        import_from=configuration.import_from,
        resume=arguments.resume,
        accepts_damaged=arguments.accept_damaged,
        compares=arguments.purge_removed,
    )
    if arguments.purge_removed and not request.are_manifests:
        raise ConfigError(
            "--purge-removed compares with what manifests name: give all of them (.json), and "
            "nothing else"
        )
    printer = ImportPrinter(console, purges=arguments.purge_removed)
    with open_stores(configuration) as stores:
        act = plan_import if arguments.dry_run else import_waczs
        done = act(stores, request, printer.on_event)
        printer.removed(done)
        is_well = done.is_well
        if not arguments.dry_run:
            printer.summarise(done, configuration)
            if arguments.purge_removed:
                references = arguments.references
                is_well = _purge(stores, done, configuration.collection, references, console)
    return Exit.DONE if is_well else Exit.SOME_FAILED


def _purge(
    stores: Stores, done: ImportRun, collection: str, references: str, console: Console
) -> bool:
    """Purge the crawls that manifests no longer name; whether all of it was done."""
    if not done.is_well or done.met_others:
        why = "another process imports, too" if done.met_others else "not everything was imported"
        console.warn(f"nothing was removed, for {why} (see above): run it again")
        return False
    removed = []
    for report in remove_crawls(stores, done.removable, collection, references):
        say_removal(report, console)
        removed.append(report)
    if not removed:
        console.say("nothing was removed")
    return all(one.is_complete for one in removed)
