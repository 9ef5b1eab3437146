"""What is settled, and who is asked; who looks at what."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pinakes.errors import InputRefused
from pinakes.qa.review.judgement import (
    NAME_CHARACTERS,
    NOTE_CHARACTERS,
    By,
    Judgement,
    Label,
    Role,
    Standing,
    Statement,
    clean_name,
    newest_by_author,
    same_author,
    settled,
    standing,
)
from pinakes.qa.review.reviewed_pair import (
    AUDIT_AT_LEAST,
    audit_order,
    audit_size,
    hides_verdict,
    judgements_needed,
)

A, R, U = Label.ACCEPT, Label.REJECT, Label.UNSURE


def said(
    author: str, label: Label, at_ms: int = 1, role: Role = Role.REVIEWER, *faults: str
) -> Judgement:
    return Judgement(
        id=f"{author}-{at_ms}", author=author, at_ms=at_ms, role=role,
        statement=Statement(label=label, faults=faults),
    )  # fmt: skip


LEAD = Role.LEAD


@pytest.mark.parametrize(
    ("judgements", "of_one", "of_two"),
    [
        pytest.param([], (None, "open"), (None, "open"), id="nobody"),
        pytest.param([said("a", R)], ((R, "one"), "settled"), (None, "waiting"), id="one"),
        pytest.param([said("a", U)], (None, "unsure"), (None, "waiting"), id="one is unsure"),
        pytest.param(
            [said("a", U), said("b", R)], ((R, "one"), "settled"), (None, "unsure"),
            id="a second opinion",
        ),
        pytest.param(
            [said("a", U), said("b", R), said("c", R)], ((R, "agreement"), "settled"),
            ((R, "agreement"), "settled"), id="a third opinion",
        ),
        pytest.param(
            [said("a", U), said("b", R), said("c", A)], (None, "disputed"), (None, "disputed"),
            id="a second opinion that is disputed",
        ),
        pytest.param(
            [said("a", A), said("b", A)], ((A, "agreement"), "settled"),
            ((A, "agreement"), "settled"), id="two agree",
        ),
        pytest.param(
            [said("a", A), said("b", R)], (None, "disputed"), (None, "disputed"), id="two do not",
        ),
        pytest.param(
            [said("a", U), said("b", U)], (None, "unsure"), (None, "unsure"), id="both unsure",
        ),
        pytest.param(
            [said("a", A), said("a", R, 2)], ((R, "one"), "settled"), (None, "waiting"),
            id="the newest of an author counts",
        ),
        pytest.param(
            [said("a", A), said("A", R, 2)], ((R, "one"), "settled"), (None, "waiting"),
            id="an author in another spelling is one",
        ),
        pytest.param(
            [said("a", A), said("b", A), said("i", R, 3, LEAD)], ((R, "lead"), "settled"),
            ((R, "lead"), "settled"), id="the lead's word, against all",
        ),
        pytest.param(
            [said("i", A, 1, LEAD), said("a", R, 2), said("b", R, 3)], ((A, "lead"), "settled"),
            ((A, "lead"), "settled"), id="and behind it",
        ),
        pytest.param(
            [said("i", A, 1, LEAD), said("h", R, 2, LEAD)], ((R, "lead"), "settled"),
            ((R, "lead"), "settled"), id="of two leads the last",
        ),
        pytest.param(
            [said("a", A), said("i", U, 2, LEAD)], (None, "unsure"), (None, "unsure"),
            id="a lead who is unsure",
        ),
    ],
)  # fmt: skip
def test_what_is_settled(
    judgements: list[Judgement],
    of_one: tuple[tuple[Label, str] | None, str],
    of_two: tuple[tuple[Label, str] | None, str],
) -> None:
    for count, (wanted, stands) in ((1, of_one), (2, of_two)):
        for order in permutations(judgements):
            found = settled(order, count)
            assert (found and (found.label, found.by)) == (wanted and (wanted[0], By(wanted[1])))
            assert standing(order, count) is Standing(stands)


def test_faults_are_those_that_any_of_the_agreeing_has_named() -> None:
    found = settled(
        [
            said("a", R, 1, Role.REVIEWER, "video", "layout"),
            said("b", R, 2, Role.REVIEWER, "blank"),
        ],
        2,
    )
    assert found is not None
    assert found.faults == ("layout", "video", "blank")
    assert found.is_faulty


@given(
    some.lists(
        some.builds(
            said, some.sampled_from("abc"), some.sampled_from(Label), some.integers(0, 9),
            some.sampled_from(Role),
        )
    ),
    some.integers(1, 2),
)  # fmt: skip
def test_what_stands_as_settled_is(judgements: list[Judgement], count: int) -> None:
    found = settled(judgements, count)
    assert (found is not None) == (standing(judgements, count) is Standing.SETTLED)
    assert found is None or found.label is not U
    assert len(newest_by_author(judgements)) == len({one.author for one in judgements})


def test_one_in_ten_goes_to_two_and_half_of_these_hide_the_verdict() -> None:
    keys = [f"run key-{number} a:b".encode() for number in range(20_000)]
    double = [key for key in keys if judgements_needed(key) == 2]
    hidden = [key for key in keys if hides_verdict(key)]
    assert 0.09 < len(double) / len(keys) < 0.11
    assert 0.45 < len(hidden) / len(double) < 0.55
    assert set(hidden) <= set(double)
    assert {judgements_needed(key) for key in keys} == {1, 2}


def test_a_key_decides_alike_in_every_process() -> None:
    """Whoever changes this changes who has looked at what."""
    key = b"qa-1 org,example)/ 20240229123456789 7OCLLO7O before.chromium:current.chromium"
    assert (judgements_needed(key), hides_verdict(key), audit_order(key)) == (
        1,
        False,
        13575400469346847731,
    )


@pytest.mark.parametrize(
    ("similar", "size"),
    [(0, 0), (7, 7), (AUDIT_AT_LEAST, 100), (500, 100), (1000, 100), (9000, 900)],
)
def test_a_tenth_of_the_similar_is_audited(similar: int, size: int) -> None:
    assert audit_size(similar) == size


@pytest.mark.parametrize(("similar", "size"), [(0, 0), (3, 3), (221, 5), (9000, 5)])
def test_few_of_those_that_are_proven_are_audited(similar: int, size: int) -> None:
    assert audit_size(similar, proven=True) == size


@pytest.mark.parametrize(
    ("name", "clean"),
    [("Nadia", "Nadia"), ("  Nadia\tO. ", "Nadia O."), ("e\u0301", "é"), ("نادية", "نادية")],
)
def test_names_are_made_one(name: str, clean: str) -> None:
    assert clean_name(name) == clean
    assert same_author(name.strip().upper()) == same_author(name.strip())


@pytest.mark.parametrize(
    "name", ["", "  ", "a" * (NAME_CHARACTERS + 1), "a\u202eb", "a\x00", "\ud800", "a\u200bb"]
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(InputRefused, match="1 to 80 visible characters"):
        clean_name(name)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"label": R, "faults": ("ugly",)}, "unknown kind of fault"),
        ({"label": A, "faults": ("layout",)}, "cannot have faults"),
        ({"label": U, "note": "x" * (NOTE_CHARACTERS + 1)}, "at most 4,000"),
    ],
)
def test_what_cannot_be_said(given: dict[str, object], words: str) -> None:
    with pytest.raises(InputRefused, match=words):
        Statement(**given)  # type: ignore[arg-type]
