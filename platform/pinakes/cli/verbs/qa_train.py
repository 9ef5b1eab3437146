"""`pinakes qa train`: trains a new model with settled pairs; the old one is kept."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.qa_pages import settled_pairs
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.profile import open_stores
from pinakes.qa.judging.model import NAMES

if TYPE_CHECKING:
    from pinakes.qa.training.figures import Figures
    from pinakes.qa.training.labelled import LabelledPair


def configure(parser: argparse.ArgumentParser) -> None:
    """The runs, the model, the output."""
    parser.add_argument(
        "folders", metavar="DIR", type=Path, nargs="+", help="folders of runs (`qa run -o DIR`)"
    )
    option = options_of(parser)
    option("--model", f"which model (default: {NAMES[0]})", choices=NAMES, default=NAMES[0])
    option(
        "-o, --output FOLDER",
        "folder for the new model, which gets a name of its own",
        type=Path,
        required=True,
    )
    option("--seed N", "random seed of folds and trees (default: 1)", type=int, default=1)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Train, and report the accuracy of the old and the new model."""
    from pinakes.qa.training.train import train

    pairs = _settled(arguments.folders, configuration_of(arguments), console)
    done = train(arguments.model, pairs, arguments.output, seed=arguments.seed)
    entry = {
        "model": str(done.file),
        "version": done.model.version,
        "pairs": done.after.pairs,
        "old": done.old,
        "before": done.before.as_json(),
        "after": done.after.as_json(),
    }
    text = (
        f"{done.file}: {count_of(done.after.pairs, 'settled pair')}, each judged by models not "
        "trained with "
        f"its site: right {_percent(done.before)} before ({done.old}), {_percent(done.after)} after"
    )
    console.result(entry, text=text)
    return Exit.DONE


def _percent(figures: Figures) -> str:
    return f"{figures.right or 0:.1%}"


def _settled(
    folders: Sequence[Path], configuration: Configuration, console: Console
) -> list[LabelledPair]:
    """The settled pairs of these runs."""
    from pinakes.qa.training.labelled import labelled_pair

    with open_stores(configuration) as stores:
        return [
            labelled_pair(pair.judged.result, is_faulty=settled.is_faulty)
            for folder in folders
            for pair, settled in settled_pairs(folder, stores, console)
            if settled is not None
        ]
