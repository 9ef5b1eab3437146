"""`pinakes` called in this process, for a tenth of what one of its own costs."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from pinakes.cli import main


def call_here(folder: Path, *arguments: str | bytes) -> subprocess.CompletedProcess[str]:
    """Run `pinakes` in a folder; what a process of its own would have answered.

    Nothing of it stays behind in this one, which is asserted.
    """
    out, err = _stream(), _stream()
    thresholds = gc.get_threshold()  # `ingest` sets them for good: its process ends with it
    try:
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
            patched.chdir(folder)
            before = _surroundings()
            code = main([os.fsdecode(argument) for argument in arguments])
            assert _surroundings() == before
    finally:
        gc.set_threshold(*thresholds)
    return subprocess.CompletedProcess(arguments, code, _written(out), _written(err))


def _surroundings() -> object:
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    return Path.cwd(), dict(os.environ), handlers


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]
