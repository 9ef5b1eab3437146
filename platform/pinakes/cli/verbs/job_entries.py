"""The jobs of `pinakes job`: where each is, what it does, and what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from pinakes.cli.frame.options import add_dry_run, add_inputs, add_settings


class Entry(NamedTuple):
    """A job: where it is, what it does, and which further arguments it takes."""

    module: str
    job: str
    words: str
    takes: tuple[str, ...] = ()


JOBS = {
    "manifest": Entry("pinakes.mr_jobs.manifest", "ManifestJob", "hash every capture, a line each"),
    "resolve_collisions": Entry(
        "pinakes.mr_jobs.resolve_collisions",
        "ResolveCollisionsJob",
        "compare bodies of one digest, byte for byte",
    ),
    "flag_duplicates": Entry(
        "pinakes.mr_jobs.flag_duplicates",
        "FlagDuplicatesJob",
        "which copy is original, and which refers to it",
    ),
    "write_revisits": Entry(
        "pinakes.mr_jobs.write_revisits",
        "WriteRevisitsJob",
        "write archive files anew, duplicates as revisits",
        ("to",),
    ),
    "validate": Entry(
        "pinakes.mr_jobs.validate",
        "ValidateJob",
        "compare two folders of archive files, record by record",
        ("originals", "accept"),
    ),
    "convert_arc": Entry(
        "pinakes.mr_jobs.convert_arc", "ConvertArcJob", "convert ARC files to WARC", ("to",)
    ),
    "restore": Entry(
        "pinakes.mr_jobs.restore",
        "RestoreJob",
        "turn our revisits back to full records",
        ("to", "originals"),
    ),
    "commit_copy": Entry(
        "pinakes.mr_jobs.commit_copy",
        "run_commit_copy",
        "put a validated set in the place of a second copy",
        ("receipt",),
    ),
}
RUNNERS = ("inline", "local", "hadoop")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which job, on what, where."""
    nested = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, entry in JOBS.items():
        text = f"{entry.words[0].upper()}{entry.words[1:]}."
        job = nested.add_parser(name, help=entry.words, description=text)
        _configure_job(job)
        _configure_more(job, entry)


def _configure_more(job: argparse.ArgumentParser, entry: Entry) -> None:
    if "to" in entry.takes:
        job.add_argument(
            "--to",
            metavar="FOLDER",
            required=True,
            help="write the new files there: a path, or with --runner hadoop hdfs://…",
        )
    if "receipt" in entry.takes:
        job.add_argument(
            "--receipt",
            metavar="FILE",
            type=Path,
            required=True,
            help="what `pinakes validate` wrote of the two",
        )
        add_dry_run(job)
    if "originals" in entry.takes:
        job.add_argument(
            "--originals",
            metavar="FOLDER",
            help="look for originals in the archive files of this folder, too",
        )
    if "accept" in entry.takes:
        job.add_argument(
            "--receipt",
            metavar="FILE",
            type=Path,
            help="write what was found, for commit_copy and commit-copy",
        )
        job.add_argument(
            "--accept",
            metavar="FILE",
            type=Path,
            help="with --receipt: discrepancies that somebody accepted, as of `pinakes validate`",
        )


def _configure_job(parser: argparse.ArgumentParser) -> None:
    add_inputs(
        parser,
        "INPUT",
        "what the job reads (docs/jobs.md): archive files, folders of them, manifests",
    )
    parser.add_argument(
        "--stored", action="store_true", help="inputs are names of files in the store"
    )
    parser.add_argument(
        "--runner",
        choices=RUNNERS,
        default="inline",
        help="in this process, in several on this host, or on YARN (default: inline)",
    )
    parser.add_argument(
        "--print",
        action="store_true",
        dest="print_only",
        help="with --runner hadoop: print the command lines that do the same, and run nothing",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="write there (-: standard output)"
    )
    parser.add_argument(
        "--options",
        metavar="TEXT",
        default="",
        help="the job's own, as one text: --options='--digest sha256'",
    )
    add_settings(parser, "store", "job_folder", "job_python", "job_streaming_jar")
