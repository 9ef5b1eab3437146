"""`crawl requires` counts references both ways, by crawl and by file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scenes import land_late_revisit, make_scene
from store_chain import call


def test_it_counts_what_is_needed_both_ways(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        land_late_revisit(scene)
    store = tmp_path / "store"

    def required(crawl: str) -> dict[str, Any]:
        answer = call("crawl", "requires", crawl, "--json", "--store", store)
        assert answer.exit_code == 0, answer
        found: dict[str, Any] = json.loads(answer.out)
        return found

    parts = [[f"c2/part-{n}.warc.gz", f"c1/part-{n}.warc.gz", 4] for n in (0, 1)]
    late = ["c5/late.warc.gz", "c2/part-1.warc.gz", 1]

    def pairs(of: str, way: str) -> list[list[object]]:
        return [list(pair.values()) for pair in required(of)[way]]

    assert (pairs("c1", "needs"), pairs("c1", "needed_by")) == ([], parts)
    assert (pairs("c2", "needs"), pairs("c2", "needed_by")) == (parts, [late])
    assert (pairs("c5", "needs"), pairs("c5", "needed_by")) == ([late], [])
    assert required("c5")["unresolved"] == 0
    text = call("crawl", "requires", "c2", "--store", store).out
    assert "  c1: 8 references\n    c2/part-0.warc.gz -> c1/part-0.warc.gz: 4\n" in text
    assert "needed by:\n  c5: 1 reference\n" in text
