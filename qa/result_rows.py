"""Results in the catalogue: a row of `qa_pairs` for each, and a verdict in the capture's row.

    qa_pairs   s:scores  v:verdict    of this pair, in this run
    captures   q:verdict              of the last run that judged the capture

All cells have the run's time as timestamp, so that judging a page again writes the same cells.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.catalog.judged_pairs import TABLE, scan_pairs
from pinakes.hbase_schema.capture_cells import CaptureFacts, QaVerdict
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import encode_pair_key, pairs_of
from pinakes.hbase_schema.qa_cells import PairScores, PairVerdict
from pinakes.qa.results import PairResult, Verdict, pair_key
from pinakes.row_store.port import Put, RowStore

_CAPTURES = "captures"


def put_results(rows: RowStore, results: Sequence[PairResult], *, act_time_ms: int) -> None:
    """Write the results of some pages of a run; a capture's verdict covers all its pairs so far.

    Idempotent.  A capture that has been removed gets no verdict.  Round trips: three, and
    one for each page.
    """
    rows.mutate(TABLE, [_pair_put(result, act_time_ms) for result in results])
    runs = {bytes.fromhex(result.capture_key): result.run for result in results}
    there = rows.get_rows(_CAPTURES, list(runs), columns=[CaptureFacts.COLUMN])
    rows.mutate(
        _CAPTURES,
        [_capture_put(rows, key, run, act_time_ms) for key, run in runs.items() if key in there],
    )


def is_known(rows: RowStore, run: str) -> bool:
    """Whether the store has any pair of this run.  One round trip."""
    return any(True for _ in rows.scan(TABLE, pairs_of(run), limit_rows=1))


def _pair_put(result: PairResult, act_time_ms: int) -> Put:
    scores = PairScores(scores=dict(result.features))
    verdict = PairVerdict(
        verdict=result.verdict.value, confidence=result.confidence, model=result.model
    )
    cells = {cell.COLUMN: encode_cell(cell) for cell in (scores, verdict)}
    return Put(encode_pair_key(pair_key(result)), cells, act_time_ms)


def _capture_put(rows: RowStore, key: bytes, run: str, act_time_ms: int) -> Put:
    """The worst verdict of a capture's pairs.

    Includes pairs in the store: a run that was killed between two pairs of a page continues with
    the second.
    """
    pairs = scan_pairs(rows, run, key)
    verdicts = [pair.verdict for pair in pairs if pair.verdict is not None]
    worst = max(verdicts, key=lambda one: Verdict(one.verdict).gravity)
    verdict = QaVerdict(run=run, verdict=worst.verdict, score=worst.confidence)
    return Put(key, {QaVerdict.COLUMN: encode_cell(verdict)}, act_time_ms)
