"""Run a task of a job as mrjob would, and note what it cost; in place of `python`.

    --python-bin 'PYTHON bench/task.py NOTES'

Adds a line to the file NOTES: step, map or reduce, round, CPU and wall seconds, peak bytes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path


def kind_of(words: list[str]) -> tuple[str, int, str] | None:
    """Round, step and kind of a task, from its command line; None for what is no task."""
    text = " ".join(words)
    step = re.search(r"--step-num[= ](\d+)", text)
    kind = re.search(r"--(mapper|reducer)\b", text)
    again = re.search(r"--(?:round|first-extension)[= ]([1-9]\d*)", text)
    if step is None or kind is None:
        return None
    return again[1] if again else "0", int(step[1]), kind[1]


def main() -> None:
    notes, *words = sys.argv[1:]
    begun = time.perf_counter()
    # What mrjob wraps a task in hands over a lock by its number.
    process = subprocess.Popen([sys.executable, *words], close_fds=False)
    _, status, usage = os.wait4(process.pid, 0)
    task = kind_of(words)
    if task is not None:
        cpu = usage.ru_utime + usage.ru_stime
        wall = time.perf_counter() - begun
        with Path(notes).open("a") as file:
            file.write(json.dumps([*task, cpu, wall, usage.ru_maxrss * 1024]) + "\n")
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
