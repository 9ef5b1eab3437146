"""Landings whose process dies on the way."""

from __future__ import annotations

from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor


def land_and_die(store: LandedStore, crawl: str, name: str) -> None:
    """Leave a file in flight, claimed by a process that is gone."""

    def work() -> None:
        store.actor = Actor()  # the child's own
        store.land(crawl, name, page("http://dead.example/"), at=kill_at(2))

    assert in_child(work) == KILLED
