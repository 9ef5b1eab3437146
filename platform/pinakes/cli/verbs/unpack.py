"""`pinakes unpack`: the bodies of captures, or records, as files of a folder."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from functools import partial
from pathlib import Path

from pinakes.archive_store.local.files import make_folder
from pinakes.catalog.sound_records import require_sound
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_inputs, add_raw, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import (
    InputFile,
    RecordInputs,
    named_later,
    record_inputs_of,
    size_of,
)
from pinakes.cli.frame.selection_options import add_selection, is_selected, selection_of
from pinakes.counts import count_of
from pinakes.errors import (
    ConfigError,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
)
from pinakes.extract.folder import PutFile, put_file
from pinakes.extract.index_file import IndexFile
from pinakes.extract.url_paths import INDEX, path_of_url, safe_part, safe_path, with_suffix
from pinakes.index.selection import Entry, Selection, entry_of
from pinakes.rewrite.taken import pieces_taken, require_undamaged, require_whole
from pinakes.warc.compression.members import compression_of
from pinakes.warc.dates import format_14
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_REVISIT = (
    "a revisit has no body of its own: `pinakes restore` makes full records of ours, with "
    "--foreign of crawlers' where the body is at hand"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls; which of their records; the folder."""
    add_inputs(parser, "WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="a folder, made if needed; nothing that is there is overwritten",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--stored",
        action="store_true",
        help="bodies as they are stored, in chunks and compressed (default: decoded)",
    )
    what.add_argument(
        "--records", action="store_true", help="a WARC file for each record of any type instead"
    )
    add_raw(parser)
    add_selection(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A file for each body or record, and an index of them."""
    selection = selection_of(arguments) or Selection()
    folder = Path(arguments.output)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"-o {folder} is a file: name a folder")
    with record_inputs_of(arguments, configuration_of(arguments), console) as inputs:
        # Before there are new files: the folder may be one that is given.
        files = list(inputs.files())
        make_folder(folder)
        with (
            IndexFile(folder / INDEX) as index,
            console.progress("unpack", total=sum(map(size_of, files))) as progress,
        ):
            work = _Unpack(
                inputs, folder, index, console, stored=arguments.stored, raw=arguments.raw
            )
            put = work.put_record if arguments.records else work.put_body
            for file in files:
                for source, record in inputs.records(file, progress.advance, on_fault=named_later):
                    if is_selected(source, record, selection):
                        try:
                            put(file, source, record)
                        except (DigestMismatch, InputRefused, MalformedRecord) as problem:
                            inputs.warn(problem)
    if console.json:
        console.say(work.text())
    else:
        console.result(work.text())
    return Exit.SOME_FAILED if inputs.failed else Exit.DONE


class _Unpack:
    """What is put into the folder, and how much of what.

    What cannot be put raises InputRefused, MalformedRecord or DigestMismatch, and nothing of it is
    there.
    """

    def __init__(
        self,
        inputs: RecordInputs,
        folder: Path,
        index: IndexFile,
        console: Console,
        *,
        stored: bool,
        raw: bool,
    ) -> None:
        self._inputs = inputs
        self._folder = folder
        self._index = index
        self._console = console
        self._stored = stored
        self._raw = raw
        self._counts: Counter[str] = Counter()

    def put_record(self, file: InputFile, source: Source, record: Record) -> None:
        """A record as a WARC file of its own, named by its place."""
        require_whole(source, record)
        self._require_sound(file, source, record)
        compressed = compression_of(source, record.offset) is not None
        inside = self._inputs.inside[file] if isinstance(file, str) else source.name
        inner = f"+{record.inner_offset}" if record.inner_offset else ""
        name = safe_part(f"{record.offset:012d}{inner}-{record.type}")
        name += ".warc.gz" if compressed else ".warc"
        content = partial(pieces_taken, source, record, compressed=compressed)
        put = put_file(self._folder, f"{safe_path(inside.split('/'))}/{name}", content)
        self._note(put, entry_of(record, source.name))

    def put_body(self, file: InputFile, source: Source, record: Record) -> None:
        """The body of a capture, named by its URL; nothing for records of other types."""
        if record.type == "revisit":
            self._counts["revisits"] += 1
            raise MalformedRecord(_REVISIT, file=source.name, offset=record.offset)
        if record.type not in ("response", "resource"):
            return
        self._require_sound(file, source, record)
        if not record.payload_size:
            self._counts["empty"] += 1
            return
        entry = entry_of(record, source.name)
        path = path_of_url(entry.target_uri)
        if entry.status is not None and not 200 <= entry.status < 300:
            path = with_suffix(path, str(entry.status))
        time = format_14(record.date) if record.date is not None else None
        if self._stored:
            put = put_file(self._folder, path, record.payload, suffix=time)
        else:
            put = self._put_decoded(path, source, record, time)
        self._note(put, entry)

    def _require_sound(self, file: InputFile, source: Source, record: Record) -> None:
        if self._raw:
            return
        require_undamaged(source, record)
        if isinstance(file, str):
            require_sound(source, record)
        self._inputs.require_as_landed(file, source, record)

    def _put_decoded(self, path: str, source: Source, record: Record, time: str | None) -> PutFile:
        """The body decoded; as it is stored, under another name, where it cannot be."""
        try:
            return put_file(self._folder, path, record.content_pieces, suffix=time)
        except MalformedRecord as error:
            why = error.__cause__ or error
            self._inputs.warn(
                MalformedRecord(
                    f"{why}: written as it is stored, with .stored behind its name",
                    file=source.name,
                    offset=record.offset,
                )
            )
        return put_file(self._folder, f"{path}.stored", record.payload, suffix=time)

    def _note(self, put: PutFile, entry: Entry) -> None:
        self._counts["files"] += 1
        self._counts["bytes"] += put.size
        self._counts["old"] += not put.is_new
        line = {
            "file": put.path,
            "size": put.size,
            "place": entry.place,
            "type": entry.type,
            "url": entry.target_uri,
            "date": entry.date,
            "status": entry.status,
            "media_type": entry.media_type,
            "digest": entry.digest,
        }
        self._index.add(json.dumps(line))
        if self._console.json:
            self._console.result(line)

    def text(self) -> str:
        """What was done, in a line."""
        counts = self._counts
        parts = [f"{count_of(counts['files'], 'file')}, {count_of(counts['bytes'], 'byte')}"]
        if counts["old"]:
            parts.append(f"already there: {counts['old']:,}")
        if counts["empty"]:
            parts.append(f"empty bodies left out: {counts['empty']:,}")
        if counts["revisits"]:
            parts.append(f"revisits left out: {counts['revisits']:,}")
        return f"{printable(self._folder)}: {'; '.join(parts)}"
