"""`pinakes zstd compress` and `decompress`: archive files in another compression.

With `-o`; without it, crawls of the store are meant: see `zstd_stored`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from zstandard import ZstdCompressionDict

from pinakes.archive_store.local.files import make_folder
from pinakes.archive_store.located import local_path, open_place, output_name
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.options import add_dry_run, add_inputs, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.output_names import refuse_clashes
from pinakes.cli.verbs.zstd_files import FilesRequest, write_files
from pinakes.counts import count_of
from pinakes.errors import (
    ConfigError,
    InputRefused,
    PinakesError,
)
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.rewrite.recompress import MemberForm
from pinakes.rewrite.recompress_file import PLANNED, TOO_LITTLE, Recompression
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.compression.zstd_writer import LEVELS
from pinakes.warc.file_names import is_remote

LEVEL = 9
"""docs/zstd.md says why."""


def configure_compress(parser: argparse.ArgumentParser) -> None:
    """Archive files, a folder, a dictionary and a level."""
    _add_shared(parser)
    parser.add_argument(
        "--dictionary",
        metavar="DICT",
        help="compress with this dictionary, or with that of this Zstandard archive file, and put "
        "it into each file (default: none, also for a file that has one; for a crawl the one that "
        "its collection keeps)",
    )
    parser.add_argument(
        "--level",
        metavar="N",
        type=int,
        default=LEVEL,
        help=f"from {LEVELS[0]}, fast, to {LEVELS[-1]}, small (default: {LEVEL})",
    )
    parser.add_argument(
        "--min-file-saving",
        metavar="FRACTION",
        help="leave a file unless the new one is smaller by this part of it, as 1%% or 0.01; 0: "
        "none (default: of crawls the setting of that name; with -o 0: all are written)",
    )


def configure_decompress(parser: argparse.ArgumentParser) -> None:
    """Archive files and a folder."""
    _add_shared(parser)
    parser.add_argument(
        "--plain", action="store_true", help="uncompressed (default: a gzip member a record)"
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write each file in another compression."""
    dictionary = None if arguments.action == "decompress" else dictionary_of(arguments)
    request = FilesRequest(
        folder=Path(arguments.output),
        level=None if arguments.action == "decompress" else arguments.level,
        dictionary=None if dictionary is None else dictionary.as_bytes(),
        plain=arguments.action == "decompress" and arguments.plain,
        jobs=configuration_of(arguments).jobs,
        plan=arguments.plan,
        dry_run=arguments.dry_run,
        min_saving=min_saving_of(arguments),
    )
    form = request.form()
    given = archive_files_of(arguments, console)
    return given.exit(_write_all(given.names, request, form, console))


def min_saving_of(arguments: argparse.Namespace) -> float:
    """What a new file must save, as a part of the old one; 0 for none.  `Raises` ConfigError."""
    if arguments.action == "decompress":
        return 0
    is_given = arguments.min_file_saving is not None or arguments.output is None
    return configuration_of(arguments).min_file_saving if is_given else 0


def dictionary_of(arguments: argparse.Namespace) -> ZstdCompressionDict | None:
    """The dictionary to compress with, if any.  `Raises` ConfigError."""
    if arguments.dictionary is None:
        return None
    try:
        with open_place(arguments.dictionary) as source:
            return dictionary_in(source)
    except InputRefused as refusal:
        raise ConfigError(refusal.message, file=refusal.file) from refusal


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add_inputs(
        parser,
        "FILE|CRAWL",
        "WARC or ARC files in any compression, or folders of them, with -o; without it crawls or "
        "collections of the store, whose files get a new generation",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="folder for the new files; not for crawls"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        help="number of processes, a file each; of a single file, and of crawls, of threads that "
        "compress (default: 1)",
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="say what would be saved, by a sample of the records of large files; write nothing",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="write files of crawls anew that are in this compression already, for another level "
        "or dictionary, or a member a record (default: left)",
    )
    add_dry_run(parser)


def _write_all(
    given: Sequence[str], request: FilesRequest, form: MemberForm, console: Console
) -> Exit:
    names = without_clashes(given, request.folder, form)
    if not (request.plan or request.dry_run):
        if request.folder.exists() and not request.folder.is_dir():
            raise ConfigError(f"-o {request.folder} is not a folder")
        make_folder(request.folder)
    complete = True
    before = after = left = 0
    with closing(write_files(names, request, form, console)) as results:
        for name, result in results:
            if isinstance(result, PinakesError):
                console.warn(result)
                complete = False
                continue
            for finding in (*result.stretches, *result.findings, *result.left_out):
                console.warn(PinakesError(finding.message, file=name, offset=finding.offset))
            complete &= not result.stretches
            if result.outcome == TOO_LITTLE:
                left += 1
            else:
                before, after = before + result.bytes_before, after + result.bytes_after
            console.result(result.as_json(), text=sentence(result))
    if len(names) > 1:
        console.say(f"{sizes(before, after)} in all")
    if left:
        console.say(too_little(left, request.min_saving))
    return Exit.DONE if complete else Exit.SOME_FAILED


def too_little(files: int, min_saving: float) -> str:
    """The line about files that are left."""
    return f"{count_of(files, 'file')} unchanged: would save less than {min_saving * 100:.4g}%"


def sentence(result: Recompression) -> str:
    """The line that is printed for a file."""
    if result.outcome == TOO_LITTLE:
        change = sizes(result.bytes_before, result.bytes_after)
        return printable(f"{result.file}: {TOO_LITTLE}, left as it is; {change}")
    records = ", ".join(f"{count} {name}" for name, count in sorted(result.records.items()))
    change = sizes(result.bytes_before, result.bytes_after)
    parts = [f"{result.file} -> {result.target}: {result.outcome}, {records}", change]
    if stretches := len(result.stretches):
        are = count_of(stretches, "stretch that is", "stretches that are")
        parts.append(f"{are} no record, kept unchanged")
    if result.sampled_records is not None:
        parts.append(f"by a sample of {count_of(result.sampled_records, 'record')}")
    elif result.outcome == PLANNED:
        parts.append("by all records")
    if result.outcome == UNCHANGED:
        parts.append("equal to the existing file")
    if result.content is not None:
        parts.append(f"verified, {result.content.size:,} bytes")
    return printable("; ".join(parts))


def sizes(before: int, after: int) -> str:
    """Both, and what one is of the other."""
    ratio = f" ({after / before:.1%})" if before else ""
    return f"{before:,} -> {after:,} bytes{ratio}"


def without_clashes(names: Sequence[str], folder: Path | None, form: MemberForm) -> list[str]:
    """The inputs, but for what an earlier run has made of another of them in the same folder.

    `folder` is that of the output, a path or a URL; None: no input is in it.
    Raises ConfigError where two inputs would be written under one name.
    """
    by_target: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_target[form.name(output_name(name))].append(name)
    for target, of_one in by_target.items():
        others = [name for name in of_one if folder is None or not _is_at(name, folder / target)]
        of_one[:] = others or of_one
    refuse_clashes(by_target)
    kept = set(chain.from_iterable(by_target.values()))
    return [name for name in names if name in kept]


def _is_at(place: str, path: Path) -> bool:
    return not is_remote(place) and local_path(place).resolve() == path.resolve()
