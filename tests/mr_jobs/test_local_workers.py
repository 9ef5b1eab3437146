"""The tasks of a job with mrjob's runner `local` end when the process that runs it is killed."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import time
from contextlib import suppress
from subprocess import check_call

from pinakes.mr_jobs.driver.orphans import tied_workers

# It speaks late: a worker that is killed before it knows that its task has begun leaves it behind.
TASK = ["sh", "-c", "sleep 3; echo $$; exec sleep 300"]
LONG_S = 100.0


def test_tasks_end_when_their_driver_is_killed() -> None:
    read, write = os.pipe()

    def drive() -> None:
        with tied_workers(), multiprocessing.Pool(2) as pool:  # as mrjob makes it
            for _ in range(2):
                pool.apply_async(check_call, (TASK,), {"stdout": write})
            time.sleep(LONG_S)

    driver = multiprocessing.get_context("fork").Process(target=drive)
    driver.start()
    os.close(write)
    with open(read, "rb", buffering=0) as said:
        tasks = [_line(read) for _ in range(2)]
        driver.kill()
        driver.join()
        try:
            # It ends when the last of them has: they have its other end.
            assert select.select([said], [], [], LONG_S)[0]
            assert said.read() == b""
        except BaseException:
            for task in tasks:
                with suppress(ProcessLookupError):
                    os.kill(int(task), signal.SIGKILL)
            raise


def _line(number: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(number, 1)
        assert byte, "no task has said anything"
        line += byte
    return line
