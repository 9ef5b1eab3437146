"""Results as rows: a pair's own, and what is said of its capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from landed_stores import LandedStore, page
from pair_results import RESULT

from pinakes.catalog.judged_pairs import scan_pairs
from pinakes.catalog.pages import PageCapture
from pinakes.hbase_schema.capture_cells import QaVerdict
from pinakes.hbase_schema.cells import decode_cell
from pinakes.qa.result_rows import put_results
from pinakes.qa.results import JudgedPair, Verdict, encode_pair, pair_key
from pinakes.qa.run.plan import RunPlan
from pinakes.qa.run.run_folder import PairsFile, begin_run
from pinakes.qa.sample import SampledPage
from pinakes.row_store.port import get_row

TIME_MS = 1 << 42


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    landed = LandedStore(tmp_path / "store")
    landed.land("spring", "a.warc.gz", page("http://example.org/"), page("http://example.org/2"))
    yield landed
    landed.close()


def keys_of(store: LandedStore) -> list[bytes]:
    return [row.key for row in store.rows.scan("captures")]


def verdicts_of(store: LandedStore, key: bytes) -> list[QaVerdict]:
    cells = store.rows.versions("captures", key, QaVerdict.COLUMN)
    return [decode_cell(QaVerdict, cell.value) for cell in cells]


def test_a_row_for_each_pair_and_the_gravest_for_the_capture(store: LandedStore) -> None:
    one, two = keys_of(store)
    similar = replace(RESULT, capture_key=one.hex(), verdict=Verdict.SIMILAR)
    results = [
        similar,
        replace(
            similar,
            other=replace(RESULT.other, browser="firefox"),
            verdict=Verdict.DISSIMILAR,
            confidence=0.9,
        ),
        replace(similar, capture_key=two.hex(), confidence=0.7),
    ]
    put_results(store.rows, results, act_time_ms=TIME_MS)
    stored = {pair.key: pair for pair in scan_pairs(store.rows, "qa-1")}
    assert stored.keys() == {pair_key(result) for result in results}
    for result in results:
        pair = stored[pair_key(result)]
        assert pair.scores is not None
        assert pair.verdict is not None
        assert pair.scores.scores == result.features
        assert (pair.verdict.verdict, pair.verdict.model) == (result.verdict.value, result.model)
    assert verdicts_of(store, one) == [QaVerdict(run="qa-1", verdict="dissimilar", score=0.9)]
    assert verdicts_of(store, two) == [QaVerdict(run="qa-1", verdict="similar", score=0.7)]
    assert list(scan_pairs(store.rows, "qa-2")) == []


def test_killed_between_two_pairs_of_a_page(store: LandedStore, tmp_path: Path) -> None:
    """At whatever byte: the next call judges what is left, and the page's verdict stays."""
    [key, _] = keys_of(store)
    plan = RunPlan(run="qa-1", act_time_ms=TIME_MS, browsers=("chromium", "firefox"))
    page = PageCapture("org,example)/", "20260101000000", "http://example.org/", "text/html", key)
    drawn = SampledPage(page, 1.0, is_always=True)
    begin_run(tmp_path, plan, {}, [drawn])
    graver = replace(
        RESULT,
        capture_key=key.hex(),
        reference=replace(RESULT.reference, kind="replay:before"),
        other=replace(RESULT.other, kind="replay:current"),
        verdict=Verdict.DISSIMILAR,
        confidence=0.9,
    )
    similar = replace(
        graver,
        reference=replace(graver.reference, browser="firefox"),
        other=replace(graver.other, browser="firefox"),
        verdict=Verdict.SIMILAR,
    )
    both = [graver, similar]
    lines = [encode_pair(JudgedPair(result=result, weight=1.0)) for result in both]
    whole = b"".join(lines)
    for size in (0, len(lines[0]) - 1, len(lines[0]), len(lines[0]) + 1, len(whole) - 1):
        put_results(store.rows, both, act_time_ms=TIME_MS)
        (tmp_path / "pairs.jsonl").write_bytes(whole[:size])
        with PairsFile(tmp_path) as file:
            left = plan.pairs_left(drawn, file.judged)
            again = both[-len(left) :]
            put_results(store.rows, again, act_time_ms=TIME_MS)
            file.add(JudgedPair(result=result, weight=1.0) for result in again)
        assert verdicts_of(store, key) == [QaVerdict(run="qa-1", verdict="dissimilar", score=0.9)]
        assert (tmp_path / "pairs.jsonl").read_bytes() == whole


def test_judged_again_it_leaves_the_same_and_a_later_run_another_version(
    store: LandedStore,
) -> None:
    [key, _] = keys_of(store)
    result = replace(RESULT, capture_key=key.hex())
    for _ in range(2):
        put_results(store.rows, [result], act_time_ms=TIME_MS)
    assert len(verdicts_of(store, key)) == 1
    later = replace(result, run="qa-2", verdict=Verdict.SIMILAR)
    put_results(store.rows, [later], act_time_ms=TIME_MS + 1)
    assert [verdict.run for verdict in verdicts_of(store, key)] == ["qa-2", "qa-1"]


def test_a_capture_that_is_gone_gets_no_verdict(store: LandedStore) -> None:
    gone = replace(RESULT, capture_key=b"org,example)/gone 20260101000000000 AAAAAAAA".hex())
    put_results(store.rows, [gone], act_time_ms=TIME_MS)
    assert get_row(store.rows, "captures", bytes.fromhex(gone.capture_key)) is None
    assert len(list(scan_pairs(store.rows, "qa-1"))) == 1
