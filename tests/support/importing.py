"""WACZ files imported into a store, step by step; and what there is of them afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ingest_processes import contents
from packages import members_of, write_package

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.wacz_rows import scan_queue, scan_wacz_files
from pinakes.errors import InputRefused, PinakesError
from pinakes.ingest.inputs import LeftOut
from pinakes.ingest.landing import Lander
from pinakes.ingest.wacz.importing import Imported, WaczImporter
from pinakes.ingest.wacz.queue import queue_sources, work_off
from pinakes.ingest.wacz.sources import iter_sources
from pinakes.row_store.port import RowStore

COLLECTION = "news"


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_wacz(path: Path, *records: bytes) -> Path:
    """A WACZ file of one archive file, with these records."""
    return write_package(path, members_of({"a.warc.gz": b"".join(records)}))


def write_manifest(path: Path, entries: Iterable[Mapping[str, Any]], **more: object) -> Path:
    """A manifest of these entries."""
    path.write_text(json.dumps({**more, "resources": list(entries)}))
    return path


def entry_of(path: Path, **more: object) -> dict[str, Any]:
    """The entry of a WACZ file that lies beside its manifest."""
    found = {"name": path.name, "path": path.name, "size": path.stat().st_size}
    return {**found, "hash": f"sha256:{sha256_of(path)}", **more}


def import_all(
    rows: RowStore,
    archive: ArchiveStore,
    places: Iterable[Path | str],
    *,
    resume: bool = False,
    trusted: TrustedPlaces | None = None,
    at: Callable[[str], None] = lambda step: None,
    wait: Callable[[], None] = lambda: None,
) -> list[Imported | PinakesError]:
    """Queue what these places stand for, and work the queue off; what became of each."""
    actor = Actor()
    act = actor.new_act("ingest")
    trusted = trusted or TrustedPlaces()
    outcomes: list[Imported | PinakesError] = []
    for place in places:
        sources = iter_sources(str(place), LeftOut(), LeftOut(), trusted)
        queued = queue_sources(rows, COLLECTION, sources, act=act)
        outcomes += [item for item in queued if isinstance(item, InputRefused)]
    at("queued")
    importer = WaczImporter(
        rows,
        archive,
        Lander(rows, archive, actor, at=at),
        actor,
        act=act,
        collection=COLLECTION,
        trusted=trusted,
        at=at,
    )
    worked = work_off(rows, COLLECTION, importer.import_one, act=act, retry=resume, wait=wait)
    outcomes += [item.outcome for item in worked]
    return outcomes


def state_of(rows: RowStore, archive: ArchiveStore) -> dict[str, Any]:
    """What is there, without what may differ from one run to the other."""
    crawls = list(scan_crawls(rows))
    return {
        **contents(rows, archive),
        "crawls": [(crawl.crawl, crawl.facts.collection, crawl.state) for crawl in crawls],
        "lists": {
            crawl.crawl: [
                (
                    listed.name,
                    listed.wacz.sha256,
                    listed.wacz.size,
                    listed.wacz.files,
                    listed.wacz.captures,
                    listed.wacz.landed_bytes,
                )
                for listed in scan_wacz_files(rows, COLLECTION, crawl.crawl, incomplete=True)
            ]
            for crawl in crawls
        },
        "known": [row.key for row in rows.scan("crawls") if b":wacz:" in row.key],
        "queue": [
            (entry.wacz.place, entry.failure.why if entry.failure else None)
            for entry in scan_queue(rows, COLLECTION)
        ],
    }
