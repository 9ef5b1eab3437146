"""The servers that are measured, each with a file of targets for each case."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from bench.peers.cdx_servers import (
    CdxServer,
    PeerAbsent,
    free_port,
    outbackcdx,
    running,
    warcserver,
)

from .queries import CASES, Case, Pairs, Url, queries_of, target

OURS, OUTBACKCDX, PYWB = "pinakes", "OutbackCDX", "pywb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A server that runs, and the folder of its targets."""

    server: CdxServer
    folder: Path

    def targets(self, case: Case) -> Path:
        return self.folder / f"{self.server.name} {case.name}.txt"

    def write_targets(self, case: Case, queries: Sequence[Pairs]) -> None:
        """Write the queries of a case as this server wants them."""
        path, plain = self.server.path, self.server.name == OUTBACKCDX
        lines = (target(path, query, plain_filter=plain) + "\n" for query in queries)
        self.targets(case).write_text("".join(lines))

    def captures_of(self, query: Pairs) -> int:
        """How many lines it answers; 0 where it refuses."""
        path, plain = self.server.path, self.server.name == OUTBACKCDX
        place = target(path, query, plain_filter=plain)
        try:
            url = f"http://127.0.0.1:{self.server.port}{place}"
            with build_opener(ProxyHandler({})).open(url, timeout=60) as answer:
                return len(answer.read().splitlines())
        except URLError:
            return 0


@contextmanager
def pinakes(store: Path, folder: Path) -> Iterator[CdxServer]:
    """`pinakes serve` over a store of rows alone: there are no originals to read."""
    folder.mkdir()
    (folder / "pinakes.toml").write_text('crawl_originals = "catalogue"\n')
    port = free_port()
    command = [sys.executable, "-m", "pinakes.cli", "serve", "--store", store, "--port", port]
    with running(command, folder, port) as process_id:
        yield CdxServer(name=OURS, port=port, path="/cdx", process_id=process_id)


@contextmanager
def servers(
    lines: Path, store: Path, urls: Sequence[Url], folder: Path, cases: Sequence[Case]
) -> Iterator[tuple[list[Measured], list[str]]]:
    """Those servers that can be had, all at once; and of each other one, why it is left out.

    A server that does not give a URL's captures is left out.
    """
    begun: list[Measured] = []
    absent: list[str] = []
    many = max(urls, key=lambda url: len(url.captures))
    with ExitStack() as stack:
        for start in (
            lambda: pinakes(store, folder / "ours"),
            lambda: outbackcdx(lines, folder / "outbackcdx"),
            lambda: warcserver(lines, folder / "pywb"),
        ):
            try:
                server = stack.enter_context(start())
            except (PeerAbsent, RuntimeError) as why:
                absent.append(str(why))
                continue
            one = Measured(server=server, folder=folder)
            answered = one.captures_of((("url", many.url),))
            if answered != len(many.captures):
                absent.append(
                    f"{server.name}: {server.path} answers {answered} captures of "
                    f"{many.url}, which has {len(many.captures)}"
                )
                continue
            begun.append(one)
        for case in cases or CASES:
            queries = queries_of(case, urls)
            for one in begun:
                one.write_targets(case, queries)
        yield begun, absent
