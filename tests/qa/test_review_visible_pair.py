"""Who may see what of a pair, and which pairs a filter finds for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from review_scene import RUN, Review, pairs_of, result, reviewing, view

from pinakes.access.display import display_lines, display_text
from pinakes.errors import ConfigError, InputRefused, MalformedRecord
from pinakes.qa.results import JudgedPair, Verdict
from pinakes.qa.review.answers import pair_answer
from pinakes.qa.review.judgement import BlindTo, Label, Statement
from pinakes.qa.review.reviewed_pair import ReviewedPair, reviewed_pairs, site_of
from pinakes.qa.review.visible_pair import HIDDEN, STATES, PairFilter, VisiblePair, parse_filter

ACCEPT, REJECT = Statement(label=Label.ACCEPT), Statement(label=Label.REJECT, faults=("layout",))
UNSURE = Statement(label=Label.UNSURE)
IDS = iter(f"{number:032x}" for number in range(10_000))


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    with reviewing(tmp_path) as made:
        yield made


def judge(review: Review, pair: ReviewedPair, author: str, statement: Statement = ACCEPT) -> None:
    review.clock.wait(10)
    assert (
        review.board.judge(pair.id, review.board.viewer(author), next(IDS), statement) is not None
    )


def seen(review: Review, pair: ReviewedPair, author: str | None) -> VisiblePair:
    looked = review.board.look(pair.id, review.board.viewer(author))
    assert looked is not None
    return looked.seen


def found(review: Review, author: str | None = None, **query: str) -> list[str]:
    review.clock.wait(10)
    viewer = review.board.viewer(author)
    return [
        one.pair.id
        for one in review.board.listed(viewer, parse_filter(query), offset=0, limit=999).pairs
    ]


def test_two_reviewers_are_blind_to_each_other_until_both_have_judged(review: Review) -> None:
    pair = review.one(judgements_needed=2)
    judge(review, pair, "Ada", REJECT)
    for author in ("Bo", "Ada", None):
        one = seen(review, pair, author)
        assert (one.others, one.others_hidden, one.settled) == ((), True, None)
        assert one.judged_by == 1
    looked = review.board.look(pair.id, review.board.viewer("Bo"))
    assert looked is not None
    assert looked.history == ()
    judge(review, pair, "Bo")
    assert [one.author for one in seen(review, pair, "Bo").others] == ["Ada"]
    assert [one.author for one in seen(review, pair, "Ada").others] == ["Bo"]
    # A third has not judged, and is not told.
    assert seen(review, pair, "Cy").others_hidden


def test_what_was_judged_blind_says_so(review: Review) -> None:
    pair = review.one(judgements_needed=2, hides=True)
    judge(review, pair, "Ada")
    judge(review, pair, "Ada", REJECT)
    judge(review, pair, "Bo")
    judge(review, pair, "Ada")
    looked = review.board.look(pair.id, review.board.viewer("Ida"))
    assert looked is not None
    assert [(one.author, one.blind_to) for one in looked.history] == [
        ("Ada", (BlindTo.OTHERS, BlindTo.MACHINE)),
        ("Ada", (BlindTo.OTHERS,)),
        ("Bo", (BlindTo.OTHERS, BlindTo.MACHINE)),
        ("Ada", ()),
    ]


def test_a_lead_sees_all(review: Review) -> None:
    pair = review.one(judgements_needed=2, hides=True)
    judge(review, pair, "Ada", REJECT)
    one = seen(review, pair, "ida")
    assert one.verdict is not None
    assert [other.author for other in one.others] == ["Ada"]


def test_of_a_pair_for_one_nothing_is_hidden(review: Review) -> None:
    pair = review.one()
    judge(review, pair, "Ada", REJECT)
    one = seen(review, pair, "Bo")
    assert (one.verdict, one.others_hidden) == (pair.judged.result.verdict.value, False)
    assert one.faults == {"layout"}


def test_a_hidden_verdict_is_told_by_nothing(review: Review) -> None:
    """Neither shown, nor found by a filter, nor by the place in the list."""
    hidden = {pair.id for pair in review.pairs if pair.hides_verdict}
    assert len(hidden) > 1
    assert set(found(review, "Ada", verdict=HIDDEN)) == hidden
    for query in (
        *({"verdict": verdict.value} for verdict in Verdict),
        {"low": "0"},
        {"high": "1"},
        {"state": "audit"},
    ):
        assert not hidden & set(found(review, "Ada", **query))
    order = found(review, "Ada")
    places = sorted(order.index(one) for one in hidden)
    assert places == list(range(places[0], places[0] + len(hidden)))
    by_id = {pair.id: pair for pair in review.pairs}
    among = [by_id[one] for one in order[places[0] : places[-1] + 1]]
    assert among == sorted(among, key=lambda pair: pair.place)


def test_views_of_a_hidden_pair_say_nothing_of_a_proof(tmp_path: Path) -> None:
    told = ("not captured: all requests of the reference would get the same bytes",)
    results = [result(number, other=view("replay:current", reasons=told)) for number in range(200)]
    with reviewing(tmp_path, results) as review:
        pair = review.one(judgements_needed=2, hides=True)

        def said() -> list[str]:
            looked = review.board.look(pair.id, review.board.viewer("Ada"))
            assert looked is not None
            reasons: list[str] = pair_answer(looked)["other"]["reasons"]
            return reasons

        assert said() == []
        judge(review, pair, "Ada")
        assert said() == list(told)


def test_it_is_shown_to_who_has_judged(review: Review) -> None:
    pair = review.one(judgements_needed=2, hides=True)
    assert seen(review, pair, "Ada").verdict is seen(review, pair, None).verdict is None
    judge(review, pair, "Ada")
    assert seen(review, pair, "Ada").verdict == pair.judged.result.verdict.value
    assert seen(review, pair, "Bo").verdict is seen(review, pair, None).verdict is None
    judge(review, pair, "Bo")
    assert seen(review, pair, None).verdict == pair.judged.result.verdict.value


def test_the_gravest_come_first_and_what_is_audited_before_the_other_similar(
    tmp_path: Path,
) -> None:
    with reviewing(tmp_path, [result(number) for number in range(600)]) as review:
        by_id = {pair.id: pair for pair in review.pairs}
        order = [by_id[one] for one in found(review, "Ida")]
        groups = [(pair.judged.result.verdict.value, pair.in_audit) for pair in order]
        assert list(dict.fromkeys(groups)) == [
            ("dissimilar", False), ("uncertain", False), ("similar", True), ("similar", False)
        ]  # fmt: skip
        assert groups.count(("similar", True)) == 100
        audited = [pair for pair in order if pair.in_audit]
        assert audited == sorted(audited, key=lambda pair: pair.place)
        sure = [p.judged.result.confidence for p in order if p.is_alarm and p.rank[0] == 0]
        assert sure == sorted(sure, reverse=True)
        todo = {by_id[one].id for one in found(review, "Ada", state="todo")}
        assert todo == {pair.id for pair in order if pair.is_queued}


def test_what_is_to_do(review: Review) -> None:
    single, double = review.one(), review.one(judgements_needed=2)
    assert {single.id, double.id} <= set(found(review, "Ada", state="todo"))
    judge(review, single, "Ada", REJECT)
    judge(review, double, "Ada", REJECT)
    assert not {single.id, double.id} & set(found(review, "Ada", state="todo"))
    todo = set(found(review, "Bo", state="todo"))
    assert (single.id in todo, double.id in todo) == (False, True)
    assert found(review, "Ida", state="todo") == []
    judge(review, double, "Bo")
    assert found(review, "Ida", state="todo") == [double.id] == found(review, state="disputed")
    judge(review, double, "Ida", REJECT)
    assert found(review, "Ida", state="todo") == []
    assert set(found(review, state="settled")) == {single.id, double.id}
    assert found(review, "Bo", state="mine") == [double.id]


def test_who_is_unsure_asks_for_another_opinion(review: Review) -> None:
    single, double = review.one(), review.one(judgements_needed=2)
    judge(review, single, "Ada", UNSURE)
    judge(review, double, "Ada")
    judge(review, double, "Bo", UNSURE)
    assert set(found(review, state="unsure")) == {single.id, double.id}
    assert not {single.id, double.id} & set(found(review, "Ada", state="todo"))
    for author in ("Cy", "Ida"):
        assert {single.id, double.id} <= set(found(review, author, state="todo"))
    assert single.id in found(review, "Bo", state="todo")
    judge(review, single, "Bo")
    assert found(review, state="settled") == [single.id]
    judge(review, double, "Cy", REJECT)
    assert found(review, state="disputed") == [double.id] == found(review, "Ida", state="todo")
    judge(review, double, "Ida", UNSURE)
    assert double.id not in found(review, "Di", state="todo")  # that is a lead's


def test_a_list_says_what_other_states_hold(review: Review) -> None:
    judge(review, review.one(), "Ada", REJECT)
    review.clock.wait(10)
    for author in ("Ada", "Ida"):
        viewer = review.board.viewer(author)
        wanted = parse_filter({"state": "todo", "site": "site0.example"})
        held = review.board.listed(viewer, wanted, offset=0, limit=1).held
        assert held == {
            name: len(found(review, author, state=name, site="site0.example")) for name in STATES
        }
    assert (held["todo"], held["open"] > 0) == (0, True)


def test_five_of_what_is_proven_are_asked_for(tmp_path: Path) -> None:
    proof = {"model": "proof 2", "confidence": 1.0}
    results = [result(n, Verdict.SIMILAR, **proof) for n in range(221)]
    guessed = [result(n, Verdict.SIMILAR) for n in range(221, 230)]
    with reviewing(tmp_path, [*results, *guessed]) as review:
        queued = [pair for pair in review.pairs if pair.is_queued]
        assert sum(pair.is_proven for pair in queued) == 5
        assert len(queued) == 14
        assert (
            sorted(pair.place for pair in queued if pair.is_proven)
            == sorted(pair.place for pair in review.pairs if pair.is_proven)[:5]
        )


def test_filters(review: Review) -> None:
    pair = review.one()
    judge(review, pair, "Ada", REJECT)
    every = found(review)
    assert len(every) == 100
    assert found(review, fault="layout") == [pair.id] == found(review, state="reviewed")
    assert set(found(review, state="unreviewed")) == set(every) - {pair.id}
    assert len(found(review, site="site3.example")) == 10
    assert len(found(review, text="PAGE/3")) == 11
    assert found(review, browsers="before chromium → current chromium") == every
    assert found(review, browsers="x") == []
    verdicts = [found(review, "Ida", verdict=verdict.value) for verdict in Verdict]
    assert sum(map(len, verdicts)) == 100
    sure = set(found(review, "Ida", low="0.8", high="0.9"))
    assert sure == {pair.id for pair in review.pairs if 0.8 <= pair.judged.result.confidence <= 0.9}


def test_others_faults_are_found_by_nobody_who_may_not_see_them(review: Review) -> None:
    pair = review.one(judgements_needed=2)
    judge(review, pair, "Ada", REJECT)
    assert found(review, "Ada", fault="layout") == [pair.id]
    assert found(review, "Bo", fault="layout") == []


@pytest.mark.parametrize(
    "query",
    [
        {"verdict": "good"}, {"state": "x"}, {"fault": "ugly"}, {"low": "x"}, {"low": "nan"},
        {"high": "1.1"}, {"low": "-1"},
    ],
)  # fmt: skip
def test_what_is_no_filter(query: dict[str, str]) -> None:
    with pytest.raises(InputRefused, match="must be"):
        parse_filter(query)


def test_what_else_a_query_has_is_not_looked_at() -> None:
    assert parse_filter({"mode": "x", "state": ""}) == PairFilter()


def test_a_pair_that_was_judged_twice_is_one() -> None:
    judged = [JudgedPair(result=result(1), weight=1.0)] * 2
    pairs, repeated = reviewed_pairs(judged)
    assert (len(pairs), repeated) == (1, 1)


def test_ids_are_their_own() -> None:
    pairs = pairs_of(result(number) for number in range(3000))
    assert len({pair.id for pair in pairs}) == len({pair.key for pair in pairs}) == 3000
    assert all(pair.key.startswith(RUN.encode() + b" ") for pair in pairs)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"capture_key": "xyz"}, MalformedRecord),
        ({"confidence": float("nan")}, MalformedRecord),
        ({"run": "no name"}, ConfigError),
    ],
)
def test_what_has_no_row_cannot_be_reviewed(
    change: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        pairs_of([replace(result(1), **change)])  # type: ignore[arg-type]


def test_an_infinite_weight_is_none() -> None:
    with pytest.raises(MalformedRecord, match="not a number"):
        pairs_of([result(1)], weight=float("inf"))


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://www.example.org/a?b", "example.org"),
        ("https://EXAMPLE.org:8080/", "example.org:8080"),
        ("http://" + "a" * 3_000_000, None),
        ("", ""),
        ("no url", "no%20url"),
        ("http://\u202eevil/", None),
        ("http://[::1", None),
        ("\ud800", ""),
    ],
)
def test_sites(url: str, site: str | None) -> None:
    found = site_of(url)
    assert len(found) < 1300
    assert found.isprintable()
    if site is not None:
        assert found == site


def test_browsers_and_views_have_a_name() -> None:
    [one] = pairs_of([
        result(1, reference=view("stored", browser="", browser_version=""),
               other=view("access:http://pywb/", browser="firefox")),
    ])  # fmt: skip
    assert one.browsers == "stored → access:http://pywb/ firefox"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain é Πίνακες 中", "plain é Πίνακες 中"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("\ud800\x00\x9b\n", "\\ud800\\u0000\\u009b\\u000a"),
        ("\u200b\u2066\ufeff", "\\u200b\\u2066\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("x" * 12, "xxxxxxxxxx … and 2 more characters"),
    ],
)
def test_what_deceives_is_escaped(text: str, seen: str) -> None:
    assert display_text(text, 10 if text.startswith("x") else 500) == seen


def test_lines_that_are_left_out_are_counted() -> None:
    assert display_lines(["a"] * 3, 2) == ["a", "a", "… and 1 more"]
