"""What is put into a folder overwrites nothing and leads nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.errors import Conflict, InputRefused
from pinakes.extract.folder import put_file
from pinakes.extract.index_file import IndexFile


def put(folder: Path, path: str, content: bytes, suffix: str | None = "2020") -> tuple[str, bool]:
    done = put_file(folder, path, lambda: [content[:2], content[2:]], suffix=suffix)
    assert done.size == len(content)
    assert (folder / done.path).read_bytes() == content
    assert not (folder / done.path).is_symlink()
    return done.path, done.is_new


def test_what_is_there_is_left(tmp_path: Path) -> None:
    for content, path, is_new in [
        (b"one", "h/a.html", True),
        (b"one", "h/a.html", False),
        (b"on", "h/a.2020.html", True),
        (b"", "h/a.2020.e3b0c44298fc1c14.html", True),
        (b"yyy", "h/a.2020.f2afd1cacb5441a5.html", True),
        (b"one", "h/a.html", False),
        (b"on", "h/a.2020.html", False),
    ]:
        assert put(tmp_path, "h/a.html", content) == (path, is_new)


def test_every_name_taken_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "a", b"one", None)[0]
    other = put(tmp_path, "a", b"two", None)[0]
    assert other != path
    (tmp_path / other).write_bytes(b"something else")
    with pytest.raises(InputRefused, match="is not replaced"):
        put(tmp_path, "a", b"two", None)
    assert (tmp_path / other).read_bytes() == b"something else"


@pytest.mark.parametrize("order", [("h/a", "h/a/b"), ("h/a/b", "h/a")])
def test_a_name_may_be_a_file_and_a_folder(order: tuple[str, str], tmp_path: Path) -> None:
    found = [put(tmp_path, path, path.encode())[0] for path in order]
    assert found == (["h/a", "h/a%2F/b"] if order[0] == "h/a" else ["h/a/b", "h/a.2020"])
    assert [put(tmp_path, path, path.encode()) for path in order] == [(p, False) for p in found]


def outside(tmp_path: Path) -> tuple[Path, Path]:
    """A folder to put into, and another beside it, with a file."""
    folder, other = tmp_path / "in", tmp_path / "out"
    (folder / "h").mkdir(parents=True)
    other.mkdir()
    (other / "file").write_bytes(b"kept")
    return folder, other


@pytest.mark.parametrize("target", ["..", "../../out", "../../out/file", "nowhere"])
@pytest.mark.parametrize("path", ["h/link", "h/link/b"])
def test_links_are_not_followed(path: str, target: str, tmp_path: Path) -> None:
    folder, other = outside(tmp_path)
    (folder / "h" / "link").symlink_to(target)
    put(folder, path, b"body")
    assert [(file.name, file.read_bytes()) for file in other.iterdir()] == [("file", b"kept")]
    assert sorted(child.name for child in tmp_path.iterdir()) == ["in", "out"]


def test_a_link_at_the_hidden_name_is_not_followed(tmp_path: Path) -> None:
    folder, other = outside(tmp_path)
    (folder / "h" / ".a.pinakes-part").symlink_to(other / "file")
    with pytest.raises(OSError, match="symbolic links"):
        put(folder, "h/a", b"body")
    assert (other / "file").read_bytes() == b"kept"


def test_a_content_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def content() -> Iterator[bytes]:
        yield b"start"
        raise InputRefused("no more")

    with pytest.raises(InputRefused):
        put_file(tmp_path, "h/a", content)
    assert list((tmp_path / "h").iterdir()) == []


LINE = '{"file": "a"}'


@pytest.mark.parametrize("torn", ["", '{"fi', '{"file": "b'])
def test_index_gets_what_is_new(torn: str, tmp_path: Path) -> None:
    path = tmp_path / "index.jsonl"
    path.write_text(f"{LINE}\n{torn}")
    for _ in range(2):
        with IndexFile(path) as index:
            index.add(LINE)
            index.add('{"file": "b"}')
    assert path.read_text() == f'{LINE}\n{{"file": "b"}}\n'


def test_index_is_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "index.jsonl"
    path.write_text("my list")
    with pytest.raises(InputRefused, match="name another folder"):
        IndexFile(path)
    assert path.read_text() == "my list"
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    with pytest.raises(InputRefused, match="name another folder"):
        IndexFile(link)


def test_index_has_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "index.jsonl"
    with IndexFile(path), pytest.raises(Conflict):
        IndexFile(path)
