"""Cohen's kappa, by examples that were worked out by hand; whose judgements count."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pinakes.qa.review.agreement import agreement, agreements
from pinakes.qa.review.judgement import BlindTo, Judgement, Label, Role, Said

A, R, U = Label.ACCEPT, Label.REJECT, Label.UNSURE
BLIND = (BlindTo.OTHERS,)
labels = some.sampled_from(Label)


def said(author: str, label: Label, at_ms: int = 1, **given: object) -> Judgement:
    values = {"blind_to": BLIND, **given}
    return Judgement(
        id=f"{author}{at_ms}", author=author, said=Said(label=label), at_ms=at_ms, **values  # type: ignore[arg-type]
    )  # fmt: skip


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
    # 3 of 4 observed; 1 + 1 of 4 by chance.
    assert (of_all.pairs, of_all.observed, of_all.kappa) == (4, 0.75, 0.5)


def test_only_what_was_said_blind_and_by_reviewers_counts() -> None:
    of_all, _ = agreements([
        [said("Ada", A), said("Bo", R, 2), said("Ada", R, 3, blind_to=())],
        [said("Ada", A), said("Bo", R, 2, blind_to=())],
        [said("Ada", A), said("Ida", R, 2, role=Role.LEAD)],
        [said("Ada", A), said("ada", R, 2), said("Bo", R, 3)],
    ])  # fmt: skip
    # In the first Ada's last word came behind Bo's; in the last she has thought again before.
    assert (of_all.pairs, of_all.observed) == (2, 0.5)
