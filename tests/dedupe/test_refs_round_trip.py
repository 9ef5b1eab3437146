"""refs, validate, restore over collections of every kind: nothing is lost, byte for byte."""

from __future__ import annotations

import re
import shutil
import subprocess
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
    chunked,
    copy_real_archives,
    inflated,
    plan,
    records_of,
    refs,
    restore,
    validate,
    write_set,
)

from pinakes.dedupe.references.originals import wanted_by
from pinakes.dedupe.references.outcomes import HARMLESS
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.revisit import is_ours


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
    paths = copy_real_archives(shared_data, before)
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


# --- The recipe of docs/restore.md, as it stands there, restores what refs wrote


LATER = "2020-02-02T00:00:00Z"
TOOLS = ("sh", "tail", "head", "gzip", "sed", "wc", "awk", "mktemp", "printf", "cat", "rm")


@pytest.fixture(scope="session")
def recipe(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's shell script, in a file."""
    text = (repository / "docs" / "restore.md").read_text()
    (script,) = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(script.splitlines()) <= 13  # the call, and twelve lines
    path = tmp_path_factory.mktemp("recipe") / "restore.sh"
    path.write_text(script)
    return path


@pytest.fixture(scope="session")
def bare_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with these tools and no other; awk is mawk where there is one, as on Debian."""
    folder = tmp_path_factory.mktemp("bin")
    for tool in TOOLS:
        found = (tool == "awk" and shutil.which("mawk")) or shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    return str(folder)


def restore_all(recipe: Path, path: str, files: list[Path], *, most: int = 10**6) -> list[bytes]:
    """Each of our revisits as the recipe restores it."""
    full, revisits = {}, []
    for file in files:
        for record in records_of(file):
            if is_ours(record.header):
                revisits.append((file, record))
            elif record.type == "response":
                moment = parse_date(record.date_text or "")
                second = format_14(moment) if moment else ""
                full[record.target_uri, second] = (file, record)
    result = []
    for file, record in revisits[:most]:
        wanted = wanted_by(record.header)
        assert wanted is not None
        other, original = full[wanted]
        call = [file, record.offset, record.length, other, original.offset, original.length]
        done = subprocess.run(
            ["sh", str(recipe), *map(str, call)],
            env={"PATH": path},
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        result.append(done.stdout)
    return result


BODIES = {
    "text": Rec(),
    "binary": Rec(body=bytes(range(256)) * 30),
    "no line end in the body": Rec(body=b"x" * 3000),
    "line ends first and last": Rec(body=b"\r\n\r\n\n" + b"y" * 900 + b"\r\n\r\n\r\n"),
    "chunked": Rec(framing=True),
    "chunks as a body": Rec(body=chunked(b"z" * 900)),
    "WARC/1.0": Rec(version="WARC/1.0", brackets=True),
    "no digests": Rec(declared=None, block_digest=False),
    "another digest": Rec(declared="sha256"),
    "LF in the HTTP head": Rec(http_end=b"\n"),
    "odd header lines": Rec(
        fields=(b"X: a\r\n\tb%41; 3=c \\n \\", b"X-Latin: caf\xe9 \xff\x01", b"no colon", b"a:b")
    ),
    "names in another spelling": Rec(
        declared=None, block_digest=False, fields=(b"warc-payload-digest:   md5:aa%3D;\\",)
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_recipe_restores(name: str, recipe: Path, bare_path: str, tmp_path: Path) -> None:
    first = BODIES[name]
    second = Rec(**{**vars(first), "uri": "http://example.org/again", "date": LATER})
    if name == "names in another spelling":
        second = Rec(**{**vars(second), "fields": (b"warc-payload-digest:\tmd5:bb \\n;%",)})
    paths = write_set(tmp_path / "before", [ArchiveFile("a", [first, second, second])])
    assert refs(paths, plan(paths), tmp_path / "after").records >= 1
    restored = restore_all(recipe, bare_path, [tmp_path / "after" / "a.warc.gz"])
    assert restored[0] == second.raw(1)


@pytest.mark.slow
def test_the_recipe_on_real_archives(
    shared_data: Path, recipe: Path, bare_path: str, tmp_path: Path
) -> None:
    found = next((shared_data / "archives").rglob("TEST-20220304210400500*.warc.gz"))
    before = tmp_path / "before"
    before.mkdir()
    path = before / found.name
    shutil.copyfile(found, path)
    count = refs([path], plan([path]), tmp_path / "after")
    assert count.records > 40
    whole = inflated(path)
    restored = restore_all(recipe, bare_path, [tmp_path / "after" / found.name])
    assert len(restored) == count.records
    assert all(record in whole for record in restored)
    assert sum(map(len, restored)) > 5 * 10**4
