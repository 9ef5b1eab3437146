"""Other people's tools take the WACZ files: py-wacz's validator, pywb, ReplayWeb.page."""

from __future__ import annotations

import http.client
import subprocess
from pathlib import Path

import pytest
from exported import export
from importing import entry_of, import_all, write_manifest
from landed_stores import LandedStore, page
from packages import members_of, signing, write_package
from scenes import Scene
from scenes import page as body_of
from waczs_seen import browser, shown, viewer
from wayback_server import installed_tools, plain_environment, wayback

from bench.peers import pins

pytestmark = pytest.mark.slow
URI = "http://example.org/"
PAGES = b"""{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
{"id": "1", "url": "http://example.org/", "ts": "2020-01-02T03:04:05Z"}
"""


def validate(wacz: Path) -> None:
    """py-wacz takes it for valid."""
    program = pins.archivers() / "bin" / "wacz"
    if not program.is_file():
        pytest.skip("wacz is not installed: `make tools` does it")
    command = [program, "validate", "-f", wacz]
    done = subprocess.run(
        command, capture_output=True, text=True, env=plain_environment(), check=False
    )
    assert done.returncode == 0, done
    assert "Validation succeeded, the passed WACZ is valid" in done.stdout


@pytest.mark.parametrize("standalone", [False, True], ids=["as it is", "standalone"])
def test_its_validator_takes_it(deduplicated: Scene, tmp_path: Path, standalone: bool) -> None:
    wacz = tmp_path / "c2.wacz"
    export(deduplicated.rows, deduplicated.archive, "c2", wacz, standalone=standalone)
    validate(wacz)


def test_its_validator_takes_what_was_imported(store: LandedStore, tmp_path: Path) -> None:
    """Several WACZ files with equal names inside, signatures, lists of pages, and odd names."""
    entries = []
    for name in ("one.wacz", "Two.wacz"):
        found = members_of({"data.warc.gz": page(f"{URI}{name}")})
        found["pages/pages.jsonl"] = PAGES
        path = write_package(tmp_path / "in" / name, signing(found))
        entries.append(entry_of(path, crawlId="c"))
    import_all(store.rows, store.archive, [write_manifest(tmp_path / "in" / "all.json", entries)])
    for name in ("A b.warc.gz", "ü.warc.gz", "x/data.warc.gz"):
        store.land("c", name, page(f"{URI}{name}"), collection="news")
    export(store.rows, store.archive, "c", tmp_path / "c.wacz")
    validate(tmp_path / "c.wacz")


def test_its_validator_takes_one_without_pages(store: LandedStore, tmp_path: Path) -> None:
    store.land("c", "a.warc.gz", page(URI, record_type="metadata"))
    export(store.rows, store.archive, "c", tmp_path / "c.wacz")
    validate(tmp_path / "c.wacz")


def test_its_validator_takes_real_ones(
    shared_data: Path, store: LandedStore, tmp_path: Path
) -> None:
    waczs = sorted(shared_data.glob("archives/*/**/*.wacz"))[1::4]  # one of each kind, one signed
    for number, wacz in enumerate(waczs):
        (tmp_path / f"w{number}.wacz").symlink_to(wacz)
    import_all(store.rows, store.archive, [tmp_path / f"w{n}.wacz" for n in range(len(waczs))])
    for number in range(len(waczs)):
        export(store.rows, store.archive, f"w{number}", tmp_path / f"out-{number}.wacz")
        validate(tmp_path / f"out-{number}.wacz")


def test_pywb_replays_two_together(deduplicated: Scene, tmp_path: Path) -> None:
    """The second has revisits of the first; alone it stands when it is exported so."""
    tools = installed_tools()
    root = tmp_path / "pywb"
    root.mkdir()

    def call(*words: object) -> None:
        done = subprocess.run(
            [tools / "wb-manager", *map(str, words)], cwd=root, env=plain_environment(),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done

    for crawl, standalone in (("c1", False), ("c2", False), ("c2", True)):
        wacz = tmp_path / f"{crawl}-{standalone}.wacz"
        export(deduplicated.rows, deduplicated.archive, crawl, wacz, standalone=standalone)
        name = "alone" if standalone else "both"
        if not (root / "collections" / name).exists():
            call("init", name)
        call("add", "--unpack-wacz", name, wacz)
    with wayback(tools, root) as port:
        for name in ("both", "alone"):
            for number in (0, 1, 2, 5):
                address = f"/{name}/202201010000{number:02d}id_/{URI}{number}"
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", address)
                answer = connection.getresponse()
                got = answer.read()
                connection.close()
                assert (answer.status, got) == (200, _page(number)), address


def _page(number: int) -> bytes:
    return body_of(number, 2 if number % 3 == 0 else 0)


def test_replaywebpage_shows_its_pages(deduplicated: Scene, tmp_path: Path) -> None:
    """A full record, one that was a revisit of another crawl, and one that is one of its own."""
    waczs = {}
    for crawl, standalone in (("c1", False), ("c2", True)):
        wacz = tmp_path / f"{crawl}.wacz"
        export(deduplicated.rows, deduplicated.archive, crawl, wacz, standalone=standalone)
        waczs[wacz.name] = wacz.read_bytes()
    with viewer(waczs) as address, browser() as driver:
        for wacz, number, body in (
            ("c1.wacz", 1, body_of(1)),
            ("c2.wacz", 1, body_of(1)),
            ("c2.wacz", 3, body_of(3, 2)),
        ):
            text = body.partition(b">")[2].partition(b"<")[0].decode()
            time = f"202{wacz[1]}010100000{number}"
            place = shown(driver, address, wacz, f"{URI}{number}", time, text)
            assert place.endswith(f"/{time}mp_/{URI}{number}")
