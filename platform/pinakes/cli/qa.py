"""`pinakes qa`: do the pages of a crawl still look right."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.cli.exits import Exit
from pinakes.cli.options import add_settings, configuration_of
from pinakes.cli.output import Console, printable
from pinakes.errors import ConfigError, InputRefused
from pinakes.profile import Stores, open_stores
from pinakes.qa.results.pair_result import PairResult, Verdict
from pinakes.qa.sample.draw import Drawn, draw
from pinakes.qa.sample.pages import pages_of

_SIZE = 500
_WORDS = {
    "sample": "draw pages of a crawl to look at",
    "run": "look at pages before and after deduplication, in a browser, and judge",
    "report": "write what a run found as pages to read",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each step."""
    nested = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, words in _WORDS.items():
        one = nested.add_parser(name, help=words, description=f"{words.capitalize()}.")
        if name == "report":
            one.add_argument("folder", metavar="DIR", type=Path, help="what `qa run -o DIR` wrote")
            continue
        _add_sample(one)
        if name == "run":
            one.add_argument(
                "-o", "--output", metavar="DIR", required=True, help="results, and images"
            )
            one.add_argument(
                "--browser", metavar="NAME", default="chromium", help="which (default: chromium)"
            )
        add_settings(one, "store")


def _add_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("crawl", metavar="CRAWL", help="the crawl")
    parser.add_argument(
        "--size",
        metavar="N",
        type=int,
        default=_SIZE,
        help=f"so many pages, and home pages and seeds besides (default: {_SIZE})",
    )
    parser.add_argument("--seed", metavar="TEXT", default="", help="another seed, another sample")
    parser.add_argument("--seeds", metavar="FILE", help="the crawl's seeds, a URL a line")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    if arguments.action == "report":
        return _report(arguments, console)
    with open_stores(configuration_of(arguments)) as stores:
        return _ACTIONS[arguments.action](stores, arguments, console)


def _sample(stores: Stores, arguments: argparse.Namespace, console: Console) -> Exit:
    count = 0
    for drawn in _drawn(stores, arguments):
        count += 1
        console.result(_as_object(drawn), text=_line(drawn))
    console.say(f"{count:,} pages")
    return Exit.DONE


def _drawn(stores: Stores, arguments: argparse.Namespace) -> Iterator[Drawn]:
    if arguments.size < 0:
        raise ConfigError(f"--size is {arguments.size}, and should be 0 or more")
    require_crawl(stores.rows, arguments.crawl)
    seeds = list(_lines(arguments.seeds)) if arguments.seeds else []
    pages = pages_of(stores.archive, scan_entries(stores.rows, arguments.crawl))
    return draw(pages, size=arguments.size, seed=arguments.seed, seeds=seeds)


def _run(stores: Stores, arguments: argparse.Namespace, console: Console) -> Exit:
    from pinakes.cli.qa_run import looking  # needs the extra

    found: Counter[str] = Counter()
    pages = list(_drawn(stores, arguments))
    with (
        looking(stores, arguments.browser, Path(arguments.output)) as look,
        console.progress("qa", total=len(pages), unit="pages") as progress,
    ):
        for result in look.judge_all(pages):
            progress.advance(1)
            found[result.verdict.value] += 1
            if result.verdict is not Verdict.SIMILAR:
                console.result(
                    {"url": result.url, "verdict": result.verdict.value, "reasons": result.reasons},
                    text=_judged(result),
                )
    counts = ", ".join(f"{found[verdict.value]:,} {verdict.value}" for verdict in Verdict)
    before = len(pages) - found.total()
    console.say(f"{len(pages):,} pages: {counts}; judged by an earlier run: {before:,}")
    return Exit.FOUND if found[Verdict.DISSIMILAR.value] else Exit.DONE


def _report(arguments: argparse.Namespace, console: Console) -> Exit:
    from pinakes.qa.report.judged_pairs import read_pairs  # needs the extra
    from pinakes.qa.report.pages import write_report

    folder = arguments.folder
    pairs = read_pairs(folder)
    names = write_report(folder, pairs, title=folder.resolve().name)
    page = str(folder / names[0])
    console.result({"page": page, "pages": len(names)}, text=printable(page))
    return Exit.DONE


def _judged(result: PairResult) -> str:
    reasons = "; ".join(map(printable, result.reasons)) or "nothing is proven"
    return f"{result.verdict.value}  {printable(result.url)}: {reasons}"


def _lines(name: str) -> Iterator[str]:
    try:
        with Path(name).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from filter(None, map(str.strip, lines))
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error


def _as_object(drawn: Drawn) -> dict[str, object]:
    page = drawn.page
    return {
        "url": page.url,
        "time": page.second,
        "site": page.site,
        "media_type": page.media_type,
        "weight": drawn.weight,
        "always": drawn.is_always,
    }


def _line(drawn: Drawn) -> str:
    always = "  always" if drawn.is_always else ""
    return f"{drawn.page.second}  {drawn.weight:8.2f}  {printable(drawn.page.url)}{always}"


_ACTIONS: dict[str, Callable[[Stores, argparse.Namespace, Console], Exit]] = {
    "sample": _sample,
    "run": _run,
}
