"""Files of a scene's store in another compression, and their records as they are then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from scenes import COLLECTION, Scene
from steps_here import run_by

from pinakes.access.cdx.answer import AnswerProgress, CdxIndex
from pinakes.access.cdx.parameters import Dialect, parse_query
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.config import load_configuration
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.cdxj import parse_cdxj
from pinakes.recompression.forms import IN_GZIP, UNCOMPRESSED, StoredForm, in_zstd
from pinakes.recompression.stored import Result, StoredRecompressor, TasksOf
from pinakes.rewrite.recompress_file import Recompression
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

FORMS = {"zst": in_zstd(3, None), "gz": IN_GZIP, "plain": UNCOMPRESSED}


def recompress(
    scene: Scene,
    form: str | StoredForm,
    *crawls: str,
    again: bool = False,
    runner: str | None = None,
    at: Callable[[str], None] = lambda step: None,
) -> list[Result]:
    """All crawls, or these; by jobs, if mrjob's runner is named, or "here"."""
    names = crawls or [one.crawl for one in scan_crawls(scene.rows)]
    wanted = FORMS[form] if isinstance(form, str) else form
    with nullcontext() if runner is None else run_by(runner):
        work = StoredRecompressor(
            scene.rows,
            scene.archive,
            Actor(),
            again=again,
            tasks_of=None if runner is None else _tasks_of(scene, runner),
            at=at,
        )
        return list(work.recompress(COLLECTION, names, wanted))


def _tasks_of(scene: Scene, runner: str) -> TasksOf:
    from pinakes.mr_jobs.recompress_tasks import RecompressTasks  # needs the extra

    options = {"store": str(scene.folder / "store")}
    configuration = load_configuration(options=options, environment={}, folder=Path("/"))
    name = "inline" if runner == "here" else runner
    return lambda act, form: RecompressTasks(
        act=act, form=form, configuration=configuration, runner=name
    )


def outcomes(results: list[Result]) -> dict[str, str]:
    """By stored file as it was; of one that stays, why."""
    return {
        (one.file if isinstance(one, Recompression) else one.file or ""): (
            one.outcome if isinstance(one, Recompression) else one.message
        )
        for one in results
    }


def names(scene: Scene) -> list[str]:
    """The stored files that readers see."""
    return [
        entry.stored_name for entry in scan_entries(scene.rows) if entry.state is FileState.STORED
    ]


@contextmanager
def opened(scene: Scene, name: str) -> Iterator[Source]:
    with scene.archive.open(name) as file:
        yield Source(file, name=name)


def records(scene: Scene) -> dict[str, list[tuple[bytes, bytes]]]:
    """Of each file the records that are in it now: header and block."""
    found = {}
    for entry in scan_entries(scene.rows):
        if entry.state is not FileState.STORED:
            continue
        with opened(scene, entry.stored_name) as source:
            found[entry.archive_file] = [
                (item.header.raw, b"".join(map(bytes, item.chunks())))
                for item in iter_records(source)
                if isinstance(item, Record)
            ]
    return found


def found_by_lines(scene: Scene, host: str = "example.org") -> set[tuple[str, str, bytes, bytes]]:
    """What the CDX lines of the store lead to: URL, second, header and block of the record there.

    A record alone is read, at the place of its line, which ends where the line says.
    """
    index = CdxIndex(scene.rows, scene.archive, files=VisibleFiles(scene.rows, fresh_s=0))
    query = parse_query(f"url={host}&matchType=domain".encode(), Dialect.PYWB)
    found = set()
    for text in b"".join(index.iter_bytes(query, None, AnswerProgress())).decode().splitlines():
        line = parse_cdxj(text)
        assert line.filename in names(scene)
        with opened(scene, line.filename) as source:
            record = read_record(source, line.offset or 0)
            assert isinstance(record, Record)
            assert (record.offset, record.length) == (line.offset, line.length)
            block = b"".join(map(bytes, record.chunks()))
            found.add((line.url, line.timestamp, record.header.raw, block))
    return found
