"""Revisits as a real crawler wrote them: their originals go with their crawl, and no page does."""

from __future__ import annotations

from pathlib import Path

import pytest
from purged import paths_now, purge
from raw_payloads import payloads
from scenes import make_scene
from store_chain import call
from taken_down import members
from warc_sets import FRAMED, member


@pytest.mark.parametrize("layout", ["gzip", "packed dictionary", "one frame"])
def test_pages_of_pywb_outlive_the_crawl_of_their_originals(
    layout: str, tmp_path: Path, shared_data: Path
) -> None:
    given = shared_data / "archives/webrecorder_py-wacz/tests/fixtures/example-iana.warc"
    parts: dict[bool, list[bytes]] = {True: [], False: []}
    for raw in members(given.read_bytes()):
        parts[b"\r\nWARC-Type: revisit\r\n" in raw].append(raw)
    assert len(parts[True]) == 34
    with make_scene(tmp_path, ()) as scene:
        for crawl, is_revisit in ((1, False), (2, True)):
            folder = scene.crawls / f"c{crawl}"
            folder.mkdir(parents=True)
            # An index has a line for each original: those lie alone.
            framed = FRAMED.get(layout if is_revisit else "frames")
            raws = parts[is_revisit]
            if layout == "gzip" or framed is None:
                (folder / "a.warc.gz").write_bytes(b"".join(map(member, raws)))
            else:
                (folder / "a.warc.zst").write_bytes(framed(raws))
            scene.land(crawl)
        before = payloads(paths_now(scene))
        report = purge(scene, 1)
        assert not report.problems
        assert len(report.filled) + len(report.repointed) == 34
        [path] = paths_now(scene)
        after = payloads([path])
        assert len(after) == 34
        assert after == {name: before[name] for name in after}
        assert None not in {digest for _, _, digest in after.values()}
    checked = call("validate", "--refs", path)
    assert checked.exit_code == 0, checked
