"""Browsertrix's own indexer, unmodified, at a Redis; and WACZ files with the index it reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from importing import entry_of, write_manifest
from packages import write_package
from redis_servers import RunningRedis

from bench.peers import pins

_HANGS_S = 120


def require_indexer() -> None:
    """Skip where it, its writer or Node.js is not there."""
    for what in (pins.browsertrix_indexer(), pins.warcio_js()):
        if not what.exists() or shutil.which("node") is None:
            pytest.skip("Browsertrix's indexer is not installed: `make tools` does it")


def run_indexer(redis: RunningRedis, *options: str) -> None:
    """Call it, and wait until it has done."""
    command = ["node", str(pins.browsertrix_indexer()), "--redisDedupeUrl", redis.url, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_HANGS_S)
    assert done.returncode == 0, done.stdout + done.stderr
    levels = {json.loads(line)["logLevel"] for line in done.stdout.splitlines()}
    assert levels <= {"info", "debug"}, done.stdout


def index_waczs(files: dict[str, Sequence[Path]], manifest: Path) -> None:
    """Put the index of warcio.js, which Browsertrix uses, into the WACZ files; and a manifest."""
    entries = []
    for crawl, paths in files.items():
        for path in paths:
            with zipfile.ZipFile(path) as package:
                members = {name: package.read(name) for name in package.namelist()}
            warc = path.with_name("data.warc.gz")
            warc.write_bytes(members["archive/data.warc.gz"])
            indexer = str(pins.warcio_js() / "dist" / "cli.js")
            command = ["node", indexer, "cdx-index", str(warc), "--format", "cdxj"]
            done = subprocess.run(command, capture_output=True, timeout=_HANGS_S, check=True)
            warc.unlink()
            write_package(path, {**members, "indexes/index.cdx": done.stdout})
            entry = entry_of(path, crawlId=crawl)
            bare = entry["hash"].partition(":")[2]  # as Browsertrix writes it
            entries.append({**entry, "path": str(path), "hash": bare})
    write_manifest(manifest, entries)
