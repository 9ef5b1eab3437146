"""A take-down deletes no old generation that alone holds something else whole."""

from __future__ import annotations

import time

from scenes import Scene
from taken_down import current, key_of, members, page, withdraw
from whole_payloads import whole_payloads

from pinakes.catalog.file_rows import scan_entries
from pinakes.dedupe.run.old_generations import drop_each


def test_old_generation_stays_until_it_is_mended(site: Scene) -> None:
    """Crawl 2's pages are revisits of crawl 1's, of which the second has rotted."""
    path = current(site, 1)
    data = path.read_bytes()
    starts = [at for at in range(len(data)) if data.startswith(b"\x1f\x8b\x08", at)]
    # Of each page a request, the page, and metadata.
    at = (starts[4] + starts[5]) // 2
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    before = whole_payloads(site.archive.folder)
    [report] = withdraw(site, key_of(site, 0, 2))
    assert [problem for problem in report.problems if "old generation is kept" in str(problem)]
    assert whole_payloads(site.archive.folder) == before
    mended = list(drop_each(lambda some: site.drop(0, some, mends=True), scan_entries(site.rows)))
    assert [problem for problem in mended if "a new generation has them" in str(problem)]
    time.sleep(0.002)
    [report] = withdraw(site, key_of(site, 0, 2))
    assert not report.problems
    assert whole_payloads(site.archive.folder) == before
    assert not (site.archive.folder / "c2/site.warc.gz").exists()
    assert page(1) in b"".join(members(current(site, 2).read_bytes()))
