"""The stored file that a job reads for each archive file, in a file of lines: both names, a tab."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_generations(generations: Mapping[str, str], folder: Path) -> Path:
    """Write the file; archive files not in it are read as they landed."""
    path = folder / "generations"
    lines = (f"{name}\t{stored}\n" for name, stored in generations.items())
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    return path


def read_generations(path: str | None) -> dict[str, str]:
    """Undo `write_generations`."""
    if path is None:
        return {}
    text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    # No name of a stored file has a control character.
    pairs = (line.partition("\t") for line in text.split("\n") if line)
    return {name: stored for name, _, stored in pairs}
