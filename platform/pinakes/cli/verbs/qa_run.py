"""`pinakes qa run`: captures, compares and judges pages, in one process or several."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.run_rows import DONE, put_run, set_run_state
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.qa_pages import PageChoice, add_pages, choice_of, drawn_pages, name_missing
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.profile import Stores, open_stores
from pinakes.qa.judging.model import NAMES, Model, decode_model, encode_model
from pinakes.qa.result_rows import put_results
from pinakes.qa.results import PairResult, Verdict, view_name
from pinakes.qa.run.plan import BENIGN, LIVE, RunPlan, encode_plan
from pinakes.qa.run.run_folder import PairsFile, begin_run
from pinakes.qa.snapshot import Rect

if TYPE_CHECKING:
    from pinakes.cli.verbs.qa_lookers import Answer

_VERB = "qa"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Which pages to look at, in which views and browsers, and what judges them."""

    pages: PageChoice
    folder: Path
    reference: str
    view: str
    asks_live: bool
    runner: str
    browsers: tuple[str, ...]
    across: bool
    prove_first: bool
    masked: tuple[Rect, ...]
    masked_selectors: tuple[str, ...]
    benign: tuple[str, ...]
    models: tuple[str, ...]
    """Files."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The pages, the views, the browsers."""
    add_pages(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=_folder,
        required=True,
        help="folder for results and images",
    )
    parser.add_argument(
        "--browser",
        metavar="NAME",
        action="append",
        help="browser to capture with; may be repeated (default: chromium)",
    )
    parser.add_argument(
        "--reference",
        metavar="VIEW",
        default="before",
        help="what it is compared with: any of these, or stored, screenshots of the crawl "
        "(default: before)",
    )
    parser.add_argument(
        "--view",
        metavar="VIEW",
        default="current",
        help="view to check: before or current, the archive before deduplication or as it is; "
        "access:URL-PREFIX, an access system; live, with --live (default: current)",
    )
    parser.add_argument(
        "--across", action="store_true", help="also compare the first browser with each other one"
    )
    parser.add_argument(
        "--look-twice",
        action="store_true",
        help="for before and current: capture a page as it is now, and both as whole images, even "
        "if all its requests would get the same bytes as before",
    )
    parser.add_argument(
        "--mask",
        metavar="X,Y,WIDTH,HEIGHT",
        action="append",
        type=_rect,
        default=[],
        help="region of every page that is not compared, in pixels; may be repeated",
    )
    parser.add_argument(
        "--live", action="store_true", help="needed for the view live: requests pages from the web"
    )
    parser.add_argument(
        "--mask-selector",
        metavar="CSS",
        action="append",
        default=[],
        help="elements of the reference that are not compared; may be repeated",
    )
    parser.add_argument(
        "--benign",
        action="append",
        default=[],
        choices=BENIGN,
        help="left out of both captures: cookie-strip, strips at the window's edge that ask for "
        "consent; may be repeated",
    )
    parser.add_argument(
        "--model",
        metavar="FILE",
        action="append",
        default=[],
        help="model from `qa train`, in place of the shipped one of its name",
    )
    parser.add_argument("-j", "--jobs", metavar="N", help="number of processes (1)")
    parser.add_argument(
        "--runner",
        choices=("inline", "hadoop"),
        default="inline",
        help="capture here, or in tasks on YARN, whose hosts need the browsers (default: inline)",
    )
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Judge the pages that are not judged yet, and name those that differ."""
    request = RunRequest(
        pages=choice_of(arguments),
        folder=arguments.output,
        reference=arguments.reference,
        view=arguments.view,
        asks_live=arguments.live,
        runner=arguments.runner,
        browsers=tuple(arguments.browser or ("chromium",)),
        across=arguments.across,
        prove_first=not arguments.look_twice,
        masked=tuple(arguments.mask),
        masked_selectors=tuple(arguments.mask_selector),
        benign=tuple(dict.fromkeys(arguments.benign)),
        models=tuple(arguments.model),
    )
    return _look(request, configuration_of(arguments), console)


def _look(request: RunRequest, configuration: Configuration, console: Console) -> Exit:
    from pinakes.cli.verbs.qa_lookers import Task, lookers, lookers_by_job  # needs the extra

    folder = request.folder
    # Processes start before any store is opened: its threads would not exist in them.
    with (
        nullcontext(lookers_by_job(configuration, folder, console))
        if request.runner == "hadoop"
        else lookers(configuration.jobs, configuration, folder) as look,
        open_stores(configuration) as stores,
        # Locked before the run begins: two processes cannot use one folder.
        PairsFile(folder) as file,
    ):
        plan, drawn = begin_run(
            folder,
            _plan(request, require_crawl(stores.rows, request.pages.crawl).facts.collection),
            asdict(request.pages),
            drawn_pages(stores, request.pages, console),
        )
        _make_known(stores, plan)
        left = [Task(one, plan.pairs_left(one, file.judged)) for one in drawn]
        tasks = [task for task in left if task.pairs]
        lost = 0
        with console.progress("qa", total=len(tasks), unit="pages") as progress:
            for answer in look(plan, tasks):
                results = [pair.result for pair in answer.pairs]
                put_results(stores.rows, results, act_time_ms=plan.act_time_ms)
                file.add(answer.pairs)
                lost += answer.lost is not None
                _tell(answer, console)
                progress.advance(1)
        if not lost:
            set_run_state(stores.rows, plan.run, RunState(state=DONE))
    across = () if plan.across else (Verdict.BY_BROWSER,)
    told = [verdict for verdict in Verdict if verdict not in across]
    found = ", ".join(f"{file.verdicts[verdict]:,} {verdict.value}" for verdict in told)
    before = len(drawn) - len(tasks)
    console.say(
        f"{count_of(len(drawn), 'page')}; pairs: {found}; "
        f"pages judged by an earlier run: {before:,}"
    )
    missing = name_missing(request.pages, drawn, console)
    if lost or missing:
        return Exit.SOME_FAILED
    return Exit.FOUND if file.verdicts[Verdict.DISSIMILAR] else Exit.DONE


def _tell(answer: Answer, console: Console) -> None:
    """Name pairs that differ, and a page without a result."""
    if answer.lost is not None:
        console.warn(InputRefused(answer.lost, file=answer.drawn.page.url))
    for pair in answer.pairs:
        result = pair.result
        if result.verdict is not Verdict.SIMILAR:
            console.result(_as_object(result), text=_line(result))


def _plan(request: RunRequest, collection: str) -> RunPlan:
    if LIVE in (request.reference, request.view):
        if not request.asks_live:
            raise ConfigError("the view live needs --live")
        if request.runner == "hadoop":
            raise ConfigError("the view live is captured by this host: omit --runner")
    actor = Actor()
    return RunPlan(
        run=actor.new_act(_VERB),
        act_time_ms=actor.now_ms(),
        reference=request.reference,
        other=request.view,
        browsers=request.browsers,
        collection=collection,
        across=request.across,
        prove_first=request.prove_first,
        masked=request.masked,
        masked_selectors=request.masked_selectors,
        benign=request.benign,
        models=_models(request.models),
    )


def _models(files: Iterable[str]) -> tuple[str, ...]:
    """The models' text, kept in the run's plan."""
    models = [_model(file) for file in files]
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise ConfigError(f"--model: only one model of each name, given: {', '.join(names)}")
    return tuple(encode_model(model).decode() for model in models)


def _model(file: str) -> Model:
    from pinakes.qa.compare.pairs import feature_names  # needs the extra

    try:
        model = decode_model(Path(file).read_bytes(), file)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=file) from error
    if model.name not in NAMES:
        raise ConfigError(f"unknown model name {model.name}", file=file)
    if unknown := set(model.features) - set(feature_names()):
        some = ", ".join(sorted(unknown)[:5])
        raise ConfigError(
            f"the model needs features that this version does not have: {some}", file=file
        )
    return model


def _make_known(stores: Stores, plan: RunPlan) -> None:
    facts = RunFacts(
        verb=_VERB,
        act_time_ms=plan.act_time_ms,
        software=SOFTWARE,
        arguments=(encode_plan(replace(plan, models=())),),
    )
    put_run(stores.rows, plan.run, facts)


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
