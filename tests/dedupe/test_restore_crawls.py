"""`restore` of crawls: with originals wherever they are in the store; judged by zlib."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from scenes import Scene, make_scene, write_crawl
from store_chain import Answer, call
from whole_payloads import flip


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """Two crawls of one site, the second deduplicated by the first."""
    with make_scene(tmp_path / "scene") as made:
        made.land(1)
        made.land(2)
        made.dedupe()
        yield made


def restored(scene: Scene, out: Path, *names: str, options: tuple[str, ...] = ()) -> Answer:
    return call("restore", *names, "-o", out, *options, "--store", scene.folder / "store")


def inflated(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): gzip.decompress(path.read_bytes())
        for path in folder.rglob("*.warc.gz")
    }


def landed(scene: Scene, *crawls: str) -> dict[str, bytes]:
    files = inflated(scene.crawls)
    return {name: data for name, data in files.items() if name.partition("/")[0] in crawls}


def originals(scene: Scene) -> list[Path]:
    return sorted((scene.archive.folder / "c1").glob("*.warc.gz"))


@pytest.mark.parametrize("generations", ["kept", "dropped"])
@pytest.mark.parametrize(
    ("names", "crawls"),
    [(("c2",), ("c2",)), (("c2", "c1"), ("c1", "c2")), (("news",), ("c1", "c2"))],
)
def test_what_landed_comes_back(
    scene: Scene, tmp_path: Path, generations: str, names: tuple[str, ...], crawls: tuple[str, ...]
) -> None:
    if generations == "dropped":
        store = ("--store", scene.folder / "store")
        assert call("generations", "--drop", "--grace", "0", *store).exit_code == 0
    for _ in range(2):
        done = restored(scene, tmp_path / "out", *names)
        assert done.exit_code == 0, done
        assert "c2/g2/part-0.warc.gz: 4 restored" in done.out
        assert inflated(tmp_path / "out") == landed(scene, *crawls)


def test_a_dry_run_writes_nothing(scene: Scene, tmp_path: Path) -> None:
    done = restored(scene, tmp_path / "out", "c2", options=("--dry-run",))
    assert (done.exit_code, "4 restored" in done.out) == (0, True)
    assert not (tmp_path / "out").exists()


def test_a_file_of_which_nothing_can_be_restored_is_not_written(
    scene: Scene, tmp_path: Path
) -> None:
    """Else it would be taken for the original, and the call that is right for it."""
    whole = {path: path.read_bytes() for path in originals(scene)}
    for path in whole:
        path.unlink()
    done = restored(scene, tmp_path / "out", "c2")
    assert done.exit_code == 3, done
    assert done.err.count("not written: none of its revisits could be restored") == 2
    assert inflated(tmp_path / "out") == {}
    for path, data in whole.items():
        path.write_bytes(data)
    assert restored(scene, tmp_path / "out", "c2").exit_code == 0
    assert inflated(tmp_path / "out") == landed(scene, "c2")


def test_what_has_rotted_is_named(scene: Scene, tmp_path: Path) -> None:
    first = originals(scene)[0]
    flip(first, len(first.read_bytes()) // 2)
    done = restored(scene, tmp_path / "out", "c1", "c2")
    assert done.exit_code == 3, done
    assert "c1/part-0.warc.gz: its SHA-256 differs from the one that was stored" in done.err
    wrong = {
        name
        for name, data in inflated_or_not(tmp_path / "out").items()
        if data != landed(scene, "c1", "c2")[name]
    }
    assert wrong <= {"c1/part-0.warc.gz", "c2/part-0.warc.gz"}
    assert all(name.replace("c2/", "c2/g2/") in done.err for name in wrong)


def inflated_or_not(folder: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for path in folder.rglob("*.warc.gz"):
        try:
            found[path.relative_to(folder).as_posix()] = gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error):
            found[path.relative_to(folder).as_posix()] = None
    return found


def test_a_name_that_is_nothing(scene: Scene, tmp_path: Path) -> None:
    for names, code, words in (
        (("c2", str(originals(scene)[0])), 3, "c2: cannot be read: No such file"),
        (("c9",), 2, "c9: file not found, and no crawl or collection of this name"),
    ):
        done = restored(scene, tmp_path / "out", *names)
        assert (done.exit_code, words in done.err) == (code, True), done
    done = call("restore", "c2", "-o", tmp_path / "out", "--store", tmp_path / "none")
    assert (done.exit_code, "c2: file not found, and there is no store" in done.err) == (2, True)


def test_a_record_that_is_cut_off_is_named(tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_crawl(files, 1)
    for path in files.iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    done = call("restore", files, "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert done.err.count("the record is copied as it is") == 2
    for path in files.iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_a_revisit_of_ours_of_another_type_is_named(scene: Scene, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for path in (*originals(scene), *(scene.archive.folder / "c2" / "g2").glob("*.warc.gz")):
        plain = gzip.decompress(path.read_bytes())
        if "g2" in path.parts:
            plain = plain.replace(b"WARC-Type: revisit", b"WARC-Type: revisiu", 1)
        name = f"{path.parent.name}-{path.name}".removesuffix(".gz")
        (files / name).write_bytes(plain)
    done = call("restore", files, "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert done.err.count("it has the field Pinakes-Replaced, and is no revisit") == 2


def test_a_path_is_not_taken_for_the_crawl_of_its_name(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "c2").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    done = restored(scene, tmp_path / "out", "c2")
    assert (done.exit_code, "c2 is a path here, and a crawl" in done.err) == (2, True)
    write_crawl(tmp_path / "here" / "files", 1)
    for name in ("files", "./files"):
        assert restored(scene, tmp_path / name, name).exit_code == 0


def test_a_crawl_that_was_removed_is_named(scene: Scene, tmp_path: Path) -> None:
    store = ("--store", scene.folder / "store")
    assert call("crawl", "remove", "c2", *store).exit_code == 0
    for words in (("restore", "c2", "-o", tmp_path / "out"), ("ls", "c2")):
        done = call(*words, *store)
        assert (done.exit_code, "is cancelled, and has no files any more" in done.err) == (2, True)
    assert restored(scene, tmp_path / "out", "news").exit_code == 0


@pytest.mark.parametrize("within", ["archive", "archive/c9"])
def test_nothing_is_written_into_the_archive(scene: Scene, within: str) -> None:
    before = inflated(scene.archive.folder)
    done = restored(scene, scene.folder / "store" / within, "c2")
    assert (done.exit_code, "this is in the store" in done.err) == (2, True)
    assert inflated(scene.archive.folder) == before


def test_originals_of_crawls_are_in_the_store(scene: Scene, tmp_path: Path) -> None:
    done = restored(scene, tmp_path / "out", "c2", options=("--dir", str(tmp_path)))
    assert (done.exit_code, "originals of crawls are in the store" in done.err) == (2, True)
