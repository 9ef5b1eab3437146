"""`pinakes qa export`: results and judgements of a run, for other tools."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.verbs.qa_pages import add_run_folder, settled_pairs
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import ConfigError
from pinakes.profile import open_stores

if TYPE_CHECKING:
    from pinakes.qa.export import ExportedPair

SCREENSHOT_KINDS = ("csv", "json", "xml", "pagelyzer")


def configure(parser: argparse.ArgumentParser) -> None:
    """The run, the format, the output."""
    add_run_folder(parser)
    option = options_of(parser)
    option(
        "--as",
        "csv: one line per pair; json: one object per line; xml: a ZIP of documents, schema "
        "docs/qa/pair.xsd; pagelyzer: label and two images, tab-separated (default: csv)",
        dest="form",
        choices=SCREENSHOT_KINDS,
    )
    option(
        "--missing",
        "instead, the URLs that the archive lacks, one per line, those requested by most "
        "pages first: seeds for a patch crawl; --as csv or json adds the number of pages",
    )
    option("-o, --output FILE", "a file (default: standard output)", default="-")
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write it."""
    from pinakes.qa import export
    from pinakes.qa.review.reviewed_pair import reviewed_pairs
    from pinakes.qa.run.run_folder import read_pairs

    form = arguments.form or "csv"
    if form == "xml" and not arguments.missing:
        pairs, _ = reviewed_pairs(read_pairs(arguments.folder))
        with output_file(arguments.output, console) as out:
            count = export.write_xml_archive((pair.judged.result for pair in pairs), out)
        console.say(f"{count_of(count, 'document')}")
        return Exit.DONE
    if arguments.missing:
        if arguments.form in ("xml", "pagelyzer"):
            raise ConfigError("--missing needs --as csv or json, or none")
        results = (pair.result for pair in read_pairs(arguments.folder))
        lines = _missing_lines(export.missing_urls(results), arguments.form)
    else:
        settled = _settled(arguments.folder, configuration_of(arguments), console)
        lines = {
            "csv": lambda: list(export.csv_lines(settled)),
            "json": lambda: [f"{json.dumps(export.as_object(pair))}\n" for pair in settled],
            "pagelyzer": lambda: list(export.pagelyzer_lines(settled)),
        }[form]()
    with output_file(arguments.output, console) as out:
        out.writelines(map(export.encode_line, lines))
    return Exit.DONE


def _missing_lines(urls: list[tuple[str, int]], form: str | None) -> list[str]:
    if form == "json":
        return [f"{json.dumps({'url': url, 'pages': pages})}\n" for url, pages in urls]
    if form == "csv":
        from pinakes.qa.export import csv_line

        return [csv_line(("url", "pages")), *(csv_line(entry) for entry in urls)]
    return [f"{url}\n" for url, _ in urls]


def _settled(folder: Path, configuration: Configuration, console: Console) -> list[ExportedPair]:
    """The pairs, the worst first, with their settlements from the store."""
    from pinakes.qa.export import ExportedPair

    with open_stores(configuration) as stores:
        return [
            ExportedPair(pair.judged, settled)
            for pair, settled in settled_pairs(folder, stores, console)
        ]
