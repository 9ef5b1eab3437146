"""What is proven of a page by what it was sent before and after."""

from __future__ import annotations

from dataclasses import replace

import comparing  # noqa: F401
import pytest
from drawn_pages import page, seen
from snapshots import SHOWN

from pinakes.qa.compare.drawn_elements import ASPECTS
from pinakes.qa.compare.pairs import LoadedSnapshot, compare_pair, features
from pinakes.qa.judging.model import load_model
from pinakes.qa.replay.page_log import LoggedExchange, Outcome, PageLog
from pinakes.qa.results import Verdict
from pinakes.qa.run.decision import Decision, given_height, judge_across, judge_visits, prove
from pinakes.qa.snapshot import Box, Rect

PAGE = LoggedExchange(
    method="GET",
    url="http://example.org/",
    outcome="hit",
    payload_digest="sha256:1",
    is_whole=True,
)
FILM = replace(PAGE, url="http://example.org/film", payload_digest="sha256:2")
SAME, OTHER = (seen(page(10, seed=seed)) for seed in (1, 2))


def judged(
    before: list[LoggedExchange],
    after: list[LoggedExchange],
    *,
    looks: str = "same",
    complete: bool = True,
) -> Decision | None:
    logs = [PageLog(name="p", exchanges=tuple(exchanges)) for exchanges in (before, after)]
    sides = [
        LoadedSnapshot(snapshot=SHOWN, pixels=pixels, payloads=log.payloads)
        for log, pixels in zip(logs, (SAME, SAME if looks == "same" else OTHER), strict=True)
    ]
    return prove(compare_pair(*sides), *logs, complete=complete)


@pytest.mark.parametrize("looks", ["same", "other"])
def test_the_same_bytes_are_the_same_page_however_it_was_drawn(looks: str) -> None:
    found = judged([PAGE, FILM], [FILM, PAGE], looks=looks)
    assert found is not None
    assert found[:2] == (Verdict.SIMILAR, 1.0)


def test_what_came_instead_is_said_and_whose_it_is() -> None:
    before = [
        replace(PAGE, media_type="text/html", sent_bytes=1200),
        replace(FILM, media_type="video/webm", sent_bytes=70_000),
    ]
    found = judged(before, [before[0], replace(before[1], payload_digest="sha256:1")])
    assert found is not None
    film = "video/webm, 70,000 bytes"
    whose = "the bytes of http://example.org/"
    assert found.harm == (f"other bytes: {FILM.url}: {film} before, now {film}, {whose}",)
    every = [replace(FILM, url=f"http://example.org/{n}") for n in range(30)]
    found = judged(every, [replace(one, payload_digest="sha256:9") for one in every])
    assert found is not None
    assert len(found.harm) == 21
    assert found.harm[-1] == "other bytes: 10 more"


def test_other_bytes_are_harm_though_it_looks_the_same() -> None:
    found = judged([PAGE, FILM], [PAGE, replace(FILM, payload_digest="sha256:3")])
    assert found is not None
    assert found[:2] == (Verdict.DISSIMILAR, 1.0)


def test_the_same_bytes_under_another_head_are_harm() -> None:
    head = replace(FILM, head_digest="sha256:a")
    assert judged([PAGE, head], [PAGE, head]) == judged([PAGE, FILM], [PAGE, FILM])
    found = judged([PAGE, head], [PAGE, replace(head, head_digest="sha256:b")])
    assert found is not None
    assert found[:2] == (Verdict.DISSIMILAR, 1.0)
    assert found.harm == (f"answered with another header: {FILM.url}",)


def across(
    reference: list[LoggedExchange], other: list[LoggedExchange], verdict: Verdict
) -> Decision:
    logs = [PageLog(name="p", exchanges=tuple(exchanges)) for exchanges in (reference, other)]
    return judge_across(Decision(verdict, 0.9, "model"), *logs, "firefox")


def test_what_two_browsers_draw_otherwise_of_the_same_bytes_is_theirs() -> None:
    found = across([PAGE, FILM], [PAGE, FILM], Verdict.DISSIMILAR)
    assert found.verdict is Verdict.BY_BROWSER
    assert "firefox was sent the same bytes" in found.harm[-1]
    more = replace(FILM, url="http://example.org/for-firefox")
    assert across([PAGE], [PAGE, more], Verdict.DISSIMILAR).verdict is Verdict.BY_BROWSER
    assert across([PAGE], [PAGE], Verdict.SIMILAR) == Decision(Verdict.SIMILAR, 0.9, "model")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("miss", "the archive lacks, for firefox alone"), ("fault", "unreadable, for firefox alone")],
)
def test_what_one_browser_alone_lacks_stays_a_fault(outcome: Outcome, said: str) -> None:
    lacking = LoggedExchange(method="GET", url="http://example.org/font.woff", outcome=outcome)
    found = across([PAGE], [PAGE, lacking], Verdict.DISSIMILAR)
    assert found.verdict is Verdict.DISSIMILAR
    assert found.harm == (f"{said}: http://example.org/font.woff",)
    both = across([PAGE, lacking], [PAGE, lacking], Verdict.DISSIMILAR)
    assert both.verdict is Verdict.BY_BROWSER
    own = replace(lacking, url="http://example.org/favicon.ico")
    assert across([PAGE], [PAGE, own], Verdict.DISSIMILAR).verdict is Verdict.BY_BROWSER


def test_other_bytes_for_another_browser_are_said_and_stay_a_fault() -> None:
    other = replace(FILM, payload_digest="sha256:3")
    found = across([PAGE, FILM], [PAGE, other], Verdict.DISSIMILAR)
    assert found.verdict is Verdict.DISSIMILAR
    assert found.harm[0].startswith(f"other bytes: {FILM.url}")


@pytest.mark.parametrize(
    ("outcome", "word"), [("miss", "missing now"), ("fault", "unreadable now")]
)
def test_what_is_gone_is_harm(outcome: str, word: str) -> None:
    gone = replace(FILM, outcome=outcome, payload_digest=None, problem="why")  # type: ignore[arg-type]
    found = judged([PAGE, FILM], [PAGE, gone])
    assert found is not None
    assert found[:2] == (Verdict.DISSIMILAR, 1.0)
    assert found.harm == (f"{word}: {FILM.url} (why)",)
    # What was not there before is nobody's fault.
    same = judged([PAGE, gone], [PAGE, gone])
    assert same is not None
    assert same.verdict is Verdict.SIMILAR


@pytest.mark.parametrize(
    "after", [[PAGE], [PAGE, replace(FILM, is_whole=False)]], ids=["asked for less", "in part"]
)
def test_where_other_things_were_asked_for_nothing_is_proven(after: list[LoggedExchange]) -> None:
    assert judged([PAGE, FILM], after) is None


def test_where_something_else_came_of_a_request_nothing_is_proven() -> None:
    missed = replace(FILM, outcome="miss", payload_digest=None)
    fault = replace(missed, outcome="fault")
    assert judged([PAGE, missed], [PAGE, fault]) is None
    assert judged([PAGE, missed, FILM], [PAGE, FILM]) is None
    same = judged([PAGE, missed], [PAGE])
    assert same is not None, "it was asked for once only"


def test_where_it_was_not_shown_to_the_end_nothing_is_proven() -> None:
    assert judged([PAGE], [PAGE], complete=False) is None


def test_a_page_of_which_nothing_was_sent_is_no_proof() -> None:
    missed = replace(PAGE, outcome="fault", payload_digest=None)
    found = judged([missed], [missed])
    assert found is not None
    assert found.verdict is Verdict.UNCERTAIN


def posted(body: str, payload: str) -> LoggedExchange:
    return replace(
        PAGE, method="POST", url=f"{PAGE.url}graphql", request=body, payload_digest=payload
    )


def test_requests_of_one_url_are_told_apart() -> None:
    one, two = posted("1", "sha256:a"), posted("2", "sha256:b")
    same = judged([PAGE, one, two], [PAGE, two, one])
    assert same is not None
    assert same[:2] == (Verdict.SIMILAR, 1.0)
    harmed = judged([PAGE, one, two], [PAGE, posted("1", "sha256:x"), two])
    assert harmed is not None
    assert harmed[:2] == (Verdict.DISSIMILAR, 1.0)


def test_what_was_a_miss_before_is_no_harm_now() -> None:
    socket = replace(PAGE, outcome="miss", payload_digest=None, is_whole=False)
    found = judged([PAGE, socket], [PAGE, socket])
    assert found is not None
    assert found.verdict is Verdict.SIMILAR
    missed = replace(posted("1", ""), outcome="miss", payload_digest=None, is_whole=False)
    assert judged([PAGE, missed], [PAGE, missed]) == found


@pytest.mark.parametrize("then", ["unfinished", "fault"])
def test_of_what_is_unfinished_nobody_knows(then: str) -> None:
    before = replace(FILM, outcome="unfinished", payload_digest=None, is_whole=False)
    after = replace(before, outcome=then)  # type: ignore[arg-type]
    assert judged([PAGE, before], [PAGE, after]) is None


def test_an_answer_by_a_rule_is_known_by_what_was_captured() -> None:
    first = replace(FILM, url=f"{FILM.url}?_=1", rule="cache-buster", capture_uri=FILM.url)
    second = replace(first, url=f"{FILM.url}?_=2")
    found = judged([PAGE, first], [PAGE, second])
    assert found is not None
    assert found[:2] == (Verdict.SIMILAR, 1.0)
    gone = replace(second, outcome="fault", payload_digest=None)
    lost = judged([PAGE, first], [PAGE, gone])
    assert lost is not None
    assert lost.verdict is Verdict.DISSIMILAR


@pytest.mark.parametrize(("reasons", "verdict"), [
    ((), Verdict.DISSIMILAR), (("lacks:WebGL",), Verdict.UNCERTAIN),
])  # fmt: skip
def test_what_one_browser_shows_for_want_of_webgl_is_uncertain(
    reasons: tuple[str, ...], verdict: Verdict
) -> None:
    looks = (Box(tag="p", kind="text", rect=Rect(x=8, y=8, width=90, height=20), look=0),)
    shown = replace(SHOWN, boxes=looks, looks=("|" * (len(ASPECTS) - 1),))
    other = replace(SHOWN, browser="firefox", reasons=reasons)
    sides = (LoadedSnapshot(snapshot=side, pixels=SAME) for side in (shown, other))
    numbers = features(compare_pair(*sides))
    found = judge_visits(load_model("across-browsers"), numbers, shown, other)
    assert found.verdict is verdict
    assert any("has no WebGL here" in said for said in found.harm) == bool(reasons)


@pytest.mark.parametrize(
    ("seen", "height", "are_elements_known", "verdict", "confidence", "said"),
    [
        (4000, 4001, True, Verdict.SIMILAR, 0.99, None),
        (4000, 9000, True, Verdict.SIMILAR, 0.9, "below them elements are compared"),
        (900, 1200, False, Verdict.SIMILAR, 0.875, "the rest is not compared"),
        (900, 9000, False, Verdict.UNCERTAIN, 0.5, "the rest is not compared"),
    ],
    ids=["whole", "elements known", "a quarter unknown", "most of it unknown"],
)
def test_similar_is_no_surer_than_what_was_looked_at(
    seen: int, height: int, are_elements_known: bool, verdict: Verdict, confidence: float,
    said: str | None,
) -> None:  # fmt: skip
    similar = Decision(Verdict.SIMILAR, 0.99, "m")
    found = given_height(similar, seen, height, are_elements_known=are_elements_known)
    assert (found.verdict, found.confidence) == (verdict, confidence)
    harm = (f"images have the first {seen:,} of {height:,} px; {said}",) if said else ()
    assert found.harm == harm
    dissimilar = similar._replace(verdict=Verdict.DISSIMILAR)
    assert given_height(dissimilar, seen, height, are_elements_known=True) == dissimilar
