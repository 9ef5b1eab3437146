"""`pinakes serve` as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wayback_server import plain_environment


@contextmanager
def serve_process(
    store: Path, *options: str
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """The process, and the addresses that it has printed."""
    verb = [sys.executable, "-m", "pinakes.cli", "serve", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*verb, "--processes", "1", "--store", str(store), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=plain_environment(),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)
    finally:
        process.terminate()
        process.communicate()
