"""`pinakes qa run`: captures, compares and judges pages, in one process or several."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import require_jobs
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import percents
from pinakes.cli.verbs.qa_pages import add_pages, choice_of, name_missing
from pinakes.counts import count_of
from pinakes.errors import ConfigError, InputRefused
from pinakes.profile import open_stores
from pinakes.qa.results import PairResult, Verdict, view_name
from pinakes.qa.run.plan import BENIGN, LIVE, RunPlan
from pinakes.qa.snapshot import Rect

if TYPE_CHECKING:
    from pinakes.qa.run.page_workers import PageResult
    from pinakes.qa.run.running import RunDone
    from pinakes.warc.file_progress import Advance


def configure(parser: argparse.ArgumentParser) -> None:
    """The pages, the views, the browsers."""
    add_pages(parser)
    option = options_of(parser)
    option("-o, --output DIR", "folder for results and images", type=_folder, required=True)
    option(
        "--browser NAME",
        "browser to capture with; may be repeated (default: chromium)",
        action="append",
    )
    option(
        "--reference VIEW",
        "what it is compared with: any of these, or stored, screenshots of the crawl "
        "(default: before)",
        default="before",
    )
    option(
        "--view VIEW",
        "view to check: before or current, the archive before deduplication or as it is; "
        "access:URL-PREFIX, an access system; live, with --live (default: current)",
        default="current",
    )
    option("--across", "also compare the first browser with each other one")
    option(
        "--look-twice",
        "for before and current: capture a page as it is now, and both as whole images, even "
        "if all its requests would get the same bytes as before",
    )
    option(
        "--mask X,Y,WIDTH,HEIGHT",
        "region of every page that is not compared, in pixels; may be repeated",
        action="append",
        type=_rect,
        default=[],
    )
    option("--live", "needed for the view live: requests pages from the web")
    option(
        "--mask-selector CSS",
        "elements of the reference that are not compared; may be repeated",
        action="append",
        default=[],
    )
    option(
        "--benign",
        "left out of both captures: cookie-strip, strips at the window's edge that ask for "
        "consent; may be repeated",
        action="append",
        default=[],
        choices=BENIGN,
    )
    option(
        "--model FILE",
        "model from `qa train`, in place of the shipped one of its name",
        action="append",
        default=[],
    )
    option("-j, --jobs N", "number of processes (1)")
    option(
        "--runner",
        "capture here, or in tasks on YARN, whose hosts need the browsers (default: inline)",
        choices=("inline", "hadoop"),
        default="inline",
    )
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Judge the pages that are not judged yet, and name those that differ."""
    from pinakes.qa.run.page_workers import page_workers  # these need the extra
    from pinakes.qa.run.running import judge_pages, new_run, read_models

    choice, folder, by_job = choice_of(arguments), arguments.output, arguments.runner == "hadoop"
    if LIVE in (arguments.reference, arguments.view):
        if not arguments.live:
            raise ConfigError("the view live needs --live")
        if by_job:
            raise ConfigError("the view live is captured by this host: omit --runner")
    name, now_ms = new_run()
    plan = RunPlan(
        run=name,
        act_time_ms=now_ms,
        reference=arguments.reference,
        other=arguments.view,
        browsers=tuple(arguments.browser or ("chromium",)),
        across=arguments.across,
        prove_first=not arguments.look_twice,
        masked=tuple(arguments.mask),
        masked_selectors=tuple(arguments.mask_selector),
        benign=tuple(dict.fromkeys(arguments.benign)),
        models=read_models(arguments.model),
    )
    configuration = configuration_of(arguments)

    @contextmanager
    def wave_shown(job: str) -> Iterator[Callable[[float], None]]:
        with console.progress(job, total=100, unit="percent") as progress:
            yield percents(progress)

    @contextmanager
    def pages_shown(count: int) -> Iterator[Advance]:
        with console.progress("qa", total=count, unit="pages") as progress:
            yield progress.advance

    if by_job:
        from pinakes.qa.run.by_job import page_workers_by_job  # this needs another

        require_jobs("hadoop", configuration)
    # Processes start before any store is opened: its threads would not exist in them.
    with (
        nullcontext(page_workers_by_job(configuration, folder, wave_shown))
        if by_job
        else page_workers(configuration.jobs, configuration, folder) as work,
        open_stores(configuration) as stores,
    ):
        done = judge_pages(
            stores,
            folder,
            plan,
            choice,
            work,
            on_event=EventPrinter(console),
            on_answer=lambda answer: _say(answer, console),
            around=pages_shown,
        )
    _say_done(done, console, across=plan.across)
    if name_missing(choice, done.drawn, console) or done.lost:
        return Exit.SOME_FAILED
    return Exit.FOUND if done.verdicts[Verdict.DISSIMILAR] else Exit.DONE


def _say_done(done: RunDone, console: Console, *, across: bool) -> None:
    shown = [verdict for verdict in Verdict if across or verdict is not Verdict.BY_BROWSER]
    found = ", ".join(f"{done.verdicts[verdict]:,} {verdict.value}" for verdict in shown)
    console.say(
        f"{count_of(len(done.drawn), 'page')}; pairs: {found}; "
        f"pages judged by an earlier run: {done.judged_before:,}"
    )


def _say(answer: PageResult, console: Console) -> None:
    """Name pairs that differ, and a page without a result."""
    if answer.lost is not None:
        console.warn(InputRefused(answer.lost, file=answer.drawn.page.url))
    for pair in answer.pairs:
        result = pair.result
        if result.verdict is not Verdict.SIMILAR:
            console.result(_as_object(result), text=_line(result))


def _folder(text: str) -> Path:
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return folder


def _rect(text: str) -> Rect:
    try:
        x, y, width, height = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not X,Y,WIDTH,HEIGHT in pixels") from None
    if width <= 0 or height <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is empty")
    return Rect(x=x, y=y, width=width, height=height)


def _as_object(result: PairResult) -> dict[str, object]:
    return {
        "url": result.url,
        "reference": view_name(result.reference),
        "view": view_name(result.other),
        "verdict": result.verdict.value,
        "confidence": result.confidence,
        "model": result.model,
        "reasons": result.reasons,
    }


def _line(result: PairResult) -> str:
    reasons = "; ".join(map(printable, result.reasons)) or "no reason"
    return f"{result.verdict.value}  {printable(result.url)}: {reasons}"
