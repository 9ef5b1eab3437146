"""refs, validate, restore over collections of every kind: nothing is lost, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from refs_sets import LAYOUTS, SETS, check_references, collections, pair
from warc_sets import (
    ArchiveFile,
    Rec,
    inflated,
    plan,
    refs,
    restore,
    validate,
    write_set,
)

from pinakes.dedupe.references.outcomes import HARMLESS


def chain(folder: Path, files: Sequence[ArchiveFile]) -> int:
    """refs, validate, refs again, restore, validate; the number of revisits written."""
    before, after, back = folder / "before", folder / "after", folder / "back"
    paths = write_set(before, files)
    old = {path: path.read_bytes() for path in paths}
    count = refs(paths, plan(paths), after)
    assert not count.problems
    written = [after / path.name for path in paths]
    check_references(written)

    result = validate(before, after)
    assert result.comparison.discrepancies == []
    assert result.comparison.rewritten == count.records

    twice = refs(written, plan(written), folder / "twice")
    assert (twice.records, twice.problems) == (0, [])
    assert [(folder / "twice" / p.name).read_bytes() for p in paths] == [
        path.read_bytes() for path in written
    ]

    restored = restore(written, back)
    assert (restored.restored, restored.problems) == (count.records, [])
    for path in paths:
        assert inflated(back / path.name) == inflated(path)
        assert path.read_bytes() == old[path]
    result = validate(after, back)
    assert result.comparison.discrepancies == []
    assert result.comparison.restored == count.records
    assert validate(before, back).comparison.discrepancies == []
    return count.records


# Each set in a third of the layouts, its neighbours in the others; all in `make test-large`.
IN_LAYOUTS = [
    pytest.param(name, layout, marks=() if (n + m) % 3 == 0 else pytest.mark.large)
    for (n, name), (m, layout) in product(enumerate(SETS), enumerate(LAYOUTS))
]


@pytest.mark.parametrize(("name", "layout"), IN_LAYOUTS)
def test_each_set_is_rewritten_and_restored(name: str, layout: str, tmp_path: Path) -> None:
    records, revisits = SETS[name]
    assert chain(tmp_path, [ArchiveFile("a", records, layout)]) == revisits


@pytest.mark.parametrize("layouts", [("plain", "gzip"), ("gzip", "plain"), ("shared", "pairs")])
def test_originals_in_another_file(layouts: tuple[str, str], tmp_path: Path) -> None:
    first, second = pair()
    files = [ArchiveFile("a", [first], layouts[0]), ArchiveFile("b", [second], layouts[1])]
    assert chain(tmp_path, files) == 1


@given(collections)
def test_any_collection_is_rewritten_and_restored(made: list[tuple[list[Rec], str]]) -> None:
    with TemporaryDirectory() as folder:
        files = [ArchiveFile(f"f{n}", recs, layout) for n, (recs, layout) in enumerate(made)]
        chain(Path(folder), files)


def test_outcomes_that_pass_are_two() -> None:
    assert {"resolves", "missing"} == HARMLESS


@pytest.mark.slow
def test_real_archives(shared_data: Path, tmp_path: Path) -> None:
    """Every archive of the shared data, as one collection; damaged ones among them."""
    before = tmp_path / "before"
    before.mkdir()
    found = sorted(
        path
        for pattern in ("*.warc", "*.warc.gz")
        for path in (shared_data / "archives").rglob(pattern)
        if "_oracle" not in path.parts
    )
    for number, path in enumerate(found):
        shutil.copyfile(path, before / f"{number:03d}-{path.name}")
    paths = sorted(before.iterdir())
    after, back = tmp_path / "after", tmp_path / "back"
    count = refs(paths, plan(paths), after)
    assert count.records > 50
    assert count.problems == []
    assert validate(before, after).comparison.discrepancies == []
    restored = restore([after / path.name for path in paths], back)
    assert (restored.restored, restored.problems) == (count.records, [])
    assert validate(before, back).comparison.discrepancies == []
    for path in paths:
        if path.suffix == ".warc" and path.read_bytes()[:2] != b"\x1f\x8b":
            assert (back / path.name).read_bytes() == path.read_bytes()
