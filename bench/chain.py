"""The whole chain in one process: manifest, resolve, process and refs, nothing parsed again.

python -m bench.chain [--digest sha256] [--compare none|bytes] -o DIR WARC ...
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import partial
from itertools import groupby
from pathlib import Path

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.dedupe.write.rewriting import rewrite_or_copy, rewrite_to
from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import iter_manifest
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records


def lines_of(warcs: list[Path], digest: str) -> Iterator[ManifestLine]:
    """The manifest of all files, as tuples."""
    now = datetime.now(timezone.utc)
    for warc in warcs:
        with open_source(warc) as source:
            records = iter_records(source, digests=(digest,))
            yield from iter_manifest(records, file=str(warc), algorithm=digest, now=now)


def main() -> None:
    """Run the chain and print what it wrote."""
    parser = argparse.ArgumentParser(prog="python -m bench.chain", description=__doc__)
    parser.add_argument("--digest", default="sha256")
    parser.add_argument("--compare", default="none", choices=("none", "bytes"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("warcs", nargs="+", type=Path, metavar="WARC")
    args = parser.parse_args()
    args.output.mkdir(parents=True)
    # As the verbs do: the lines of a chain hold no circles.
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)
    total = RefsCount()
    with ArchiveFiles() as files:
        bodies = ArchiveBodies(files) if args.compare == "bytes" else None
        lines = lines_of(args.warcs, args.digest)
        decided = list(resolve_and_process(lines, bodies, Decisions(), only_duplicates=True))
        places = frozenset((line.file, line.offset, line.inner_offset) for line in decided)
        originals = OriginalReader(files, places)
        writer = RevisitWriter(originals.find, run="bench", min_saving_bytes=64)
        by_file = {name: list(lines) for name, lines in groupby(decided, lambda line: line.file)}
        for warc in args.warcs:
            replace = partial(writer.replacements, lines=by_file.get(str(warc), []), count=total)
            rewrite_or_copy(partial(rewrite_to, str(warc), args.output / warc.name), replace, total)
    print(f"{total.records} revisits, {total.saved_bytes} bytes saved")


if __name__ == "__main__":
    main()
