"""A task that works says so; one that hangs does not."""

from __future__ import annotations

import queue
import time

from pinakes.mr_jobs.heartbeat import Heartbeat

PATIENCE_S = 60


def test_heartbeat_reports_progress_of_a_long_task() -> None:
    said: queue.Queue[str] = queue.Queue()
    place = [0]
    with Heartbeat(said.put, every_s=0.001) as heartbeat:
        heartbeat.watch(lambda: place[0])
        place[0] = 1000
        assert said.get(timeout=PATIENCE_S) == "1,000 bytes"
        heartbeat.watch(lambda: 5)
        assert said.get(timeout=PATIENCE_S) == "1,005 bytes"
        beats = said.qsize()
        give_up = time.monotonic() + 0.2
        while time.monotonic() < give_up:  # some hundred beats, and nothing to tell
            assert said.qsize() == beats == 0
    assert heartbeat.done == 1005


def test_short_task_reports_nothing() -> None:
    said: list[str] = []
    with Heartbeat(said.append, every_s=3600) as heartbeat:
        heartbeat.watch(lambda: 7)
    assert said == []
