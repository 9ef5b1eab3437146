"""The job finds the contents that `pinakes resolve` finds, however its clusters are divided."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from archive_builders import HTTP, warc

from pinakes.cli import main
from pinakes.index.manifest import format_line, parse_line

BODIES = [b"", b"a", b"ab", b"ac", b"x" * 700_000, b"x" * 700_000 + b"y", b"x" * 700_000 + b"z"]


def write_archives(folder: Path, dice: random.Random) -> Path:
    """Two or three files, and a manifest whose digests tell the bodies apart only sometimes."""
    names = []
    for file in range(dice.randrange(2, 4)):
        path = folder / f"é {file}.warc.gz"
        bodies = [dice.choice(BODIES) for _ in range(dice.randrange(1, 12))]
        members = [
            gzip.compress(warc(HTTP + body, number=100 * file + number))
            for number, body in enumerate(bodies)
        ]
        path.write_bytes(b"".join(members))
        names.append(str(path))
    manifest = folder / "manifest"
    assert main(["manifest", *names, "-o", str(manifest)]) == 0
    return manifest


def weaken(manifest: Path, dice: random.Random) -> None:
    """Let some bodies of other contents have one digest; repeat a line; one file goes."""
    lines = [parse_line(text) for text in manifest.read_text().splitlines()]
    lines = [
        line._replace(digest=f"md5:{dice.randrange(2)}") if line.size else line for line in lines
    ]
    dice.shuffle(lines)
    lost = dice.choice(lines)
    if dice.randrange(2):
        Path(lost.file).unlink()
    manifest.write_text("".join(format_line(line) + "\n" for line in lines))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shard_lines", [2, 3, 100])
def test_contents_are_those_of_resolve(
    seed: int, shard_lines: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(seed)
    manifest = write_archives(tmp_path, dice)
    weaken(manifest, dice)
    by_verb, by_job = tmp_path / "by-verb", tmp_path / "by-job"
    status = main(["resolve", str(manifest), "-o", str(by_verb)])
    assert status in (0, 3)
    capfd.readouterr()
    options = f"--shard-lines {shard_lines}"
    job = ["job", "resolve_collisions", str(manifest), "-o", str(by_job), "--options", options]
    assert main(job) == status
    told = capfd.readouterr().err
    wanted = sorted(by_verb.read_text().splitlines())
    found = sorted(by_job.read_text().splitlines())
    if status == 0 or shard_lines == 100:
        assert found == wanted
        contents = {
            (line.digest, line.hash_extension)
            for line in map(parse_line, wanted)
            if line.hash_extension is not None
        }
        assert f"contents: {len(contents)}\n" in told
    else:
        # A first body that is lost lets go of what was compared with it, and merges nothing.
        assert partition(found) <= partition(wanted) | singles(found)


def partition(texts: list[str]) -> set[frozenset[tuple[str, int]]]:
    """The captures of each content."""
    contents: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for line in map(parse_line, texts):
        if line.hash_extension is not None:
            key = (line.digest, line.hash_extension)
            contents.setdefault(key, set()).add((line.file, line.offset))
    return set(map(frozenset, contents.values()))


def singles(texts: list[str]) -> set[frozenset[tuple[str, int]]]:
    return {content for content in partition(texts) if len(content) == 1}


def test_a_body_that_cannot_be_read_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, manifest = tmp_path / "a.warc.gz", tmp_path / "manifest"
    archive.write_bytes(b"".join(gzip.compress(warc(number=number)) for number in range(2)))
    assert main(["manifest", str(archive), "-o", str(manifest)]) == 0
    archive.unlink()
    capsys.readouterr()
    assert main(["job", "resolve_collisions", str(manifest), "-o", str(tmp_path / "out")]) == 3
    told = capsys.readouterr().err.splitlines()
    offsets = [parse_line(text).offset for text in manifest.read_text().splitlines()]
    assert sorted(line for line in told if line.startswith("pinakes: warning: ")) == sorted(
        f"pinakes: warning: {archive}:{offset}: cannot be read: No such file or directory"
        for offset in offsets
    )


def test_real_collisions_of_sha1_are_told_apart(shared_data: Path, tmp_path: Path) -> None:
    members = []
    for number, name in enumerate(("sha1-1.pdf", "sha1-2.pdf", "sha1-1.pdf")):
        body = (shared_data / "collisions" / name).read_bytes()
        members.append(gzip.compress(warc(HTTP + body, number=number)))
    archive, manifest, out = (tmp_path / name for name in ("a.warc.gz", "manifest", "out"))
    archive.write_bytes(b"".join(members))
    assert main(["manifest", str(archive), "-o", str(manifest)]) == 0
    assert main(["job", "resolve_collisions", str(manifest), "-o", str(out)]) == 0
    lines = sorted(map(parse_line, out.read_text().splitlines()), key=lambda line: line.offset)
    assert len({line.digest for line in lines}) == 1
    assert [line.hash_extension for line in lines] == [0, 1, 0]
