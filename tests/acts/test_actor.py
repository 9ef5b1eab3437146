"""Names of acts."""

from __future__ import annotations

import time

import pytest

from pinakes.acts.actor import Actor


def test_acts_are_listed_in_the_order_in_which_they_began(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [1_735_689_599_998_000_000 + 1_000_000 * number for number in range(4)]
    monkeypatch.setattr(time, "time_ns", iter(moments).__next__)
    acts = [Actor().new_act("fsck") for _ in moments]
    assert acts == sorted(acts)
    assert [act.rpartition("-")[0] for act in acts[1:3]] == [
        "fsck-20241231T235959.999", "fsck-20250101T000000.000"
    ]  # fmt: skip
