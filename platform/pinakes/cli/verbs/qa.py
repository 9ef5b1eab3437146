"""`pinakes qa`: check that the pages of a crawl still render."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    Action,
    add_actions,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs import qa_export, qa_review, qa_run, qa_train
from pinakes.cli.verbs.qa_pages import (
    add_pages,
    add_run_folder,
    choice_of,
    name_missing,
    settled_pairs,
)
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.profile import open_stores
from pinakes.qa.run.chosen_pages import PageChoice, drawn_pages
from pinakes.qa.sample import SampledPage

if TYPE_CHECKING:
    from pinakes.qa.results import JudgedPair


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each step."""
    add_actions(parser, _ACTIONS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    if arguments.action == "sample":
        return _sample(choice_of(arguments), configuration_of(arguments), console)
    if arguments.action == "report":
        configuration = configuration_of(arguments) if arguments.settled else None
        return _report(arguments.folder, configuration, console)
    return _RUN[arguments.action](arguments, console)


def _configure_sample(parser: argparse.ArgumentParser) -> None:
    add_pages(parser)
    add_settings(parser, "store")


def _sample(choice: PageChoice, configuration: Configuration, console: Console) -> Exit:
    found = []
    with open_stores(configuration) as stores:
        for drawn in drawn_pages(stores, choice, EventPrinter(console)):
            found.append(drawn)
            console.result(_as_object(drawn), text=_line(drawn))
    console.say(f"{count_of(len(found), 'page')}")
    return Exit.SOME_FAILED if name_missing(choice, found, console) else Exit.DONE


def _configure_report(parser: argparse.ArgumentParser) -> None:
    add_run_folder(parser)
    options_of(parser)(
        "--settled", "say what people settled, from the run's store, and filter by it"
    )
    add_settings(parser, "store")


def _report(folder: Path, configuration: Configuration | None, console: Console) -> Exit:
    """With what people settled, if a configuration names the store."""
    from pinakes.qa.report.pages import write_report
    from pinakes.qa.run.run_folder import (
        read_extent,
        read_pairs,  # needs the extra
    )

    pairs = read_pairs(folder)
    extent = read_extent(folder, pairs)
    labels = None
    if configuration is not None:
        labels = _labels(folder, pairs, configuration, console)
    names = write_report(
        folder,
        pairs,
        title=os.path.basename(os.path.realpath(folder)),
        extent=extent,
        labels=labels,
    )
    if extent is not None and extent.not_captured:
        console.warn(extent.not_captured)
    page = str(folder / names[0])
    console.result({"page": page, "pages": len(names)}, text=printable(page))
    return Exit.DONE


def _labels(
    folder: Path, pairs: Sequence[JudgedPair], configuration: Configuration, console: Console
) -> dict[int, str]:
    """What people settled, by the place of a pair."""
    from pinakes.hbase_schema.name_keys import encode_pair_key
    from pinakes.qa.results import pair_key

    with open_stores(configuration) as stores:
        settled = {
            pair.key: found.label.value
            for pair, found in settled_pairs(folder, stores, console)
            if found is not None
        }
    keys = (encode_pair_key(pair_key(pair.result)) for pair in pairs)
    return {number: settled[key] for number, key in enumerate(keys) if key in settled}


def _as_object(drawn: SampledPage) -> dict[str, object]:
    page = drawn.page
    return {
        "url": page.url,
        "time": page.second,
        "site": page.site,
        "media_type": page.media_type,
        "weight": drawn.weight,
        "always": drawn.is_always,
    }


def _line(drawn: SampledPage) -> str:
    always = "  always" if drawn.is_always else ""
    return f"{drawn.page.second}  {drawn.weight:8.2f}  {printable(drawn.page.url)}{always}"


_ACTIONS = {
    "sample": Action("draw a sample of a crawl's pages", _configure_sample),
    "run": Action(
        "capture pages before and after deduplication in a browser, compare and judge them",
        qa_run.configure,
    ),
    "report": Action("write the report of a run as HTML pages", _configure_report),
    "export": Action(
        "write results and judgements for other tools",
        qa_export.configure,
    ),
    "review": Action("review the results of a run in a web page", qa_review.configure),
    "train": Action(
        "train a new model with settled pairs; the old one is kept",
        qa_train.configure,
    ),
}
_RUN = {
    "run": qa_run.run,
    "export": qa_export.run,
    "review": qa_review.run,
    "train": qa_train.run,
}
