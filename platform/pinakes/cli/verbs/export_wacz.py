"""`pinakes export-wacz`: a crawl, or archive files that are in no store, as one WACZ file."""

from __future__ import annotations

import argparse
from pathlib import Path

from pinakes.application.exporting import export_crawl, export_files, plan_export
from pinakes.application.inputs import GivenFiles, find_files, total_size
from pinakes.archive_store.local.whole_files import require_absent
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import ConfigError
from pinakes.export.exporting import ExportReport, ExportRequest
from pinakes.export.wacz_file import Described
from pinakes.index.external_sort import SortSpace
from pinakes.profile import open_stores
from pinakes.warc.file_names import is_archive_name


def configure(parser: argparse.ArgumentParser) -> None:
    """What is written, the file, and whether it needs other crawls."""
    parser.add_argument(
        "inputs",
        metavar="CRAWL|WARC",
        nargs="+",
        help="crawl ID; or archive files, by path or URL, and folders of them (DIR/): they need "
        "no store",
    )
    option = options_of(parser)
    option("-o, --output FILE", "file to write; an existing one is not replaced", required=True)
    option(
        "--standalone",
        "make revisits of records of other crawls full records, so that the file needs no "
        "other; by default those files are named in it",
    )
    add_dry_run(parser)
    add_settings(parser, "store", "temp_dir")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write it, or say what would be written."""
    configuration, printer = configuration_of(arguments), EventPrinter(console)
    target = Path(arguments.output)
    if arguments.output == "-":
        raise ConfigError("-o -: a WACZ file is not written to standard output: name a file")
    if target.is_dir():
        raise ConfigError(f"-o {target} is a folder: name a file")
    if not target.parent.is_dir():
        raise ConfigError(f"-o {target}: there is no folder {target.parent}")
    if any(map(_is_place, arguments.inputs)):
        if arguments.standalone:
            raise ConfigError("--standalone is for crawls: files are written as they are")
        given = find_files(arguments.inputs, printer)
        return _export_files(given, target, configuration, arguments.dry_run, console, printer)
    if len(arguments.inputs) > 1:
        raise ConfigError("one crawl at a time; of a file give the path: ./NAME")
    request = ExportRequest(crawl=arguments.inputs[0], standalone=arguments.standalone)
    return _export(request, target, configuration, arguments.dry_run, console, printer)


def _is_place(name: str) -> bool:
    """Whether a name is that of a file or folder: no crawl has such a name."""
    return "/" in name or is_archive_name(name)


def _export_files(
    given: GivenFiles,
    target: Path,
    configuration: Configuration,
    dry_run: bool,
    console: Console,
    printer: EventPrinter,
) -> Exit:
    if given.packages:
        raise ConfigError(f"{given.packages[0]} is a package already: name archive files")
    total = total_size(given.names)
    if dry_run:
        require_absent(target)
        what = (
            f"{count_of(len(given.names), 'file')}, {total:,} bytes: would be exported to {target}"
        )
        console.result({"path": str(target), "files": len(given.names)}, text=what)
        return printer.exit()
    space = SortSpace(folder=configuration.temp_dir)
    with console.progress("export", total=total) as progress:
        done = export_files(
            given.names, target, space, on_problem=printer, advance=progress.advance
        )
    console.result(
        {
            "name": target.name,
            "path": str(target),
            "hash": f"sha256:{done.sha256}",
            "size": done.size,
            "files": done.files,
            "captures": done.captures,
            "archive_bytes": done.archive_bytes,
        },
        text=f"{target}: {_contents(done)}; {done.size:,} bytes in all",
    )
    return printer.exit()


def _export(
    request: ExportRequest,
    target: Path,
    configuration: Configuration,
    dry_run: bool,
    console: Console,
    printer: EventPrinter,
) -> Exit:
    with open_stores(configuration) as stores:
        if dry_run:
            report = plan_export(stores, request, target, on_problem=printer)
        else:
            with console.progress("export") as progress:
                report = export_crawl(
                    stores,
                    request,
                    target,
                    on_problem=printer,
                    advance=progress.advance,
                    on_total=progress.set_total,
                )
    _show(report, target, console)
    return printer.exit()


def _contents(done: ExportReport | Described) -> str:
    files, captures = count_of(done.files, "file"), count_of(done.captures, "capture")
    return f"{files}, {captures}, {done.archive_bytes:,} bytes"


def _show(report: ExportReport, target: Path, console: Console) -> None:
    would = "would be " if report.sha256 is None else ""
    parts = [
        f"{report.crawl}: {would}exported to {target}",
        _contents(report),
    ]
    if report.size is not None:
        parts.append(f"{report.size:,} bytes in all")
    if report.requires:
        parts.append(f"requires {count_of(len(report.requires), 'file')} of other crawls")
    if report.restored:
        parts.append(f"{count_of(report.restored, 'revisit')} of other crawls full")
    if report.unresolved:
        parts.append(
            f"{count_of(report.unresolved, 'revisit refers', 'revisits refer')} to "
            "nothing that is in the store"
        )
    if report.signed:
        parts.append(f"{report.signed} signed descriptions kept")
    console.result(
        {
            # As an entry of a manifest, which `import-wacz` reads.
            "name": target.name,
            "path": str(target),
            "hash": None if report.sha256 is None else f"sha256:{report.sha256}",
            "size": report.size,
            "crawlId": report.crawl,
            "files": report.files,
            "captures": report.captures,
            "archive_bytes": report.archive_bytes,
            "requires": report.requires,
            "restored": report.restored,
            "unresolved": report.unresolved,
            "signed": report.signed,
        },
        text="; ".join(parts),
    )
