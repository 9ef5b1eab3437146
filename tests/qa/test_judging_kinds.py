"""What a page is taken for, by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from snapshots import SHOWN

from pinakes.qa.judging.page_kind import ImageStatistics, PageKind, page_kinds
from pinakes.qa.snapshot import Box, Outcome, Overlay, Rect

RECT = Rect(x=0, y=0, width=400, height=40)
FIELD = Box(tag="input", kind="control", rect=RECT)
LONG = "What the scrolls of the library were about, and who read them. " * 40
DRAWN = ImageStatistics(deviation=40.0, commonest=0.8)
PAGE = replace(
    SHOWN,
    text=LONG,
    boxes=(Box(tag="p", kind="text", rect=RECT),),
)


def kinds(**changes: object) -> list[PageKind]:
    page = replace(PAGE, **changes)  # type: ignore[arg-type]
    return [found.kind for found in page_kinds(page, DRAWN)]


@pytest.mark.parametrize(
    "text",
    [
        "404 Not Found",
        "Error 404\nGo home",
        "Oops! The page you are looking for does not exist.",
        "Sorry, we couldn't find the page you asked for",
        "Seite nicht gefunden",
        "La page introuvable: page introuvable",
        "This article is no longer available.",
    ],
)
def test_a_page_that_says_it_is_none_is_a_soft_404(text: str) -> None:
    assert kinds(text=text) == [PageKind.SOFT_404]


@pytest.mark.parametrize(
    "text",
    [
        "Opening hours: Monday to Friday",
        "Room 404 is on the fourth floor",
        "404 Not Found is a status of HTTP. " + LONG,
        "Find what you are looking for on our page",
    ],
)
def test_a_page_about_something_is_none(text: str) -> None:
    assert kinds(text=text) == []


def test_a_form_that_asks_for_a_password_and_little_else_is_a_wall() -> None:
    text = "Sign in to continue\nE-mail\nPassword\nForgot your password?"
    assert kinds(text=text, boxes=(FIELD, FIELD)) == [PageKind.LOGIN_WALL]
    assert kinds(text=text) == []  # nothing to type into
    assert kinds(text=text + LONG, boxes=(FIELD, FIELD)) == []


def test_a_form_that_lies_over_a_page_is_a_wall() -> None:
    over = Overlay(
        tag="div", identity="", rect=RECT, viewport_share=1.0, text="Log in\nUsername\nPassword"
    )
    assert kinds(overlay=over) == [PageKind.LOGIN_WALL]
    assert kinds(overlay=replace(over, text="We use cookies")) == []


def test_a_page_of_one_colour_is_blank_whatever_it_holds() -> None:
    empty = ImageStatistics(deviation=0.0, commonest=1.0)
    assert [found.kind for found in page_kinds(PAGE, empty)] == [PageKind.BLANK]
    assert page_kinds(PAGE, DRAWN) == ()
    bare = replace(PAGE, text=" \n", boxes=())
    assert [found.kind for found in page_kinds(bare)] == [PageKind.BLANK]
    assert page_kinds(PAGE) == ()


def test_an_error_of_the_browser_says_which() -> None:
    failed = replace(PAGE, outcome=Outcome.FAILED, reasons=("net::ERR_EMPTY_RESPONSE",))
    [found] = page_kinds(failed)
    assert found.kind is PageKind.BROWSER_ERROR
    assert "ERR_EMPTY_RESPONSE" in found.reason
    assert page_kinds(replace(PAGE, outcome=Outcome.NOT_A_PAGE, text="")) == ()
