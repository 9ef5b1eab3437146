"""What captures of real archive files cost a store: bytes of its rows, and time to land them.

    python -m bench.stored_bytes FILE...

Each file is landed as a crawl of its own in three embedded stores; of the first, rows are counted
before and behind `dedupe`: as the KeyValues that HBase keeps of them, uncompressed and in blocks
of 64 KB with zlib 1.
"""

from __future__ import annotations

import argparse
import io
import json
import sqlite3
import time
import zlib
from collections import defaultdict
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, linear_regression
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet

from pinakes.cli import main as pinakes
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

_BLOCK_BYTES = 64 * 1024
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A file's landing, at its quickest."""

    records: int
    megabytes: float
    seconds: float


def call(*arguments: object) -> None:
    """Call a verb in this process; what it prints is not wanted."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        exit_code = pinakes(["-q", *map(str, arguments)])
    if exit_code not in (0, 3):
        raise SystemExit(
            f"pinakes {' '.join(map(str, arguments))}: exit {exit_code}: {said.getvalue()}"
        )


def land(path: Path, stores: list[Path], number: int) -> Landing:
    """Land a file in each store."""
    with open_source(path) as source:
        sizes = [item.block_size for item in iter_records(source) if isinstance(item, Record)]
    seconds = []
    for store in stores:
        begin = time.process_time()
        call("ingest", path, "--crawl", f"c{number}", "--store", store)
        seconds.append(time.process_time() - begin)
    return Landing(records=len(sizes), megabytes=sum(sizes) / 1e6, seconds=min(seconds))


def tell_rows(store: Path, when: str) -> None:
    """Rows and bytes of the tables that have rows for each capture."""
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows:
        for table in ("captures", "digests"):
            sizes: dict[bytes, int] = defaultdict(int)
            urls: dict[bytes, int] = {}
            kinds: dict[str, list[int]] = defaultdict(list)
            texts = []
            cells = rows.execute(f"SELECT row, col, ts, value FROM {table} ORDER BY row, col")
            for row, column, ts, value in cells:
                lengths = len(row).to_bytes(6, "big") + len(value).to_bytes(4, "big")
                # Without the colon: HBase has the length of the family instead.
                name = column.replace(b":", b"", 1)
                texts.append(lengths + row + b"f" + name + ts.to_bytes(8, "big") + b"p" + value)
                sizes[row] += len(texts[-1])
                kinds[column.decode()].append(len(texts[-1]))
                if column == b"m:capture":
                    urls[row] = len(json.loads(value)["target_uri"])
            size = sum(sizes.values())
            print(
                f"{table}, {when}: {len(sizes):,} rows, {size / len(sizes):.0f} bytes a row, "
                f"compressed {len(pack(texts)) / size:.2f}"
            )
            if table == "captures":
                for kind, lengths_of in sorted(kinds.items()):
                    print(f"  {kind}: {len(lengths_of):,} × {fmean(lengths_of):.0f} bytes")
                line = linear_regression(list(urls.values()), [sizes[row] for row in urls])
                print(
                    f"  a row: {line.intercept:.0f} bytes and {line.slope:.1f} for each of the URL"
                    f" ({fmean(urls.values()):.0f} of them)"
                )


def pack(texts: list[bytes]) -> bytes:
    """Compressed block by block."""
    data = b"".join(texts)
    blocks = range(0, len(data), _BLOCK_BYTES)
    return b"".join(zlib.compress(data[at : at + _BLOCK_BYTES], 1) for at in blocks)


def tell_sidecars(store: Path) -> None:
    """Bytes of a line, by the size of its file."""
    by_size: dict[str, list[tuple[int, int]]] = {}
    for path in (store / "archive").rglob("*.sidecar.parquet"):
        rows = pyarrow.parquet.ParquetFile(path).metadata.num_rows
        name = "100 lines and more" if rows >= 100 else "fewer lines"
        by_size.setdefault(name, []).append((path.stat().st_size, rows))
    for name, found in sorted(by_size.items()):
        size, rows = (sum(column) for column in zip(*found, strict=True))
        print(f"sidecars of {name}: {size / rows:.0f} bytes a line, {len(found)} files")


def tell_landing(landings: list[Landing]) -> None:
    """Seconds as a call, a record and a megabyte, by least squares."""
    wanted = np.array([[1.0, one.records, one.megabytes] for one in landings])
    seconds = np.array([one.seconds for one in landings])
    (a_call, a_record, a_megabyte), *_ = np.linalg.lstsq(wanted, seconds, rcond=None)
    print(
        f"landing, {len(landings)} files, {sum(one.records for one in landings):,} records, "
        f"{sum(one.megabytes for one in landings):.0f} MB inflated: "
        f"{a_call * 1e3:.0f} ms a file, {a_record * 1e6:.0f} µs a record, "
        f"{a_megabyte * 1e3:.1f} ms a MB"
    )


def main() -> None:
    """Land, measure, deduplicate, measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+")
    paths = parser.parse_args().files
    with TemporaryDirectory() as folder:
        stores = [Path(folder) / f"store-{turn}" for turn in range(_ROUNDS)]
        for store in stores:
            call("init", "--store", store)
        landings = [land(path, stores, number) for number, path in enumerate(paths)]
        store = stores[0]
        tell_landing(landings)
        tell_rows(store, "landed")
        tell_sidecars(store)
        call("dedupe", "--all", "--store", store)
        tell_rows(store, "deduplicated")


if __name__ == "__main__":
    main()
