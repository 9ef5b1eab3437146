"""A real corpus through a cluster: landed, deduplicated by jobs, validated, replayed, restored.

    python -m bench.whole_run FOLDER/conf/pinakes.toml --work DIR [--corpus NAME]

Two crawls of Debian's documentation (`bench.corpus`) land in a store of their own and
`pinakes dedupe --all --runner hadoop` rewrites them.  Then, out of the store and beside it:

- `validate`: what came out beside what went in, each record read with warcio too, and a sample
  of the revisits asked of pywb, which has the new files and nothing else;
- `restore`: what came out made full again, and every inflated byte of each file compared.

Prints the seconds of each step, and of the corpus's gigabytes.  The store is left there, named.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj

from bench.corpus import CORPORA, FULL, build, say, warcs
from bench.landing import options_of
from bench.peers import pins
from pinakes.catalog.file_rows import scan_entries
from pinakes.config import load_configuration
from pinakes.dedupe.run.run_files import DECIDED, GENERATIONS, ORIGINAL_KEYS, REPORT, WAVE
from pinakes.mr_jobs.driver.submission import settings_text
from pinakes.profile import open_stores

_PATIENCE_S = 120.0
_TOLD_BY = (GENERATIONS, DECIDED, ORIGINAL_KEYS, WAVE, REPORT)


def pinakes(work: Path, *words: str) -> str:
    """Run a verb, saying how long it took; what it printed."""
    started = time.monotonic()
    command = [sys.executable, "-m", "pinakes.cli", "--config", str(work / "pinakes.toml"), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    say(f"{' '.join(words[:2])}: exit {done.returncode}, {time.monotonic() - started:.1f} s")
    if done.returncode:
        raise SystemExit(done.stdout)
    return done.stdout


def fetch(work: Path, into: Path) -> None:
    """Every file of the store as it is now, below `into`."""
    with open_stores(load_configuration(work / "pinakes.toml", environment={})) as stores:
        for entry in scan_entries(stores.rows):
            path = into / entry.archive_file
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(stores.archive.open(entry.stored_name)) as file, path.open("wb") as copy:
                copyfileobj(file, copy, 1 << 20)


@contextmanager
def steps_told(runs: Path) -> Iterator[None]:
    """Say when the files of a run come and go that tell how far it is."""
    ended = threading.Event()

    def watch() -> None:
        there: set[Path] = set()
        started = time.monotonic()
        while not ended.wait(0.2):
            now = {path for name in _TOLD_BY for path in runs.glob(f"*/{name}")}
            for path in sorted(there ^ now):
                what = "is there" if path in now else "has gone"
                say(f"  {time.monotonic() - started:.1f} s: {path.name} {what}")
            there = now

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


@contextmanager
def replaying(work: Path, files: list[Path]) -> Iterator[str]:
    """Pywb with a collection of these files; its URL prefix."""
    root = work / "pywb"
    root.mkdir()
    for command in (["init", "all"], ["add", "all", *map(str, files)]):
        subprocess.run(
            [pins.venv_tool("wb-manager"), *command], cwd=root, check=True, capture_output=True
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [pins.venv_tool("wayback"), "-b", "127.0.0.1", "-p", str(port), "-d", root],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + _PATIENCE_S
        while True:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit("pywb does not answer")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/all"
    finally:
        server.terminate()
        server.wait()


def inflated(path: Path) -> Iterator[bytes]:
    """The inflated bytes of a file, in pieces of one size."""
    with subprocess.Popen(["gzip", "-dc", path], stdout=subprocess.PIPE) as gzip:
        assert gzip.stdout is not None
        while piece := gzip.stdout.read(1 << 20):
            yield piece
    if gzip.returncode:
        raise SystemExit(f"{path}: gzip exits with {gzip.returncode}")


def main() -> None:
    """Do it all; exits where anything is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m bench.whole_run", description=__doc__)
    parser.add_argument("configuration", type=Path)
    parser.add_argument("--runner", choices=("inline", "local", "hadoop"), default="hadoop")
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--corpus", choices=CORPORA, default=FULL.name)
    arguments = parser.parse_args()
    work: Path = arguments.work
    corpus = warcs(build(CORPORA[arguments.corpus]))
    size = sum(path.stat().st_size for path in corpus)
    options = options_of(arguments.configuration, f"whole{token_hex(3)}")
    options["store"] = str(work / "store")
    work.mkdir(parents=True, exist_ok=True)
    configuration = load_configuration(options=options, environment={}, folder=work)
    (work / "pinakes.toml").write_text(settings_text(configuration))
    say(f"{len(corpus)} files, {size:,} bytes")
    for path in corpus:
        before = work / "before" / path.parent.name / path.name
        before.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, before)
    pinakes(work, "init", "-q")
    for folder in sorted((work / "before").iterdir()):
        pinakes(work, "ingest", str(folder), "--crawl", folder.name, "-j", "2", "-q")
    started = time.monotonic()
    words = ("dedupe", "--all", "--runner", arguments.runner, "--json")
    with steps_told(work / "store" / "runs"):
        report = json.loads(pinakes(work, *words).splitlines()[-1])
    seconds = time.monotonic() - started
    say(
        f"{report['revisits']:,} revisits in {report['files_rewritten']} files, "
        f"{report['saved_bytes']:,} bytes saved, {seconds / (size / 1e9):.0f} s a GB"
    )
    pinakes(work, "fsck", "-q")
    fetch(work, work / "after")
    after = sorted(path for path in (work / "after").rglob("*.warc.gz"))
    with replaying(work, after) as prefix:
        folders = (str(work / "before"), str(work / "after"))
        print(pinakes(work, "validate", *folders, "--replay", prefix))
    print(pinakes(work, "restore", *map(str, after), "-o", str(work / "restored"), "-q"))
    for path in (work / "before").rglob("*.warc.gz"):
        restored = work / "restored" / path.name
        for one, other in zip_longest(inflated(path), inflated(restored)):
            if one != other:
                raise SystemExit(f"{restored} is not {path}")
    say(f"restored: the inflated bytes of all {len(corpus)} files are those that landed")


if __name__ == "__main__":
    main()
