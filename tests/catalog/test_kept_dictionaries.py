"""Dictionaries in the archive store: named by number, id and SHA-256; never replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_builders import dictionary

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.kept_dictionaries import (
    KeptDictionary,
    keep_dictionary,
    kept_dictionaries,
    parse_kept_name,
    read_kept,
)
from pinakes.errors import DigestMismatch, InputRefused

FIRST, SECOND = dictionary(40_000), dictionary(50_000)


@pytest.fixture
def archive(tmp_path: Path) -> LocalArchiveStore:
    return LocalArchiveStore(tmp_path)


def keep(archive: LocalArchiveStore, content: bytes, collection: str = "news") -> KeptDictionary:
    return keep_dictionary(archive, collection, content, token="dictionary-1")


def test_the_last_one_kept_is_in_use(archive: LocalArchiveStore) -> None:
    first, second, again = keep(archive, FIRST), keep(archive, SECOND), keep(archive, FIRST)
    assert [kept.number for kept in (first, second, again)] == [1, 2, 3]
    assert kept_dictionaries(archive, "news") == [first, second, again]
    assert kept_dictionaries(archive, "new") == []
    assert read_kept(archive, again) == FIRST


def test_one_that_is_in_use_is_not_kept_twice(archive: LocalArchiveStore) -> None:
    assert keep(archive, FIRST) == keep(archive, FIRST)
    assert len(list(archive.list())) == 1


def test_numbers_are_ordered_as_numbers(archive: LocalArchiveStore) -> None:
    for number in (10_000, 9_999, 2):
        kept = KeptDictionary("news", number, 7, "0" * 16)
        with archive.create_aside("t") as aside:
            aside.publish(kept.name)
    assert [kept.number for kept in kept_dictionaries(archive, "news")] == [2, 9_999, 10_000]
    assert keep(archive, FIRST).number == 10_001


def test_two_that_are_kept_at_once_are_both_there(archive: LocalArchiveStore) -> None:
    first = keep(archive, FIRST)
    other = KeptDictionary("news", 1, 50_000, "f" * 16)
    with archive.create_aside("other") as aside:
        aside.publish(other.name)
    assert kept_dictionaries(archive, "news") == [first, other]


def test_other_bytes_than_the_names_are_refused(archive: LocalArchiveStore, tmp_path: Path) -> None:
    kept = keep(archive, FIRST)
    path = tmp_path / kept.name
    for content in (FIRST[:-1], FIRST + b"x", SECOND, b""):
        path.unlink()
        path.write_bytes(content)
        with pytest.raises(DigestMismatch, match="named after"):
            read_kept(archive, kept)
        with pytest.raises(DigestMismatch, match="named after"):
            keep(archive, FIRST)
    path.unlink()
    with pytest.raises(InputRefused):
        read_kept(archive, kept)


NAMES = {
    "+news/0001-40000-0123456789abcdef.dict": True,
    "+news/12345-2147483647-0123456789abcdef.dict": True,
    "news/0001-40000-0123456789abcdef.dict": False,
    "+news/g2/0001-40000-0123456789abcdef.dict": False,
    "+news/1-40000-0123456789abcdef.dict": False,
    "+news/0001-40000-0123456789ABCDEF.dict": False,
    "+news/0001-40000-0123456789abcdef.dict\n": False,
    "+ne ws/0001-40000-0123456789abcdef.dict": False,
}


@pytest.mark.parametrize(("name", "is_one"), NAMES.items(), ids=map(repr, NAMES))
def test_which_names_are_dictionaries(name: str, is_one: bool) -> None:
    kept = parse_kept_name(name)
    assert (kept is not None) == is_one
    assert kept is None or kept.name == name
