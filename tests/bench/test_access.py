"""What the CDX server's figures rest on: what is drawn, stored, asked, and counted as its CPU."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from bench.access import stored
from bench.access.drawn import CROWD, captures
from bench.access.load import Answered, cpu_seconds
from bench.access.queries import CASES, queries_of, target, urls_of
from bench.access.rounds import rows_of
from pinakes.catalog.captures import decode_capture, place_captures
from pinakes.index.urlkey import urlkey
from pinakes.profile import ROWS
from pinakes.row_store.sqlite.store import EmbeddedRowStore

COUNT = 3_200


def test_drawn_captures_are_sorted_and_keyed_as_ours():
    drawn = list(captures(COUNT))
    lines = [capture.cdx_11 for capture in drawn]
    assert lines == sorted(lines)
    assert all(capture.urlkey == urlkey(capture.url) for capture in drawn)
    assert max(len(url.captures) for url in urls_of(drawn)) == CROWD
    repeated = 1 - len({capture.digest for capture in drawn}) / COUNT
    assert 0.05 < repeated < 0.2


def test_store_has_the_drawn_captures_in_their_order(tmp_path):
    store = stored.build(tmp_path, COUNT)
    with closing(EmbeddedRowStore(store / ROWS)) as rows:
        found = [decode_capture(row) for row in rows.scan("captures")]
        placed = list(place_captures(rows, [capture for capture in found if capture]))
    seen = [
        (one.capture.facts.target_uri, one.capture.time[:14], one.file, one.location.offset)
        for one in placed
    ]
    drawn = captures(COUNT)
    assert seen == [(one.url, one.time_14, one.archive_file, one.offset) for one in drawn]
    assert stored.build(tmp_path, COUNT) == store


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_queries_differ_and_are_drawn_again(case):
    urls = urls_of(captures(COUNT))
    queries = queries_of(case, urls, count=50)
    assert queries == queries_of(case, urls, count=50)
    assert len(set(queries)) > 1


def test_outbackcdx_is_asked_in_its_own_words():
    query = (("url", "http://a.org/"), ("filter", "=digest:ABC"))
    assert target("/c", query) == "/c?url=http%3A%2F%2Fa.org%2F&filter=%3Ddigest%3AABC"
    assert target("/c", query, plain_filter=True).endswith("&filter=digest%3AABC")


def test_cpu_of_children_counts():
    # The kernel counts in hundredths, cut off: of 0.3 s it may tell 0.29 and 0.28.
    burn = "import time\nwhile time.process_time() < 0.4: pass\nprint(flush=True); input()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        parent.stdout.readline()
        assert cpu_seconds(parent.pid) >= 0.3
        parent.stdin.close()


def test_ratio_is_ours_over_theirs_of_the_same_round():
    def saw(requests):
        loaded = Answered(requests=requests, bytes=10, failed=0, p50_ms=1, p99_ms=2, cpu_s=1)
        return loaded, loaded

    rounds = {"pinakes": [saw(300), saw(100)], "OutbackCDX": [saw(100), saw(50)]}
    ours, theirs = rows_of(CASES[0], rounds)
    assert ours[3] == ""
    assert theirs[3] == "2.50 (2.00–3.00)"
