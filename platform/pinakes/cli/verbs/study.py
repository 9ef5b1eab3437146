"""`pinakes study`: how much of an archive repeats, from its sidecars, by DuckDB or Spark."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.study_text import format_study
from pinakes.errors import ConfigError
from pinakes.profile import open_archive, open_stores

if TYPE_CHECKING:
    from pinakes.config import Configuration
    from pinakes.mr_jobs.study.database import Database
    from pinakes.mr_jobs.study.index_row import IndexedFile

_SOME = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Which crawls, what about them, and whether Spark works, and where."""
    parser.add_argument("crawls", metavar="CRAWL", nargs="*", help="study these crawls")
    option = options_of(parser)
    option("--all", "study all crawls of the store")
    what = options_of(parser.add_mutually_exclusive_group())
    what(
        "-o, --output FOLDER",
        "write the tables there as CSV, with plots (PNG) and a page (HTML) of both",
        type=Path,
    )
    what(
        "--sql QUERY",
        "instead, run a query on the table ccindex (Common Crawl's columns, and ours)",
    )
    what(
        "--parquet PLACE",
        "instead, write that table as Parquet: a path, or, with --master, hdfs://…",
    )
    parser.add_argument(
        "--master",
        help="let Spark work, and where: local[N], N processes of this host, local[*], or yarn "
        "(default: DuckDB, in this process)",
    )
    option(
        "--conf NAME=VALUE",
        "with --master, a setting of Spark's: --conf spark.executor.instances=40",
        action="append",
        default=[],
    )
    add_settings(parser, "store", "temp_dir", "job_folder", "job_python")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """What is counted or asked, by which engine, and where it goes."""

    master: str | None
    conf: Mapping[str, str]
    sql: str | None
    parquet: str | None
    output: Path | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are needed."""
        from pinakes.mr_jobs.study.index_columns import COLUMNS, STUDIED

        return STUDIED if self.sql is self.parquet is None else tuple(COLUMNS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Study, or query; files that land or leave in the meantime are named, and left out."""
    from pinakes.mr_jobs.study.inputs import study_inputs

    if bool(arguments.crawls) == arguments.all:
        raise ConfigError("no crawl given: name one or more, or give --all")
    request = StudyRequest(
        master=arguments.master,
        conf=_settings(arguments.conf),
        sql=arguments.sql,
        parquet=arguments.parquet,
        output=arguments.output,
    )
    if request.conf and request.master is None:
        raise ConfigError("--conf is for Spark: add --master local[*], or yarn")
    _need_extras(request)
    configuration = configuration_of(arguments)
    with open_stores(configuration) as stores:
        inputs = study_inputs(stores.rows, arguments.crawls)
    for name in inputs.unfinished[:_SOME]:
        console.warn(f"{name}: lands or leaves, and is left out")
    if len(inputs.unfinished) > _SOME:
        console.warn(f"{len(inputs.unfinished):,} files in all land or leave, and are left out")
    if request.master is None:
        _work_here(request, configuration, inputs.files, console)
    else:
        _work_on_spark(request, request.master, configuration, inputs.files, console)
    return Exit.SOME_FAILED if inputs.unfinished else Exit.DONE


def _need_extras(request: StudyRequest) -> None:
    """Import what an extra brings, so that a missing one is reported at the start.

    Raises:
        MissingExtra: for that one.
    """
    if request.master is not None:
        import pinakes.mr_jobs.study.spark_extra
    else:
        import pinakes.mr_jobs.study.duckdb_database
    if request.output is not None:
        import pinakes.mr_jobs.study.plots  # noqa: F401


def _work_here(
    request: StudyRequest,
    configuration: Configuration,
    files: Sequence[IndexedFile],
    console: Console,
) -> None:
    from pinakes.mr_jobs.study.duckdb_database import duckdb_database
    from pinakes.mr_jobs.study.index_batches import iter_index_batches, write_index_parquet

    columns = request.columns
    captures = sum(file.captures for file in files)
    with open_archive(configuration) as archive:
        batches = iter_index_batches(archive, files, columns)
        if request.parquet is not None:
            write_index_parquet(batches, request.parquet)
            console.say(f"wrote {request.parquet}")
            return
        with duckdb_database(configuration.temp_dir) as database:
            with console.progress("sidecars", total=captures, unit="captures") as progress:
                database.load(batches, columns, progress.advance)
            if request.sql is not None:
                _print_rows(*database.iter_rows(request.sql), console)
            else:
                _study(database, request.output, console)


def _work_on_spark(
    request: StudyRequest,
    master: str,
    configuration: Configuration,
    files: Sequence[IndexedFile],
    console: Console,
) -> None:
    from pinakes.mr_jobs.study.database import VIEW
    from pinakes.mr_jobs.study.spark_database import SparkDatabase, index_table
    from pinakes.mr_jobs.study.spark_session import spark_session

    captures = sum(file.captures for file in files)
    with spark_session(configuration, master, request.conf, captures=captures) as session:
        index = index_table(session, files, configuration, request.columns)
        if request.sql is not None:
            index.createOrReplaceTempView(VIEW)
            found = session.sql(request.sql)
            rows = (row.asDict(recursive=True) for row in found.toLocalIterator())
            _print_rows(found.columns, rows, console)
        elif request.parquet is not None:
            index.write.partitionBy("crawl", "subset").parquet(request.parquet)
            console.say(f"wrote {request.parquet}")
        else:
            _study(SparkDatabase(session, index), request.output, console)


def _settings(words: list[str]) -> Mapping[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, sign, _ in pairs:
        if not sign or not name.startswith("spark."):
            raise ConfigError(f"--conf {name}: a setting is written spark.NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _study(database: Database, output: Path | None, console: Console) -> None:
    from pinakes.mr_jobs.study.study import STEPS, study

    with console.progress("study", total=STEPS, unit="steps") as progress:
        found = study(database, progress.advance)
    console.result(found.as_json(), text=format_study(found))
    if output is not None:
        from pinakes.mr_jobs.study.folder import write_study

        write_study(found, output)
        console.say(f"see {output / 'study.html'}")


def _print_rows(
    columns: Sequence[str], rows: Iterable[Mapping[str, object]], console: Console
) -> None:
    """Rows as they come; for people, tabs between cells, below a line of names."""
    if not console.json:
        console.result("\t".join(columns))
    for cells in rows:
        console.result(cells, text="\t".join(printable(cell) for cell in cells.values()))
