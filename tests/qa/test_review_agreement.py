"""Kappa of two and of all, by examples that were worked out by hand; whose judgements count."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pinakes.qa.review.judgement import BlindTo, Judgement, Label, Role, Statement
from pinakes.qa.review.summary import agreement, agreements

A, R, U = Label.ACCEPT, Label.REJECT, Label.UNSURE
BLIND = (BlindTo.OTHERS,)
labels = some.sampled_from(Label)


def said(author: str, label: Label, at_ms: int = 1, **given: object) -> Judgement:
    values = {"blind_to": BLIND, **given}
    return Judgement(
        id=f"{author}{at_ms}",
        author=author,
        statement=Statement(label=label),
        at_ms=at_ms,
        **values,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Both yes 20, both no 15, of 50: 0.7 observed; 0.5 · 0.6 + 0.5 · 0.4 = 0.5 by chance.
        pytest.param({(A, A): 20, (A, R): 5, (R, A): 10, (R, R): 15}, 0.4, id="two answers"),
        # 82 of 100; (45 · 40 + 35 · 40 + 20 · 20) / 10,000 = 0.36 by chance.
        pytest.param(
            {(A, A): 36, (A, R): 7, (A, U): 2, (R, A): 3, (R, R): 30, (R, U): 2,
             (U, A): 1, (U, R): 3, (U, U): 16},
            (0.82 - 0.36) / 0.64, id="three answers",
        ),
        pytest.param({(A, A): 3, (R, R): 2}, 1.0, id="always"),
        pytest.param({(A, R): 1, (R, A): 1}, -1.0, id="never"),
        pytest.param({(A, A): 1, (A, R): 1, (R, A): 1, (R, R): 1}, 0.0, id="by chance"),
        pytest.param({(A, A): 9}, None, id="all said the same of all"),
        pytest.param({}, None, id="nothing"),
    ],
)  # fmt: skip
def test_kappa(table: dict[tuple[Label, Label], int], kappa: float | None) -> None:
    found = agreement([answers for answers, count in table.items() for _ in range(count)])
    assert found.pairs == sum(table.values())
    assert found.kappa == (kappa if kappa is None else pytest.approx(kappa))


@given(some.lists(some.tuples(labels, labels), min_size=1))
def test_kappa_is_the_same_either_way_round(answers: list[tuple[Label, Label]]) -> None:
    one, other = agreement(answers), agreement([(b, a) for a, b in answers])
    assert (one.kappa is None) == (other.kappa is None)
    if one.kappa is not None and other.kappa is not None:
        assert one.kappa == pytest.approx(other.kappa)
        assert -1 - 1e-9 <= one.kappa <= 1 + 1e-9


@given(some.lists(labels, min_size=2).filter(lambda given: len(set(given)) > 1))
def test_who_always_agree_have_a_kappa_of_one(answers: list[Label]) -> None:
    assert agreement([(label, label) for label in answers]).kappa == pytest.approx(1)


@given(some.lists(labels, min_size=1, max_size=12), some.lists(labels, min_size=1, max_size=12))
def test_who_answer_whatever_the_page_is_have_none(ones: list[Label], others: list[Label]) -> None:
    found = agreement(list(product(ones, others)))
    assert found.kappa is None or found.kappa == pytest.approx(0, abs=1e-6)


def test_each_two_are_compared_and_all_together() -> None:
    by_pair = [
        [said("Ada", A), said("Bo", A)],
        [said("Ada", R), said("Bo", A)],
        [said("Ada", R), said("Cy", R)],
        [said("Ada", A), said("Cy", A)],
        [said("Ada", A)],
    ]
    of_all, by_two = agreements(by_pair)
    assert {names: (one.pairs, one.kappa) for names, one in by_two.items()} == {
        ("Ada", "Bo"): (2, 0.0),
        ("Ada", "Cy"): (2, 1.0),
    }
    # 3 of 4 observed; of 8 answers 5 accept and 3 reject: (25 + 9) / 64 by chance.
    assert (of_all.pairs, of_all.observed, of_all.expected) == (4, 0.75, 34 / 64)
    assert of_all.kappa == pytest.approx(14 / 30)


def test_many_reviewers_who_share_a_pair_each_agree_as_two_do() -> None:
    """Of 40 pairs 30 are accepted by both, 8 rejected, and 2 disputed; no two meet twice."""
    answers = [(A, A)] * 30 + [(R, R)] * 8 + [(A, R)] * 2
    of_many, by_two = agreements(
        [said(f"one {n}", one), said(f"other {n}", other)] for n, (one, other) in enumerate(answers)
    )
    of_two, _ = agreements([said("Ada", one), said("Bo", other)] for one, other in answers)
    assert of_many == of_two
    assert len(by_two) == 40
    # Of 80 answers 62 accept and 18 reject.
    by_chance = (62**2 + 18**2) / 80**2
    assert of_many.kappa == pytest.approx((0.95 - by_chance) / (1 - by_chance))


def test_three_who_judge_a_pair_are_three_of_two() -> None:
    """They agree about the first, and about nothing in the second."""
    of_all, _ = agreements([
        [said("Ada", A), said("Bo", A), said("Cy", A)],
        [said("Ada", A), said("Bo", R), said("Cy", U)],
    ])  # fmt: skip
    # Observed (1 + 0) / 2; 4 of 6 answers accept, one rejects, one is unsure: 18 / 36.
    assert (of_all.pairs, of_all.observed, of_all.expected) == (6, 0.5, 0.5)
    assert of_all.kappa == 0


def test_only_what_was_said_blind_and_by_reviewers_counts() -> None:
    of_all, _ = agreements([
        [said("Ada", A), said("Bo", R, 2), said("Ada", R, 3, blind_to=())],
        [said("Ada", A), said("Bo", R, 2, blind_to=())],
        [said("Ada", A), said("Ida", R, 2, role=Role.LEAD)],
        [said("Ada", A), said("ada", R, 2), said("Bo", R, 3)],
    ])  # fmt: skip
    # In the first Ada's last word came behind Bo's; in the last she has thought again before.
    assert (of_all.pairs, of_all.observed) == (2, 0.5)
