"""Every size that is printed is that of files on disk, after acts in any order."""

from __future__ import annotations

import json
import random
import re
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from asgi_client import Client
from scenes import write_crawl
from verbs_here import call_here

from pinakes.access.pages.rendering import size as shown
from pinakes.application.site import open_site
from pinakes.config import load_configuration

CRAWLS = ("one", "two", "three")
URLS = [f"http://example.org/{number}" for number in range(12)]
SIDECAR = ".parquet"
_GENERATION = re.compile(r"\A([^/]+)/(?:g(\d+)(?:-\w+)?/)?(.*?)\.warc(?:\.\w+)?\Z")


class Place:
    """A store, the crawls that land in it, and what is on disk by `stat` alone."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.landed: dict[str, int] = {}
        for number, (crawl, layout) in enumerate(
            zip(CRAWLS, ("gzip", "packed dictionary", "gzip"), strict=True), start=1
        ):
            write_crawl(folder / "inbox" / crawl, number, layout=layout)
        self.call("init")

    def call(self, *words: str) -> int:
        return call_here(self.folder, *words).returncode

    def lines(self, *words: str) -> list[dict[str, Any]]:
        done = call_here(self.folder, *words, "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def act(self) -> str:
        """Do one of the acts of a day; it may refuse."""
        crawl = self.chance.choice(CRAWLS)
        acts = {
            "land": ("ingest", f"inbox/{crawl}", "--crawl", crawl),
            "dedupe": ("dedupe", "--all", "--min-file-saving", "0"),
            "compress": ("zstd", "compress", crawl, "--min-file-saving", "0"),
            "decompress": ("zstd", "decompress", crawl),
            "drop": ("dedupe", "--all", "--drop-old", "--grace", "0"),
            "withdraw": ("withdraw", self.chance.choice(URLS), "--reason", "a test"),
            "purge": ("crawl", "purge", crawl, "--references", "promote"),
        }
        weights = {"land": 4, "dedupe": 3}
        name = self.chance.choices(list(acts), [weights.get(name, 1) for name in acts])[0]
        code = self.call(*acts[name])
        return f"{name} {crawl}: {code}"

    def on_disk(self) -> dict[str, dict[str, list[tuple[int, str, int]]]]:
        """By crawl and file as it landed: its generations, their stored names and sizes."""
        archive = self.folder / "pinakes-store/archive"
        found: dict[str, dict[str, list[tuple[int, str, int]]]] = defaultdict(dict)
        for path in archive.rglob("*"):
            name = path.relative_to(archive).as_posix()
            if path.is_file() and not name.startswith(".") and not name.endswith(SIDECAR):
                known = _GENERATION.match(name)
                assert known is not None, name
                crawl, number, base = known.groups()
                entry = (int(number or 1), name, path.stat().st_size)
                found[crawl].setdefault(base, []).append(entry)
        return found

    def sizes(self, crawl: str) -> dict[str, int]:
        """What is printed of a crawl, by `stat`."""
        files = [sorted(some) for some in self.on_disk().get(crawl, {}).values()]
        inbox = self.folder / "inbox" / crawl
        names = {path.name.partition(".")[0] for path in inbox.iterdir()}
        assert {some[0][1].rpartition("/")[2].partition(".")[0] for some in files} <= names
        return {
            "files": len(files),
            "bytes": sum(path.stat().st_size for path in inbox.iterdir()) if files else 0,
            "stored_bytes": sum(some[-1][2] for some in files),
            "old_generations": sum(len(some) - 1 for some in files),
            "old_bytes": sum(size for some in files for _, _, size in some[:-1]),
        }


def _check(place: Place) -> None:
    by_stat = {crawl: place.sizes(crawl) for crawl in CRAWLS}
    listed = {
        line["crawl"]: line for line in place.lines("crawl", "list", "--all") if "crawl" in line
    }
    for crawl, sizes in by_stat.items():
        if crawl not in listed:
            assert not sizes["files"]
            continue
        assert {name: listed[crawl][name] for name in sizes} == sizes
        stats = place.lines("crawl", "stats", crawl)[0]
        assert stats["landed_bytes"] == sizes["bytes"]
        assert {n: stats[n] for n in sizes if n != "bytes"} == {
            n: size for n, size in sizes.items() if n != "bytes"
        }
        files = [line for line in place.lines("crawl", "show", crawl) if line.get("file")]
        current = [max(some)[2] for some in place.on_disk()[crawl].values()]
        stored = [line for line in files if line["state"] == "stored"]
        assert sorted(line["bytes"] for line in stored) == sorted(current)
        assert sum(line["landed_bytes"] for line in stored) == sizes["bytes"]
    held = [one["holdings"] for one in place.lines("status")[0]["collections"]]
    for name in ("files", "stored_bytes", "old_generations", "old_bytes"):
        assert sum(one[name] for one in held) == sum(sizes[name] for sizes in by_stat.values())
    assert sum(one["landed_bytes"] for one in held) == sum(s["bytes"] for s in by_stat.values())
    text = _home(place.folder / "pinakes-store")
    for name in ("bytes", "stored_bytes", "old_bytes"):
        total = sum(sizes[name] for crawl, sizes in by_stat.items() if crawl in listed)
        if total:
            assert shown(total) in text, name


def _home(store: Path) -> str:
    """The page, once it has counted what it shows."""
    configuration = load_configuration(options={"store": store})
    with open_site(configuration, ("localhost",), ()) as site:
        for _ in range(500):
            text = Client(site).get("/").text
            if "Counted" in text or "Nothing has landed" in text:
                return text
            time.sleep(0.02)
    raise AssertionError(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [pytest.param(n, marks=[pytest.mark.large] if n >= 2 else []) for n in range(20)],
)
def test_sizes_are_those_on_disk(tmp_path: Path, seed: int) -> None:
    place = Place(tmp_path, random.Random(seed))
    done: list[str] = []
    for _ in range(20):
        done.append(place.act())
        try:
            _check(place)
        except AssertionError as error:
            raise AssertionError(f"after {done}") from error
    assert sum(act.endswith(": 0") for act in done) >= 10, done
