"""The chain by its verbs: manifest, resolve, process, refs, validate, restore, commit-copy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from killing import tree
from refs_sets import LAYOUTS, SETS, check_references, collections
from warc_sets import ArchiveFile, Rec, inflated, write_set

from pinakes.cli import main


def chain(folder: Path, files: list[ArchiveFile]) -> int:
    """All verbs; the number of revisits."""
    before, after, back = (folder / name for name in ("before", "after", "back"))
    paths = list(map(str, write_set(before, files)))
    manifest, decided, receipt = (str(folder / name) for name in ("m", "p", "r.json"))
    after.mkdir()
    out = [str(after / Path(path).name) for path in paths]
    for call in (
        ["manifest", *paths, "-o", manifest],
        ["resolve", manifest, "--process", "-o", decided],
        ["refs", *paths, "--manifest", decided, "-o", str(after), "--min-saving", "none"],
        ["validate", str(before), str(after), "--receipt", receipt],
        ["restore", *out, "-o", str(back)],
        ["validate", str(after), str(back)],
    ):
        # 3: these name the stretches that are no record.
        names = call[0] in ("manifest", "restore")
        assert main(["-q", *call]) in ((0, 3) if names else (0,)), call[0]
    check_references(list(map(Path, out)))
    for path in map(Path, paths):
        assert inflated(back / path.name) == inflated(path)
    copy = folder / "copy"
    shutil.copytree(before, copy)
    assert main(["-q", "commit-copy", str(after), str(copy), "--receipt", receipt]) == 0
    now = {name: data for name, data in tree(copy).items() if not name.startswith("superseded")}
    assert now == tree(after)
    # What is decided anew on what was written changes nothing.
    again = str(folder / "again")
    assert main(["-q", "manifest", *out, "-o", manifest]) in (0, 3)
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) == 0
    assert (
        main(["-q", "refs", *out, "--manifest", decided, "-o", again, "--min-saving", "none"]) == 0
    )
    assert tree(Path(again)) == tree(after)
    return int(json.loads(Path(receipt).read_text())["rewritten"])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_kinds_at_once(layout: str, tmp_path: Path) -> None:
    """Every set of the table as a file of its own hosts, so that none answers for another."""
    files = []
    for number, (name, (records, _)) in enumerate(SETS.items()):
        if "revisit" in name or "profile" in name or name in ("an IRI", "a large body"):
            continue
        own = [
            Rec(
                **{
                    **vars(r),
                    "uri": f"http://h{number}.example/{at}",
                    "body": r.body + name.encode(),
                }
            )
            for at, r in enumerate(records)
        ]
        files.append(ArchiveFile(f"f{number:02}", own, layout))
    assert chain(tmp_path, files) >= 20


@given(collections)
@settings(max_examples=25)
def test_any_collection(made: list[tuple[list[Rec], str]]) -> None:
    with TemporaryDirectory() as folder:
        files = [ArchiveFile(f"f{n}", recs, layout) for n, (recs, layout) in enumerate(made)]
        if any(recs for recs, _ in made):
            chain(Path(folder), files)
