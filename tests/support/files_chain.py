"""Archive files through the chain of verbs on files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pinakes.cli import main


class Steps(NamedTuple):
    """The files by step."""

    before: list[bytes]
    after: list[bytes]
    """What `refs` made of them."""
    back: list[bytes]
    """What `restore` made of that."""


def files_chain(folder: Path, files: list[bytes], *, suffix: str = ".warc.gz") -> Steps:
    """`folder` has a folder for each step behind it; nothing was refused, `validate` passed."""
    before, after, back = (folder / name for name in Steps._fields)
    before.mkdir(parents=True)
    for number, data in enumerate(files):
        (before / f"{number}{suffix}").write_bytes(data)
    paths = [str(path) for path in sorted(before.iterdir())]
    manifest, decided = str(folder / "manifest"), str(folder / "decided")
    # 3: what is damaged is named.
    assert main(["-q", "manifest", *paths, "-o", manifest]) in (0, 3)
    assert main(["-q", "resolve", manifest, "--process", "-o", decided]) in (0, 3)
    refs = ["refs", *paths, "--manifest", decided, "-o", str(after), "--min-saving", "none"]
    assert main(["-q", *refs]) in (0, 3)
    assert main(["-q", "validate", str(before), str(after)]) == 0
    assert main(["-q", "restore", *map(str, sorted(after.iterdir())), "-o", str(back)]) in (0, 3)
    return Steps(
        *([path.read_bytes() for path in sorted(step.iterdir())] for step in (before, after, back))
    )
