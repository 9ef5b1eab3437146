"""`pinakes ingest`: land archive files into a crawl."""

from __future__ import annotations

import argparse

from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.cli.exits import Exit
from pinakes.cli.options import (
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
    input_names,
)
from pinakes.cli.output import Console
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.ingest.acts import Actor
from pinakes.ingest.inputs import Input, iter_inputs
from pinakes.ingest.landing import Landed, Lander
from pinakes.profile import open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """Files or folders, and the crawl they belong to."""
    add_inputs(parser, "PATH", "archive files, or folders of them")
    parser.add_argument("--crawl", metavar="ID", required=True, help="the crawl they belong to")
    add_settings(parser, "store", "collection")
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what landed, was there, or was refused and why."""
    configuration = configuration_of(arguments)
    left: list[object] = []
    inputs = list(iter_inputs(input_names(arguments), left))  # type: ignore[arg-type]
    for path in left:
        console.warn(f"{path}: a writer still has it; left")
    if arguments.dry_run:
        console.results(
            {"file": archive_file(arguments.crawl, name), "from": str(path)}
            if console.json
            else f"{path} -> {archive_file(arguments.crawl, name)}"
            for path, name in inputs
        )
        return Exit.DONE
    failed = False
    actor = Actor()
    with open_stores(configuration) as stores:
        ensure_crawl(
            stores.rows,
            arguments.crawl,
            CrawlFacts(collection=configuration.collection),
            act=actor.new_act("ingest"),
            act_time_ms=actor.now_ms(),
        )
        lander = Lander(stores.rows, stores.archive, actor)
        with console.progress("ingest", total=_size(inputs)) as progress:
            for path, name in inputs:
                try:
                    identity = archive_file(arguments.crawl, name)
                    landed = lander.land(path, identity, configuration.collection)
                except (InputRefused, Conflict, DigestMismatch) as problem:
                    console.warn(problem)
                    failed = True
                else:
                    failed = _report(landed, str(path), console) or failed
                    progress.advance(landed.size)
    return Exit.SOME_FAILED if failed else Exit.DONE


def _report(landed: Landed, path: str, console: Console) -> bool:
    """Say what landed; whether nothing in the file could be read."""
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
        text=f"{landed.archive_file}: {what}, {landed.size:,} bytes"
        + ("" if landed.was_there else f", {landed.captures} captures"),
    )
    for line in landed.lines:
        console.warn(f"{path}:{line}")
    unread = not landed.was_there and not landed.records
    if unread:
        console.warn(f"{path}: landed as it is, but no record in it could be read")
    return unread


def _size(inputs: list[Input]) -> int:
    return sum(path.stat().st_size for path, _ in inputs if path.is_file())
