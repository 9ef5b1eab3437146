"""The job finds the contents that `pinakes resolve` finds, however its clusters are divided."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from functools import cache
from pathlib import Path

import pytest
from archive_builders import HTTP, warc
from steps_here import INLINE, by_mrjob, steps_here

from pinakes.cli import main
from pinakes.index.manifest import format_line, parse_line

BODIES = [b"", b"a", b"ab", b"ac", b"x" * 700_000, b"x" * 700_000 + b"y", b"x" * 700_000 + b"z"]


@cache
def member(body: bytes, number: int) -> bytes:
    """Kept for the next test: of one seed archives are the same."""
    return gzip.compress(warc(HTTP + body, number=number))


def write_archives(folder: Path, dice: random.Random) -> Path:
    """Two or three files, and a manifest whose digests tell the bodies apart only sometimes."""
    names = []
    for file in range(dice.randrange(2, 4)):
        path = folder / f"é {file}.warc.gz"
        bodies = [dice.choice(BODIES) for _ in range(dice.randrange(1, 12))]
        members = [member(body, 100 * file + number) for number, body in enumerate(bodies)]
        path.write_bytes(b"".join(members))
        names.append(str(path))
    manifest = folder / "manifest"
    assert main(["manifest", *names, "-o", str(manifest)]) == 0
    return manifest


def write_halves(manifest: Path, dice: random.Random) -> list[str]:
    """Its lines in two files, each of which is a map's; some captures in both."""
    lines = manifest.read_text().splitlines(keepends=True)
    weak = [line for line in lines if " md5:" in line]
    paths = []
    for half in range(2):
        path = manifest.with_name(f"half {half}")
        path.write_text("".join(lines[half::2] + dice.sample(weak, min(3, len(weak)))))
        paths.append(str(path))
    return paths


def weaken(manifest: Path, dice: random.Random) -> None:
    """Let some bodies of other contents have one digest; one file goes."""
    lines = [parse_line(text) for text in manifest.read_text().splitlines()]
    lines = [
        line._replace(digest=f"md5:{dice.randrange(2)}") if line.size else line for line in lines
    ]
    dice.shuffle(lines)
    lost = dice.choice(lines)
    if dice.randrange(2):
        Path(lost.file).unlink()
    manifest.write_text("".join(format_line(line) + "\n" for line in lines))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("shard_lines", "often_lines"), [(2, 100), (100, 100), (1, 1), (3, 2)])
def test_contents_are_those_of_resolve(
    seed: int,
    shard_lines: int,
    often_lines: int,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    dice = random.Random(seed)
    manifest = write_archives(tmp_path, dice)
    weaken(manifest, dice)
    by_verb, by_job = tmp_path / "by-verb", tmp_path / "by-job"
    status = main(["resolve", str(manifest), "-o", str(by_verb)])
    assert status in (0, 3)
    collisions = collisions_in(capfd.readouterr().err)
    options = f"--shard-lines {shard_lines} --often-lines {often_lines}"
    halves = write_halves(manifest, dice)
    job = ["resolve", *INLINE, *halves, "-o", str(by_job), "--options", options]
    with steps_here() if seed else by_mrjob():
        assert main(job) == status
    reported = capfd.readouterr().err
    wanted = sorted(by_verb.read_text().splitlines())
    found = sorted(by_job.read_text().splitlines())
    if status == 0 or shard_lines == 100:
        assert found == wanted
        contents = {
            (line.digest, line.hash_extension)
            for line in map(parse_line, wanted)
            if line.hash_extension is not None
        }
        assert f"contents: {len(contents)}\n" in reported
        # One report a digest, in however many shards and rounds it was seen.
        assert collisions_in(reported) == collisions
    else:
        # A first body that is lost lets go of what was compared with it, and merges nothing.
        assert partition(found) <= partition(wanted) | singles(found)


def collisions_in(reported: str) -> list[str]:
    return sorted(line for line in reported.splitlines() if "collision: " in line)


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


def believable(manifest: Path, dice: random.Random, digests: int | None) -> None:
    """Digests said to be strong, of two bodies in so many; the SHA-1 of each beside it."""
    lines = [parse_line(text) for text in manifest.read_text().splitlines()]
    strong = [
        line._replace(
            digest=f"sha256:{dice.randrange(digests) if digests else line.digest[5:]}",
            also=line.digest,
        )
        for line in lines
    ]
    manifest.write_text("".join(format_line(line) + "\n" for line in strong))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("digests", "options", "often_lines"),
    [
        (2, "--sample-bytes 0", 100),
        (3, "--sample-bytes 0.5 --seed x", 100),
        (None, "--sample-bytes 0", 1),
    ],
)
def test_digests_are_believed_as_resolve_does(
    seed: int,
    digests: int | None,
    options: str,
    often_lines: int,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    dice = random.Random(seed)
    manifest = write_archives(tmp_path, dice)
    believable(manifest, dice, digests)
    by_verb, by_job = tmp_path / "by-verb", tmp_path / "by-job"
    counts = [tmp_path / name for name in ("by-verb.json", "by-job.json")]
    resolve = ["resolve", str(manifest), "--compare", "sha256", *options.split()]
    assert main([*resolve, "-o", str(by_verb), "--stats", str(counts[0])]) == 0
    wanted = capfd.readouterr().err
    resolve += [*INLINE, f"--options=--often-lines {often_lines}"]
    with steps_here() if seed else by_mrjob():
        assert main([*resolve, "-o", str(by_job), "--stats", str(counts[1])]) == 0
    reported = capfd.readouterr().err
    counted = [json.loads(path.read_text()) for path in counts]
    for by in counted:  # the job reads more, and names collisions in no order
        del by["compared_bytes"], by["believed"], by["collisions"]
    assert counted[0] == counted[1]
    assert sorted(by_job.read_text().splitlines()) == sorted(by_verb.read_text().splitlines())
    assert collisions_in(reported) == collisions_in(wanted)
    if digests is None:
        assert "bytes compared: " not in reported.replace("bytes compared: 0\n", "")


def test_digests_found_wrong_give_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Captures are equal in both digests, and unequal to the first of their SHA-256."""
    archive, manifest, out = (tmp_path / name for name in ("a.warc.gz", "manifest", "out"))
    bodies = [b"first", *[b"other"] * 19]
    members = [gzip.compress(warc(HTTP + body, number=n)) for n, body in enumerate(bodies)]
    archive.write_bytes(b"".join(members))
    assert main(["manifest", str(archive), "-o", str(manifest)]) == 0
    believable(manifest, random.Random(0), 1)
    first, *others = manifest.read_text().splitlines(keepends=True)
    halves = [tmp_path / "a", tmp_path / "b"]
    for path, lines in zip(halves, ([first], others), strict=True):
        path.write_text("".join(lines))
    believing = ["--compare", "sha256", "--sample-bytes", "0"]
    options = "--options=--often-lines 1"
    job = ["resolve", *INLINE, *map(str, halves), "-o", str(out), *believing, options]
    assert main(job) != 0
    assert "--compare bytes" in capsys.readouterr().err
    assert not out.exists()
    assert main([*job[:-1], "--options=--often-lines 99"]) == 0
    lines = sorted(map(parse_line, out.read_text().splitlines()), key=lambda line: line.offset)
    assert [line.hash_extension for line in lines] == [0, *[1] * 19]


def test_a_line_that_two_maps_send_on_comes_out_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    archive, manifest = tmp_path / "a.warc.gz", tmp_path / "manifest"
    archive.write_bytes(b"".join(member(b"a", number) for number in range(9)))
    assert main(["manifest", str(archive), "-o", str(manifest)]) == 0
    again = str(shutil.copy(manifest, tmp_path / "again"))
    job = ["resolve", *INLINE, str(manifest), again, "-o", str(tmp_path / "out")]
    with steps_here():
        assert main([*job, "--options=--often-lines 1"]) == 0
    lines = map(parse_line, (tmp_path / "out").read_text().splitlines())
    assert sorted(line.offset for line in lines) == sorted(
        parse_line(text).offset for text in manifest.read_text().splitlines()
    )
    assert "repeated: 9\n" in capfd.readouterr().err


def test_a_body_that_cannot_be_read_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, manifest = tmp_path / "a.warc.gz", tmp_path / "manifest"
    archive.write_bytes(b"".join(gzip.compress(warc(number=number)) for number in range(2)))
    assert main(["manifest", str(archive), "-o", str(manifest)]) == 0
    archive.unlink()
    capsys.readouterr()
    assert main(["resolve", *INLINE, str(manifest), "-o", str(tmp_path / "out")]) == 3
    reported = capsys.readouterr().err.splitlines()
    offsets = [parse_line(text).offset for text in manifest.read_text().splitlines()]
    assert sorted(line for line in reported if line.startswith("pinakes: warning: ")) == sorted(
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
    assert main(["resolve", *INLINE, str(manifest), "-o", str(out)]) == 0
    lines = sorted(map(parse_line, out.read_text().splitlines()), key=lambda line: line.offset)
    assert len({line.digest for line in lines}) == 1
    assert [line.hash_extension for line in lines] == [0, 1, 0]
