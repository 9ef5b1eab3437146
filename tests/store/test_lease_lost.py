"""A run whose lease is taken over while it compares payloads stops before it writes anything."""

from __future__ import annotations

import pytest
from scenes import Scene

from pinakes.errors import Conflict


def test_it_asks_for_its_lease_while_it_compares(scene: Scene) -> None:
    for crawl in (1, 2):
        scene.land(crawl)
    before = scene.state()
    told: list[int] = []

    def lost(count: int) -> None:
        told.append(count)
        if count == 0:
            raise Conflict("another process has taken the lease over")

    with pytest.raises(Conflict):
        scene.dedupe(advance=lost)
    assert told[-1] == 0
    assert scene.state() == before


def test_without_comparing_it_asks_file_by_file(scene: Scene) -> None:
    for crawl in (1, 2):
        scene.land(crawl)
    told: list[int] = []
    scene.dedupe(advance=told.append, compare=False)
    assert told
    assert 0 not in told
