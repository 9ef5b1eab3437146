"""One chain on both profiles: the demo's crawls, and everything that comes of them, compared.

Acts are named and dated alike on both, since names and times of acts stand in what is written.
"""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from secrets import token_hex

import pytest
from shared_cluster import RunningCluster
from store_profiles import Profile, demo_crawls, files_of, rows_of, start_acts

DRAWN = "http://library.example.org/scroll/7.html"


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> tuple[Path, Path]:
    return demo_crawls(tmp_path_factory.mktemp("crawls"), repository)


def chain(profile: Profile, first: Path, second: Path, restored: Path) -> list[tuple[int, str]]:
    """What the demo does with a store, and more: a crawl is removed, and landed again; the other
    is purged."""
    done = [
        profile.run("ingest", str(first), "--crawl", "first"),
        profile.run("ingest", str(second), "--crawl", "second"),
        profile.run("timeline", DRAWN),
        profile.run("crawl", "show", "second"),
        profile.run("dedupe", "--all", "--plan"),
        profile.run("dedupe", "--all"),
        profile.run("timeline", DRAWN),
        profile.run("lookup", DRAWN),
        profile.run("fsck"),
    ]
    capture = json.loads(done[2][1].splitlines()[-1])["capture"]
    done.append(profile.run("show", capture))
    done.append(profile.run("show", f"second/{second.name}:0"))
    done.append(profile.run("restore", "second", "-o", str(restored)))
    assert gzip.decompress((restored / "second" / second.name).read_bytes()) == gzip.decompress(
        second.read_bytes()
    )
    done.append(profile.run("crawl", "commit", "second"))
    done.append(profile.run("crawl", "remove", "second"))
    done.append(profile.run("timeline", DRAWN))
    assert len(done[-1][1].splitlines()) == 1
    done.append(profile.run("ingest", str(second), "--crawl", "second"))
    done.append(profile.run("timeline", DRAWN))
    assert len(done[-1][1].splitlines()) == 2
    done.append(profile.run("zstd", "compress", "first", "--min-file-saving", "0"))
    done.append(profile.run("dedupe", "--all"))
    done.append(profile.run("zstd", "compress", "second", "--min-file-saving", "0"))
    done.append(profile.run("zstd", "decompress", "second"))
    done.append(profile.run("timeline", DRAWN))
    done.append(profile.run("fsck"))
    done.append(profile.run("crawl", "requires", "second"))
    done.append(profile.run("crawl", "purge", "first", "--references", "promote", "--plan"))
    done.append(profile.run("crawl", "purge", "first", "--references", "promote"))
    done.append(profile.run("timeline", DRAWN))
    done.append(profile.run("fsck"))
    return done


def test_chain_gives_the_same_on_both_profiles(
    cluster: RunningCluster,
    crawls: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"agree{token_hex(4)}"
    profiles = {
        "embedded": {"profile": "embedded", "store": str(tmp_path / "embedded")},
        "cluster": {"store": str(tmp_path / "cluster"), **cluster.settings(name)},
    }
    said, rows, files, reports = {}, {}, {}, {}
    start_ms = time.time_ns() // 1_000_000  # captures from after their landing are not compared
    for kind, settings in profiles.items():
        start_acts(monkeypatch, start_ms)
        profile = Profile(settings, monkeypatch)
        assert profile.run("init")[0] == 0
        said[kind] = chain(profile, *crawls, tmp_path / f"restored-{kind}")
        with profile.stores as stores:
            rows[kind], files[kind] = rows_of(stores), files_of(stores)
            reports[kind] = [p.read_bytes() for p in stores.runs_folder.rglob("report.json")]
    for one, other in zip(said["embedded"], said["cluster"], strict=True):
        assert one == other
    assert files["embedded"].keys() == files["cluster"].keys()
    assert "second/g6/library-2.warc.gz" in files["cluster"]
    for file, content in files["embedded"].items():
        assert files["cluster"][file] == content, file
    for table, found in rows["embedded"].items():
        assert rows["cluster"][table] == found, table
    assert reports["embedded"] == reports["cluster"] != []
