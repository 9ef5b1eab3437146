"""`pinakes qa review` as a process, over a run and a store in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from review_scene import RUN


class Serving(NamedTuple):
    """The process; the address it printed, without and with the token."""

    process: subprocess.Popen[str]
    address: str
    token: str

    @property
    def url(self) -> str:
        return f"{self.address}#token={self.token}"


def command(folder: Path, *options: str) -> list[str]:
    verb = [sys.executable, "-m", "pinakes.cli", "qa", "review", str(folder / RUN), "--json"]
    return [*verb, "--store", str(folder / "store"), *options]


@contextmanager
def serving(folder: Path, *options: str, port: int = 0) -> Iterator[Serving]:
    """Until the end of the `with` at the latest."""
    process = subprocess.Popen(
        command(folder, "--port", str(port), *options),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        address, _, token = json.loads(line)["url"].partition("#token=")
        yield Serving(process, address, token)
    finally:
        process.kill()
        process.communicate()
