"""Names of stored files: what a generation is called, and what a name is a generation of."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import Conflict, InputRefused
from pinakes.hbase_schema.file_states import FileState, require_next
from pinakes.hbase_schema.generation_names import (
    Generation,
    ending_in,
    ending_of,
    generation_file,
    generation_of,
    iter_generation_files,
    with_ending,
)
from pinakes.hbase_schema.name_keys import archive_file

ENDINGS = ["gz", "zst", "bz2", "plain"]


def test_generations_have_names_of_their_own() -> None:
    file = archive_file("crawl", "gallery/g2/a.warc.gz")
    assert generation_file(file, 1) == file
    assert generation_file(file, 3) == "crawl/g3/gallery/g2/a.warc.gz"
    assert [generation_of(generation_file(file, n)) for n in (1, 2, 13)] == [
        Generation(file, 1), Generation(file, 2), Generation(file, 13)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="from 1"):
        generation_file(file, 0)


@pytest.mark.parametrize(
    ("landed", "ending", "name"),
    [
        ("c/p/x.warc.gz", "zst", "c/g2-gz/p/x.warc.zst"),
        ("c/p/x.warc.gz", "plain", "c/g2-gz/p/x.warc"),
        ("c/x.warc.zst", "gz", "c/g2-zst/x.warc.gz"),
        ("c/x.arc", "zst", "c/g2-plain/x.arc.zst"),
        ("c/x.warc.bz2", "gz", "c/g2-bz2/x.warc.gz"),
        ("c/g2-x/x.warc.gz.warc", "gz", "c/g2-plain/g2-x/x.warc.gz.warc.gz"),
    ],
)
def test_another_ending_is_told_by_the_folder(landed: str, ending: str, name: str) -> None:
    assert generation_file(landed, 2, ending) == name
    assert generation_of(name) == Generation(landed, 2, ending)
    assert Generation(landed, 2, ending).name == name
    assert Generation(landed, 2, ending).following() == Generation(landed, 3, ending)
    assert name in iter_generation_files(landed, 2)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("c/x.warc", "plain"),
        ("c/x.arc.zst", "zst"),
        ("c/x.WARC.gz", None),
        ("c/x.warc.GZ", None),
        ("c/x.warc.gz.open", None),
        ("c/x.gz", None),
        ("c/x", None),
        ("c/warc", None),
        ("c/.warc/x", None),
        ("c/x.wacz", None),
    ],
)
def test_ending_of_a_name(name: str, ending: str | None) -> None:
    assert ending_of(name) == ending


@pytest.mark.parametrize(
    ("landed", "number", "ending"),
    [
        ("c/x.warc.gz", 1, "zst"),
        ("c/x.warc.gz", 2, "gz"),
        ("c/x", 2, "zst"),
        ("c/x.warc.gz.open", 2, "gz"),
    ],
    ids=["as landed", "its own", "none", "unknown"],
)
def test_a_generation_without_such_a_name(landed: str, number: int, ending: str) -> None:
    with pytest.raises(ValueError, match="no ending of its own"):
        generation_file(landed, number, ending)
    with pytest.raises(ValueError, match="no ending to change"):
        with_ending("c/x", "gz")


@pytest.mark.parametrize(
    "name",
    [
        "c/g2-gz/x.warc.gz",  # the ending that the folder says
        "c/g2-gz/X.WARC.ZST",
        "c/g2-gz/x",
        "c/g1-gz/x.warc.zst",
        "c/g02-gz/x.warc.zst",
        "c/g2-xz/x.warc.zst",
        "c/p/g2-gz/x.warc.zst",
    ],
)
def test_files_that_landed_below_such_a_folder_before_stay_what_they_are(name: str) -> None:
    assert generation_of(name) == Generation(name, 1)


def test_no_two_generations_have_one_name() -> None:
    stems = ["a.warc", "p/a.warc", "a.warc.gz.warc", "a.arc"]
    files = [f"c/{stem}{suffix}" for stem in stems for suffix in ("", ".gz", ".zst", ".bz2")]
    names = [
        name
        for file in files
        for number in (1, 2, 3)
        for name in iter_generation_files(file, number)
    ]
    assert len(set(names)) == len(names)
    for file in files:
        for number in (2, 3):
            for name in iter_generation_files(file, number):
                assert generation_of(name)[:2] == (file, number)


parts = st.from_regex(r"(g[0-9]{1,2}(-gz|-zst|-plain)?|[a-z.]{1,6}|a b|é)", fullmatch=True)


@given(
    folders=st.lists(parts, max_size=3),
    base=parts,
    suffix=st.sampled_from(
        ["", ".warc", ".arc", ".WARC", ".gz", ".warc.gz", ".arc.zst", ".warc.bz2"]
    ),
    number=st.integers(1, 120),
    ending=st.none() | st.sampled_from(ENDINGS),
)
def test_a_name_gives_back_what_it_was_made_of(
    folders: list[str], base: str, suffix: str, number: int, ending: str | None
) -> None:
    try:
        file = archive_file("crawl", "/".join([*folders, base + suffix]))
        name = generation_file(file, number, ending)
    except (InputRefused, ValueError):
        return
    assert generation_of(name) == Generation(file, number, ending)
    assert (name in iter_generation_files(file, number)) == (ending != "bz2")
    if ending is not None:
        assert ending_of(name) == ending
        assert ending_in(file, ending) == ending


# --- Which state of an archive file may follow which


S = FileState


@pytest.mark.parametrize(
    "life",
    [
        (None, S.LANDING, S.STORED, S.LEAVING, S.LEFT, S.REMOVED, S.LANDING),
        (None, S.LANDING, S.LOADING, S.LANDING, S.STORED),
        (None, S.LANDING, S.REFUSED, S.LANDING),
        (None, S.LANDING, S.LEAVING, S.LEFT, S.REMOVED),
        (S.LEAVING, S.STORED),
        (S.PURGED, S.LANDING),
    ],
)
def test_allowed_sequences_of_states(life: tuple[FileState | None, ...]) -> None:
    for state, following in pairwise(life):
        assert following is not None
        require_next(state, following)


@pytest.mark.parametrize(
    ("state", "following"),
    [
        (None, S.STORED),
        (S.STORED, S.LANDING),
        (S.STORED, S.REFUSED),
        (S.STORED, S.REMOVED),
        (S.LEAVING, S.REMOVED),
        (S.REFUSED, S.STORED),
        (S.REMOVED, S.STORED),
    ],
)
def test_forbidden_transitions(state: FileState | None, following: FileState) -> None:
    with pytest.raises(Conflict, match=f"does not become {following.value}"):
        require_next(state, following)


@pytest.mark.parametrize("state", FileState)
def test_every_state_can_be_left_and_is_of_one_kind(state: FileState) -> None:
    assert any(_follows(state, following) for following in FileState if following is not state)
    assert sum((state.is_landing, state.is_leaving, state.is_gone)) <= 1
    assert f"{state}" == str(state) == state.value


def _follows(state: FileState, following: FileState) -> bool:
    try:
        require_next(state, following)
    except Conflict:
        return False
    return True
