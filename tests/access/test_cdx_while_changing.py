"""CDX queries while another process lands, deduplicates and removes; and many at once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from cdx_judges import Judge, ask
from cdx_likeness import serving
from scenes import COLLECTION, Scene, write_crawl
from wayback_server import plain_environment

VERBS = """
import sys
from pinakes.cli import main
store, crawls = sys.argv[1:]
for number in (3, 4):
    for verb in (
        ("ingest", "--collection", "news", "--crawl", f"c{number}", f"{crawls}/c{number}"),
        ("crawl", "commit", f"c{number}"),
        ("dedupe", f"c{number}", "--min-file-saving", "0", "--drop-old", "--grace", "0"),
        ("ingest", "--collection", "news", "--crawl", "gone", f"{crawls}/c{number + 2}"),
        ("crawl", "cancel", "gone"),
    ):
        code = main([*verb, "-q", "--store", store])
        assert code in (0, 1), (verb, code)
"""


@pytest.fixture
def ours(landed: Scene) -> Iterator[Judge]:
    with serving(landed.folder / "store") as (as_pywb, _):
        yield as_pywb


def page_through(port: int, target: str) -> list[tuple[str, str]]:
    """The urlkey and time of each line, taken three lines at a time."""
    found: list[tuple[str, str]] = []
    key = ""
    while True:
        answer = ask(port, f"{target}&limit=3&showResumeKey=true&resumeKey={quote(key)}")
        assert answer.status == 200, answer.body
        lines, _, rest = answer.body.decode().partition("\n\n")
        for line in lines.splitlines():
            urlkey, time, _ = line.split(" ", 2)
            found.append((urlkey, time))
        key = rest.strip()
        if not key:
            return found


@pytest.mark.slow
def test_reader_misses_nothing_and_sees_nothing_twice(landed: Scene, ours: Judge) -> None:
    for number in (3, 4, 5, 6):
        write_crawl(landed.crawls / f"c{number}", number)
    target = f"/{COLLECTION}/cdx?url=example.org/*"
    always = page_through(ours.port, target)
    assert len(always) == 24
    script = [sys.executable, "-c", VERBS, str(landed.folder / "store"), str(landed.crawls)]
    with subprocess.Popen(
        script, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        passes = 0
        more: set[tuple[str, str]] = set()
        while process.poll() is None:
            for way in ("", "&sort=reverse", "&filter=!mime:none"):
                found = page_through(ours.port, target + way)
                assert max(Counter(found).values()) == 1
                assert set(found) >= set(always)
                assert found == sorted(found, reverse=way == "&sort=reverse")
                more |= set(found) - set(always)
                passes += 1
        assert process.stdout is not None
        assert process.returncode == 0, process.stdout.read()
    assert passes > 2
    final = page_through(ours.port, target)
    assert len(final) == 48
    assert more >= set(final) - set(always)


def test_many_queries_at_once_get_the_same_answers(ours: Judge) -> None:
    targets = [
        f"/{COLLECTION}/cdx?url={url}&{more}"
        for url in ("example.org/*", "*.example.org", "http://example.org/3", "none.example")
        for more in ("", "sort=reverse", "closest=2022", "output=json", "filter=url:/1&limit=2")
    ] * 10
    wanted = [ask(ours.port, target) for target in targets]
    with ThreadPoolExecutor(len(targets)) as clients:
        found = list(clients.map(lambda target: ask(ours.port, target), targets))
    assert len(found) == 200
    assert [(one.status, one.body) for one in found] == [(one.status, one.body) for one in wanted]
    assert {one.status for one in found} == {200}
