"""Results as XML documents in one ZIP file, a document for each pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pinakes.qa.results.pair_result import PairResult
from pinakes.qa.results.pair_xml import pair_xml


def write_xml_archive(results: Iterable[PairResult], out: BinaryIO) -> int:
    """Write `000001.xml`, `000002.xml`, …, by docs/qa/pair.xsd; how many.

    Equal results give equal bytes.
    """
    count = 0
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for result in results:
            count += 1
            archive.writestr(ZipInfo(f"{count:06d}.xml"), pair_xml(result), ZIP_DEFLATED)
    return count
