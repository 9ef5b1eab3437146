"""Hostile archives through the chain: what was there comes back, and nothing of ours dangles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from hostile_archives import hostile_files
from judge import content, dangling

from pinakes.cli import main

OURS = b"Pinakes-Replaced"
BATCH = 50


def chain(folder: Path, files: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """What `refs` made of the files, and what `restore` made of that."""
    before, after, back = (folder / name for name in ("before", "after", "back"))
    before.mkdir(parents=True)
    for number, data in enumerate(files):
        (before / f"{number}.warc.gz").write_bytes(data)
    paths = [str(path) for path in sorted(before.iterdir())]
    manifest, decided = str(folder / "manifest"), str(folder / "decided")
    # 3: what is damaged is named.
    assert main(["-q", "manifest", *paths, "-o", manifest]) in (0, 3)
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) in (0, 3)
    refs = ["refs", *paths, "--manifest", decided, "-o", str(after), "--min-saving", "none"]
    assert main(["-q", *refs]) in (0, 3)
    assert main(["-q", "restore", *map(str, sorted(after.iterdir())), "-o", str(back)]) == 0
    return tuple([path.read_bytes() for path in sorted(step.iterdir())] for step in (after, back))  # type: ignore[return-value]


# A batch that once found something is always tried: 28 has a gzip magic as rubbish.
TRIED = (0, 1, 2, 28)


@pytest.mark.slow
@pytest.mark.parametrize(
    "batch",
    [
        *TRIED,
        *(pytest.param(n, marks=pytest.mark.large) for n in range(400) if n not in TRIED),
    ],
)
def test_what_was_there_comes_back(batch: int, tmp_path: Path) -> None:
    """20,000 archives in all; a seed that fails is named."""
    found = []
    for seed in range(batch * BATCH, (batch + 1) * BATCH, 2):
        files = hostile_files(seed)
        try:
            after, back = chain(tmp_path / str(seed), files)
            assert list(map(content, back)) == list(map(content, files))
            assert dangling(after, OURS) == []
        except AssertionError as error:
            found.append(f"seed {seed}: {str(error)[:500]}")
    assert found == []
