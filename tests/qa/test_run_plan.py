"""What a run compares, what its folder keeps, and where it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pair_results import RESULT

from pinakes.catalog.pages import PageCapture
from pinakes.errors import Busy, ConfigError, MalformedRecord, StoreUnavailable
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.results import JudgedPair, Verdict, decode_pair, encode_pair, pair_key
from pinakes.qa.run.plan import Pair, RunPlan, decode_plan, encode_plan
from pinakes.qa.run.run_folder import RUN, SAMPLE, PairsFile, begin_run
from pinakes.qa.sample import SampledPage, decode_drawn, encode_drawn
from pinakes.qa.snapshot import Rect

PLAN = RunPlan(run="qa-1", act_time_ms=1)
DRAWN = [
    SampledPage(
        PageCapture(
            f"org,example)/{n}",
            "20260101000000",
            f"http://e.org/\udcff{n}",
            "text/html",
            b"%d" % n,
        ),
        1.5,
        is_always=bool(n),
    )
    for n in range(3)
]


def test_in_each_browser_and_then_across_them() -> None:
    plan = replace(PLAN, browsers=("chromium", "firefox", "webkitgtk"), across=True)
    assert plan.pairs == [
        Pair("before.chromium", "current.chromium"),
        Pair("before.firefox", "current.firefox"),
        Pair("before.webkitgtk", "current.webkitgtk"),
        Pair("current.chromium", "current.firefox"),
        Pair("current.chromium", "current.webkitgtk"),
    ]
    assert replace(plan, reference="current").pairs == plan.pairs[3:]
    assert replace(PLAN, reference="stored").pairs == [Pair("stored", "current.chromium")]
    assert replace(PLAN, other="access:http://127.0.0.1/w/").pairs == [
        Pair("before.chromium", "access.chromium")
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"other": "before"}, "compared with itself"),
        ({"other": "after"}, "unknown view"),
        ({"other": "access:"}, "unknown view"),
        ({"other": "access:http://me:secret@web.example/"}, "access system"),
        ({"reference": "stored", "masked_selectors": ("#ad",)}, "no elements"),
        ({"other": "stored"}, "reference"),
        ({"reference": "access:http://a.org/", "other": "access:http://b.org/"}, "two access"),
        ({"browsers": ("netscape",)}, "netscape"),
        ({"browsers": ("chromium", "chromium")}, "once"),
        ({"across": True}, "at least two"),
    ],
)
def test_what_cannot_be_compared_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        replace(PLAN, **change)  # type: ignore[arg-type]


def test_a_plan_of_before_it_had_models_is_read() -> None:
    entry = json.loads(encode_plan(PLAN))
    del entry["models"], entry["masked_selectors"]
    assert decode_plan(json.dumps(entry)) == PLAN


def test_a_plan_and_pages_come_back_as_they_were() -> None:
    rect = Rect(x=1, y=2, width=3, height=4)
    plan = replace(PLAN, masked=(rect,), masked_selectors=("#ad",), models=("{}",))
    assert decode_plan(encode_plan(plan)) == plan
    assert [decode_drawn(encode_drawn(one)) for one in DRAWN] == DRAWN
    assert decode_pair(encode_pair(JudgedPair(result=RESULT, weight=2.5))).result == RESULT
    drawn = json.loads(encode_drawn(DRAWN[0]))
    for text in ("[" * 100_000, json.dumps({**drawn, "weight": 10**400})):
        with pytest.raises(MalformedRecord):
            decode_drawn(text)
    for decode in (decode_plan, decode_drawn):
        for text in ("", "{}", "[]", "7", '{"run": 1}'):
            with pytest.raises(MalformedRecord):
                decode(text)


def test_a_run_goes_on_with_the_pages_that_were_drawn(tmp_path: Path) -> None:
    asked = {"crawl": "spring", "size": 3}
    begun = begin_run(tmp_path, PLAN, asked, DRAWN)
    assert begun == (PLAN, DRAWN)

    def never() -> Iterator[SampledPage]:
        raise AssertionError("drawn again")
        yield  # when it is iterated, not when it is called

    later = replace(PLAN, run="qa-2", act_time_ms=2)
    assert begin_run(tmp_path, later, asked, never()) == begun
    for plan, other in ((later, {"crawl": "autumn"}), (replace(later, reference="stored"), asked)):
        with pytest.raises(ConfigError, match="use another folder"):
            begin_run(tmp_path, plan, other, never())


def test_a_run_has_begun_when_all_of_it_is_written(tmp_path: Path) -> None:
    begin_run(tmp_path, PLAN, {}, DRAWN)
    (tmp_path / RUN).unlink()  # died before it
    assert begin_run(tmp_path, PLAN, {}, DRAWN[:1])[1] == DRAWN[:1]
    for name, content in ((SAMPLE, "{}\n"), (RUN, "{}")):
        (tmp_path / name).write_text(content)
        with pytest.raises(MalformedRecord):
            begin_run(tmp_path, PLAN, {}, DRAWN)


def test_half_a_line_at_the_end_is_judged_again(tmp_path: Path) -> None:
    begin_run(tmp_path, PLAN, {}, DRAWN)
    pairs = [JudgedPair(result=replace(RESULT, capture_key=f"0{n}"), weight=1.0) for n in range(3)]
    with PairsFile(tmp_path) as file:
        file.add(pairs)
        assert file.judged == {pair_key(pair.result) for pair in pairs}
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    with PairsFile(tmp_path) as file:
        assert file.judged == {pair_key(pair.result) for pair in pairs[:2]}
        file.add(pairs[2:])
    lines = path.read_bytes().splitlines()
    assert [json.loads(line)["capture_key"] for line in lines] == ["00", "01", "02"]


def test_a_page_is_on_disk_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_run(tmp_path, PLAN, {}, DRAWN)
    pairs = [JudgedPair(result=replace(RESULT, capture_key=f"0{n}"), weight=1.0) for n in range(2)]
    with PairsFile(tmp_path) as file:
        file.add(pairs[:1])
        before = (tmp_path / "pairs.jsonl").read_bytes()

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            file.add(pairs[1:])
        monkeypatch.undo()
        assert (tmp_path / "pairs.jsonl").read_bytes() == before
        file.add(pairs[1:])
    with PairsFile(tmp_path) as file:
        assert file.judged == {pair_key(pair.result) for pair in pairs}
        assert file.verdicts == {Verdict.DISSIMILAR: 2}


def test_a_file_that_another_is_at_is_left_alone(tmp_path: Path) -> None:
    with PairsFile(tmp_path), pytest.raises(Busy):
        PairsFile(tmp_path)
    with PairsFile(tmp_path):
        pass


def test_another_file_of_that_name_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text("{}\n")
    with pytest.raises(MalformedRecord, match="not a pair of a QA run"):
        PairsFile(tmp_path)


@pytest.mark.parametrize("run", [None, "qa-2"])
def test_behind_the_pairs_of_another_run_nothing_is_written(
    tmp_path: Path, run: str | None
) -> None:
    """Its `run.json` was deleted, or another stands in its place."""
    line = encode_pair(JudgedPair(result=RESULT, weight=1.0))
    (tmp_path / "pairs.jsonl").write_bytes(line + line[:9])
    if run is not None:
        begin_run(tmp_path, replace(PLAN, run=run), {}, DRAWN)
    with pytest.raises(ConfigError, match="has pairs of qa-1") as raised:
        PairsFile(tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert (tmp_path / "pairs.jsonl").read_bytes() == line + line[:9]
    (tmp_path / RUN).unlink(missing_ok=True)
    begin_run(tmp_path, PLAN, {}, DRAWN)
    with PairsFile(tmp_path) as file:
        assert file.judged == {pair_key(RESULT)}


def test_pairs_that_are_judged_are_not_left() -> None:
    plan = replace(PLAN, browsers=("chromium", "firefox"))
    key = DRAWN[0].page.row_key
    judged = {PairKey("qa-1", key, "before.chromium", "current.chromium")}
    assert plan.pairs_left(DRAWN[0], judged) == plan.pairs[1:]
    assert plan.pairs_left(DRAWN[1], judged) == plan.pairs
