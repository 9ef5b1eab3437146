"""Visible texts, compared."""

from __future__ import annotations

import comparing  # noqa: F401
import pytest

from pinakes.qa.compare.texts import compare_texts

TEXT = "The catalogue of the library lists 120 thousand scrolls. " * 20


def test_case_space_and_composition_do_not_count() -> None:
    found = compare_texts("Caf\u00e9  au\nlait", "CAFE\u0301 au lait")
    assert (found.gone, found.new, found.order, found.length_ratio) == (0, 0, 1, 1)


@pytest.mark.parametrize("texts", [("", ""), (" \n", "\u00a0")])
def test_no_text_at_all(texts: tuple[str, str]) -> None:
    found = compare_texts(*texts)
    assert (found.gone, found.new, found.order, found.length_ratio, found.misread) == (
        0, 0, 1, 1, 0)  # fmt: skip


def test_words_gone_and_new() -> None:
    found = compare_texts("one two three four", "one two five")
    assert (found.gone, found.new) == (0.5, pytest.approx(1 / 3))
    assert found.length_ratio == 0.75


def test_of_what_differs_the_part_that_is_numbers() -> None:
    assert compare_texts("visited 120 times", "visited 121 times").numbers == 1
    assert compare_texts("visited 120 times", "seen 120 times").numbers == 0


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_another_encoding_read_wrongly(encoding: str) -> None:
    text = "La bibliothèque d’Alexandrie brûla, à ce qu’on dit, où elle était née."
    misread = text.encode().decode(encoding, "replace")
    found = compare_texts(text, misread)
    assert found.misread > 0.5
    assert compare_texts(misread, text).misread == -found.misread
    assert compare_texts(text, text.encode("latin-1", "replace").decode("utf-8", "replace")
                         ).misread > 0.5  # fmt: skip


@pytest.mark.parametrize("code_page", ["cp1250", "cp1251", "cp1253", "cp1254", "cp1256", "cp1257"])
@pytest.mark.parametrize("text", ["Žluťoučký kůň, où?", "Він і Її", "الألواح", "図書館の目録"])
def test_utf_8_taken_for_what_a_reader_elsewhere_is_used_to(text: str, code_page: str) -> None:
    letters = (bytes([byte]).decode(code_page, "ignore") or chr(byte) for byte in text.encode())
    misread = "".join(letters)
    found = compare_texts(text, f"{misread} 42. {misread}")
    beyond = sum(character > "\x7f" for character in misread)
    assert (found.misread, found.misread_letters) == (1, 2 * beyond)


@pytest.mark.parametrize(
    "text",
    [
        "Він знає: «Історії Японії» — її, Ії, Ві́в…",
        "«Ёлка», СССР» и мир”",
        "Ώρα, «ΑΉ»",
        "السلام عليكم، هذا اختبار؛ ما؟ تا، کتاب",
        "עברית, „שלום“",
        "สวัสดีชาวโลก",
        "Où « ça », Œuvre™ – l’été…",
    ],
)
def test_words_in_their_own_script_are_not_misread(text: str) -> None:
    assert compare_texts("", text).misread_letters == 0


@pytest.mark.parametrize(
    "text", ["Πίνακες τῶν ἐν πάσῃ παιδείᾳ", "図書館の目録", "Ñandú, Âge, Ãstrid, Über Öl", TEXT]
)
def test_other_scripts_are_not_misread(text: str) -> None:
    assert compare_texts("", text).misread == 0


def test_long_texts_are_cut() -> None:
    found = compare_texts("word " * 100_000, "word " * 200_000)
    assert (found.gone, found.new, found.order) == (0, 0, 1)
