"""`pinakes study`: how much of an archive repeats, computed by Spark from its sidecars."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.study_text import format_study
from pinakes.errors import ConfigError
from pinakes.profile import open_stores

if TYPE_CHECKING:
    from pinakes.mr_jobs.study.spark_extra import DataFrame

_SOME = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Which crawls, what about them, and where Spark works."""
    parser.add_argument("crawls", metavar="CRAWL", nargs="*", help="study these crawls")
    parser.add_argument("--all", action="store_true", help="study all crawls of the store")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="write the tables there as CSV, with plots (PNG) and a page (HTML) of both",
    )
    what.add_argument(
        "--sql",
        metavar="QUERY",
        help="instead, run a query on the table ccindex (Common Crawl's columns, and ours)",
    )
    what.add_argument(
        "--parquet",
        metavar="PLACE",
        help="instead, write that table as Parquet: a path, or hdfs://…",
    )
    parser.add_argument(
        "--master",
        default="local[*]",
        help="where Spark works: local[N], N processes of this host, or yarn (default: local[*])",
    )
    parser.add_argument(
        "--conf",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of Spark's: --conf spark.executor.instances=40",
    )
    add_settings(parser, "store", "temp_dir", "job_folder", "job_python")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Study, or query; files that land or leave meanwhile are named, and left out."""
    from pinakes.mr_jobs.study.index_columns import COLUMNS, STUDIED
    from pinakes.mr_jobs.study.index_table import VIEW, index_table  # needs the extra
    from pinakes.mr_jobs.study.inputs import study_inputs
    from pinakes.mr_jobs.study.spark_session import spark_session

    if bool(arguments.crawls) == arguments.all:
        raise ConfigError("name crawls, or --all")
    settings = _settings(arguments.conf)
    configuration = configuration_of(arguments)
    with open_stores(configuration) as stores:
        inputs = study_inputs(stores.rows, arguments.crawls)
    for name in inputs.unfinished[:_SOME]:
        console.warn(f"{name}: lands or leaves, and is left out")
    if len(inputs.unfinished) > _SOME:
        console.warn(f"{len(inputs.unfinished):,} files in all land or leave, and are left out")
    columns = STUDIED if arguments.sql is arguments.parquet is None else tuple(COLUMNS)
    captures = sum(file.captures for file in inputs.files)
    with spark_session(configuration, arguments.master, settings, captures=captures) as session:
        index = index_table(session, inputs.files, configuration, columns)
        if arguments.sql is not None:
            index.createOrReplaceTempView(VIEW)
            _print_rows(session.sql(arguments.sql), console)
        elif arguments.parquet is not None:
            index.write.partitionBy("crawl", "subset").parquet(arguments.parquet)
            console.say(f"wrote {arguments.parquet}")
        else:
            _study(index, arguments.output, console)
    return Exit.SOME_FAILED if inputs.unfinished else Exit.DONE


def _settings(words: list[str]) -> Mapping[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, sign, _ in pairs:
        if not sign or not name.startswith("spark."):
            raise ConfigError(f"--conf {name}: a setting is written spark.NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _study(index: DataFrame, output: Path | None, console: Console) -> None:
    from pinakes.mr_jobs.study.folder import write_study
    from pinakes.mr_jobs.study.study import STEPS, study

    with console.progress("study", total=STEPS, unit="steps") as progress:
        found = study(index, progress.advance)
    console.result(found.as_json(), text=format_study(found))
    if output is not None:
        write_study(found, output)
        console.say(f"see {output / 'study.html'}")


def _print_rows(rows: DataFrame, console: Console) -> None:
    """Rows as they come; for people, tabs between cells, below a line of names."""
    if not console.json:
        console.result("\t".join(rows.columns))
    for row in rows.toLocalIterator():
        cells = row.asDict(recursive=True)
        console.result(cells, text="\t".join(printable(cell) for cell in cells.values()))
