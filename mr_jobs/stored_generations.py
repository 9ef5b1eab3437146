"""The generation of each file that a job reads, in a file of lines: a number and a name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_generations(generations: Mapping[str, int], folder: Path) -> Path:
    """Write the file; archive files not in it are read as they landed."""
    path = folder / "generations"
    lines = (f"{number} {name}\n" for name, number in generations.items())
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    return path


def read_generations(path: str | None) -> dict[str, int]:
    """Undo `write_generations`."""
    if path is None:
        return {}
    text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    pairs = (line.split(" ", 1) for line in text.split("\n") if line)
    return {name: int(number) for number, name in pairs}
