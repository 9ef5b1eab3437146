"""Rounds over all servers, and the table of what they saw."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from statistics import median

from bench.cache import cache_dir
from bench.measure import ratios, spread
from bench.peers.cdx_servers import CdxServer
from bench.results import laid_out, written
from bench.rounds import say
from pinakes.profile import ROWS

from . import crawl_acts, lookups, stored
from .drawn import CDX_11, captures
from .load import Answered, ask, why_no_wrk
from .queries import CASES, QUERIES, Case, Url, urls_of
from .servers import OURS, OUTBACKCDX, Measured, servers

GROUP = "access: the CDX server"
CAPTURES = 1_000_000
LATENCY_SECONDS = 3
WARM_UP_SECONDS = 10
"""Java compiles what is called often."""

Rounds = dict[str, list[tuple[Answered, Answered]]]
"""By server: what each round saw under load, and with one connection."""


def cdx_file(folder: Path, count: int) -> Path:
    """The drawn captures as CDX-11, made unless it is there."""
    path = folder / f"lines-{count}.cdx"
    if not path.exists():
        aside = folder / f"part-{token_hex(4)}"
        with aside.open("w") as file:
            file.write(f"{CDX_11}\n")
            file.writelines(f"{capture.cdx_11}\n" for capture in captures(count))
        aside.rename(path)
    return path


def one_round(one: Measured, case: Case, number: int, seconds: int) -> tuple[Answered, Answered]:
    """What it answers under load, then alone; each round begins elsewhere among the queries."""
    server, targets = one.server, one.targets(case)
    first = number * QUERIES // 7
    loaded = ask(server.process_id, server.port, targets, seconds=seconds, first=first)
    alone = ask(
        server.process_id,
        server.port,
        targets,
        seconds=LATENCY_SECONDS,
        first=first + QUERIES // 2,
        connections=1,
    )
    return loaded, alone


def measure(begun: Sequence[Measured], case: Case, *, runs: int, seconds: int) -> Rounds:
    """All rounds of a case."""
    rounds: Rounds = {one.server.name: [] for one in begun}
    for one in begun:
        warm = one.server.process_id, one.server.port, one.targets(case)
        ask(*warm, seconds=WARM_UP_SECONDS)
    for number in range(runs):
        for one in begun:
            rounds[one.server.name].append(one_round(one, case, number, seconds))
    return rounds


HEAD = ("query", "server", "requests/CPU s", "ours ÷ it", "p50 ms", "p99 ms", "bytes", "failed")


def rows_of(case: Case, rounds: Rounds) -> list[tuple[str, ...]]:
    """A row a server."""
    ours = [loaded.rate for loaded, _ in rounds.get(OURS, [])]
    rows = []
    for name, found in rounds.items():
        rates = [loaded.rate for loaded, _ in found]
        quotient = written(ratios(ours, rates)) if ours and name != OURS else ""
        rate = spread(rates)
        rows.append(
            (
                case.name,
                name,
                f"{rate.middle:,.0f} ({rate.least:,.0f}–{rate.most:,.0f})",
                quotient,
                f"{median(alone.p50_ms for _, alone in found):.2f}",
                f"{median(alone.p99_ms for _, alone in found):.2f}",
                f"{median(loaded.bytes / max(1, loaded.requests) for loaded, _ in found):,.0f}",
                f"{sum(loaded.failed + alone.failed for loaded, alone in found)}",
            )
        )
    return rows


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Lay the rows out as one Markdown table."""
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(laid_out(line, widths) for line in (HEAD, rule, *rows))


def sizes(lines: Path, store: Path, begun: Sequence[CdxServer], folder: Path, count: int) -> str:
    """Bytes a capture, wherever it is stored."""
    found = {"CDX-11": lines.stat().st_size, "pinakes, all rows": (store / ROWS).stat().st_size}
    with closing(sqlite3.connect(f"file:{store / ROWS}?mode=ro", uri=True)) as rows:
        try:
            sql = "SELECT sum(pgsize) FROM dbstat WHERE name = 'captures'"
            (found["pinakes, captures alone"],) = rows.execute(sql).fetchone()
        except sqlite3.OperationalError:
            pass  # SQLite without dbstat
    if any(server.name == OUTBACKCDX for server in begun):
        data = (folder / "outbackcdx" / "data").rglob("*")
        found[OUTBACKCDX] = sum(path.stat().st_size for path in data if path.is_file())
    said = (f"{name} {size / count:.0f}" for name, size in found.items())
    return f"bytes a capture: {', '.join(said)}"


def run(*, count: int = CAPTURES, runs: int, seconds: int = 5, only: str = "") -> None:
    """Measure, and print a table of queries and one of look-ups."""
    if only in "look-ups":
        lookups.run(count=count, runs=runs)
        crawl_acts.run(runs=runs)
    why = why_no_wrk()
    if why:
        print(f"{GROUP}: absent: {why}")
        return
    cases = [case for case in CASES if only in case.name]
    if not cases:
        return
    folder = cache_dir() / "access"
    folder.mkdir(exist_ok=True)
    say(f"{GROUP}: {count:,} captures")
    lines, store = cdx_file(folder, count), stored.build(folder, count)
    urls: list[Url] = urls_of(captures(count))
    rows: list[tuple[str, ...]] = []
    with (
        tempfile.TemporaryDirectory(dir=cache_dir(), prefix="access-") as scratch,
        servers(lines, store, urls, Path(scratch), cases) as (begun, absent),
    ):
        for case in cases:
            say(f"{GROUP}: {case.name}")
            rows += rows_of(case, measure(begun, case, runs=runs, seconds=seconds))
        about = sizes(lines, store, [one.server for one in begun], Path(scratch), count)
    print(f"{GROUP}: {count:,} captures of {len(urls):,} URLs; {runs} rounds\n\n{table(rows)}\n")
    print(about)
    for why in absent:
        print(f"absent: {why}")
    found = {"captures": count, "rows": [dict(zip(HEAD, row, strict=True)) for row in rows]}
    (cache_dir() / "access.json").write_text(json.dumps(found, indent=1, ensure_ascii=False))
