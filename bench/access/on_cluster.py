"""Our CDX server over HBase: the same captures and queries."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

from bench.landing import Options, configuration_of, options_of
from bench.peers.cdx_servers import CdxServer, free_port, running
from bench.rounds import say
from pinakes.profile import open_schema_admin, open_stores, schema_of

from . import stored
from .drawn import captures
from .load import why_no_wrk
from .queries import CASES, queries_of, urls_of
from .rounds import GROUP, measure, rows_of, table
from .servers import OURS, Measured


def run_on_cluster(
    settings: Path, *, count: int, runs: int, seconds: int, only: str = "", tables: str = ""
) -> None:
    """Fill tables of their own, or take those that an earlier run left; measure, print a table."""
    why = why_no_wrk()
    if why:
        print(f"{GROUP}: absent: {why}")
        return
    options = options_of(settings, tables or f"cdx{token_hex(3)}")
    if not tables:
        _fill(options, count)
    urls = urls_of(captures(count))
    cases = [case for case in CASES if only in case.name]
    os.environ["PINAKES_HBASE_PREFIX"] = str(options["hbase_prefix"])
    os.environ["PINAKES_HDFS"] = str(options["hdfs"])
    rows: list[tuple[str, ...]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        command = [sys.executable, "-m", "pinakes.cli", "serve", "--config", settings.absolute()]
        server = stack.enter_context(running([*command, "--port", port], folder, port))
        ours = CdxServer(name=OURS, port=port, path="/cdx", process_id=server)
        one = Measured(server=ours, folder=folder)
        for case in cases:
            one.write_targets(case, queries_of(case, urls))
            say(f"{GROUP}: {case.name}")
            rows += rows_of(case, measure([one], case, runs=runs, seconds=seconds))
    print(f"{GROUP}, on HBase: {count:,} captures; {runs} rounds\n\n{table(rows)}")


def _fill(options: Options, count: int) -> None:
    configuration = configuration_of(options)
    with open_schema_admin(configuration) as admin:
        admin.apply(schema_of(configuration))
    say(f"{GROUP}: {count:,} captures into the tables {options['hbase_prefix']}*")
    begin = time.perf_counter()
    with open_stores(configuration) as stores:
        stored.fill(stores.rows, count)
    say(f"{GROUP}: filled in {time.perf_counter() - begin:.0f} s")
