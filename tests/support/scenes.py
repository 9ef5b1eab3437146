"""Two crawls of a small site, landed and deduplicated by the code under test."""

from __future__ import annotations

import base64
import gzip
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tasks_here import TasksHere
from warc_sets import FRAMED

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import FileEntry
from pinakes.config import load_configuration
from pinakes.dedupe.run.mending import Mender
from pinakes.dedupe.run.old_generations import DroppedGeneration, OldGenerations
from pinakes.dedupe.run.remaining import Remaining
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeProgress, DedupeReport, DedupeRequest
from pinakes.dedupe.run.store_run import StoreRun
from pinakes.dedupe.run.tasks import HERE, Executors, RewritingTasks
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

COLLECTION = "news"
At = Callable[[str], None]


def record(record_type: str, fields: dict[str, str], block: bytes) -> bytes:
    lines = ["WARC/1.1", f"WARC-Type: {record_type}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    head = "\r\n".join([*lines, f"Content-Length: {len(block)}", "", ""]).encode()
    return head + block + b"\r\n\r\n"


def response(uri: str, date: str, body: bytes, number: int, **extra: str) -> bytes:
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    fields = {
        "WARC-Target-URI": uri,
        "WARC-Date": date,
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>",
        "WARC-Payload-Digest": f"sha1:{digest}",
        "Content-Type": "application/http;msgtype=response",
        **extra,
    }
    return record("response", fields, http)


def page(number: int, version: int = 0) -> bytes:
    seed = hashlib.sha256(f"{number} {version}".encode()).hexdigest()
    return f"<html>{number} {seed}</html>".encode() + hashlib.shake_128(seed.encode()).digest(900)


def write_records(folder: Path, base: str, records: Sequence[bytes], layout: str = "gzip") -> None:
    """`base`.warc.gz with a member a record, or .warc.zst in one of the layouts of `FRAMED`."""
    if layout == "gzip":
        data = b"".join(gzip.compress(record, mtime=0) for record in records)
        (folder / f"{base}.warc.gz").write_bytes(data)
    else:
        (folder / f"{base}.warc.zst").write_bytes(FRAMED[layout](records))


def write_crawl(
    folder: Path,
    crawl: int,
    *,
    pages: int = 12,
    files: int = 2,
    version: int | None = None,
    layout: str = "gzip",
) -> None:
    """A crawl of the site: every third page is another one in every crawl, or `version`."""
    folder.mkdir(parents=True)
    for part in range(files):
        info = {
            "WARC-Date": f"202{crawl}-01-01T00:00:00Z",
            "WARC-Record-ID": f"<urn:uuid:{crawl:08d}-0000-4000-8000-{part:012d}>",
            "Content-Type": "application/warc-fields",
        }
        members = [record("warcinfo", info, b"software: tests\r\n")]
        for number in range(part, pages, files):
            uri = f"http://example.org/{number}"
            date = f"202{crawl}-01-01T00:{number // 60:02d}:{number % 60:02d}Z"
            body = page(number, (version or crawl) if number % 3 == 0 else 0)
            members.append(response(uri, date, body, crawl * 1000 + number))
        write_records(folder, f"part-{part}", members, layout)


class _ClockAhead(Actor):
    """Its clock is a millisecond ahead of what was written just now."""

    def now_ms(self) -> int:
        return Actor.now_ms(self) + 1


class Scene:
    """A store in a folder, and what is done with it; how its crawls are written."""

    layout = "gzip"

    def __init__(self, folder: Path, rows: EmbeddedRowStore) -> None:
        self.folder = folder
        self.rows = rows
        self.archive = LocalArchiveStore(folder / "store" / "archive")
        self.crawls = folder / "crawls"

    def land(self, crawl: int, *, at: At = lambda step: None) -> list[Landed]:
        actor = Actor()
        name = f"c{crawl}"
        facts = CrawlFacts(collection=COLLECTION)
        ensure_crawl(self.rows, name, facts, act="a", act_time_ms=actor.now_ms())
        lander = Lander(self.rows, self.archive, actor, at=at)
        inputs = iter_inputs([str(self.crawls / name)], LeftOut())
        return [lander.land(str(path), f"{name}/{inside}", COLLECTION) for path, inside in inputs]

    def dedupe(
        self,
        *,
        act: str = "dedupe-a",
        at: At = lambda step: None,
        grace_ms: int | None = None,
        progress: DedupeProgress = UNWATCHED,
        runner: str | None = None,
        **options: object,
    ) -> DedupeReport:
        """`act` names the run: it stands in every revisit, so states are compared by one.

        Without `grace_ms` no old generation is dropped.  With `runner` jobs do the work on
        archive files; those of `here` are none, and quick.
        """
        doing = Act.begin(self.rows, self.archive, Actor(), "dedupe", COLLECTION, name=act, at=at)
        asked: dict[str, object] = {"crawl": None, "min_file_saving": 0.0, **options}
        request = DedupeRequest(collection=COLLECTION, **asked)  # type: ignore[arg-type]
        with doing:
            return StoreRun(
                doing,
                RunFiles(self.folder / "store" / "runs" / doing.name),
                request,
                drop=None if grace_ms is None else partial(self.drop, grace_ms),
                executors=HERE if runner is None else Executors(partial(self.tasks, runner)),
            ).execute(progress)

    def tasks(
        self, runner: str, act: Act, request: DedupeRequest, files: RunFiles
    ) -> RewritingTasks:
        if runner == "here":
            return TasksHere(self.archive, request, act.name, files)
        from pinakes.mr_jobs.store_tasks import StoreTasks  # needs the extra

        options = {"store": str(self.folder / "store")}
        configuration = load_configuration(options=options, environment={}, folder=Path("/"))
        return StoreTasks(
            act=act, configuration=configuration, runner=runner, request=request, files=files
        )

    def drop(
        self,
        grace_ms: int,
        entries: Iterable[FileEntry],
        archive: ArchiveStore | None = None,
        *,
        mends: bool = False,
        at: At = lambda step: None,
    ) -> Iterator[DroppedGeneration]:
        archive = archive or self.archive
        actor = _ClockAhead()
        remaining = Remaining(self.rows, archive)
        act = Act(self.rows, archive, actor, actor.new_act("dedupe"), at=at)
        mender = Mender(act, remaining)
        old = OldGenerations(rows=self.rows, archive=archive, actor=actor, grace_ms=grace_ms)
        return old.drop(remaining, entries, mend=mender.mend if mends else None)

    def state(self) -> dict[str, object]:
        """Everything a reader can see, without names of acts, times and tokens."""
        from readers import visible_state

        return visible_state(self.rows, self.archive)


@contextmanager
def make_scene(
    folder: Path, crawls: Iterable[int] = (1, 2), *, layout: str = "gzip"
) -> Iterator[Scene]:
    (folder / "store").mkdir(parents=True, exist_ok=True)
    for crawl in crawls:
        write_crawl(folder / "crawls" / f"c{crawl}", crawl, layout=layout)
    path = folder / "store" / "rows.sqlite"
    EmbeddedSchemaAdmin(path).apply(declared_schema())
    rows = EmbeddedRowStore(path)
    try:
        scene = Scene(folder, rows)
        scene.layout = layout
        yield scene
    finally:
        rows.close()


@contextmanager
def copied_scene(made: Path, folder: Path) -> Iterator[Scene]:
    """A copy, in `folder`, of a closed scene."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    with make_scene(folder, crawls=()) as scene:
        yield scene


def in_scene(act: Callable[[Scene, At], object]) -> Callable[[Path, At], None]:
    """The act in the scene of a folder, to be killed at its steps."""

    def work(folder: Path, at: At) -> None:
        with make_scene(folder, ()) as scene:
            act(scene, at)

    return work


def write_late_crawl(scene: Scene, fields: dict[str, str]) -> None:
    """Crawl 5: a crawler's own revisit of /1 as crawl 2 had it."""
    folder = scene.crawls / "c5"
    folder.mkdir()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    revisit = record(
        "revisit",
        {
            "WARC-Target-URI": "http://example.org/1",
            "WARC-Date": "2025-01-01T00:00:00Z",
            "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000005000>",
            "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            "Content-Type": "application/http;msgtype=response",
            **fields,
        },
        head,
    )
    (folder / "late.warc.gz").write_bytes(gzip.compress(revisit, mtime=0))


BY_ID = {"WARC-Refers-To": "<urn:uuid:00000000-0000-4000-8000-000000002001>"}


def land_late_revisit(scene: Scene) -> None:
    """Both crawls, deduplicated, and then a crawler's own revisit of what was a duplicate."""
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    write_late_crawl(scene, BY_ID)
    scene.land(5)
