"""Who works on a claim: a process that has ended does not, reaped or not."""

from __future__ import annotations

import os

from pinakes.acts.actor import Actor


def test_a_process_that_ended_is_gone_before_its_parent_asks_for_it() -> None:
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(write, Actor().owner.encode())
        os._exit(0)
    os.close(write)
    owner = b""
    while piece := os.read(read, 100):
        owner += piece
    os.close(read)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and still there
    try:
        assert Actor().is_gone(owner.decode())
    finally:
        os.waitpid(pid, 0)
    assert Actor().is_gone(owner.decode())
    assert not Actor().is_gone(Actor().owner)
