"""`pinakes qa run`: pages looked at, compared and judged; by this process, or several."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes import __version__
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.run_rows import DONE, put_run, set_run_state
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.qa_pages import PageChoice, add_pages, choice_of, drawn_pages, name_missing
from pinakes.config import Configuration
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.ingest.acts import Actor
from pinakes.profile import Stores, open_stores
from pinakes.qa.judging.model import NAMES, Model, decode_model, encode_model
from pinakes.qa.results.pair_key import view_name
from pinakes.qa.results.pair_result import PairResult, Verdict
from pinakes.qa.results.pair_rows import put_results
from pinakes.qa.run.pairs_file import PairsFile
from pinakes.qa.run.plan import LIVE, RunPlan, encode_plan
from pinakes.qa.run.run_folder import begin_run
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
    models: tuple[str, ...]
    """Files."""


def configure(parser: argparse.ArgumentParser) -> None:
    """What is looked at, and in what."""
    add_pages(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=_folder, required=True, help="results, and images"
    )
    parser.add_argument(
        "--browser",
        metavar="NAME",
        action="append",
        help="in which, several times for several (default: chromium)",
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
        help="what is looked at: before or current, as deduplication found the archive and as it "
        "is; access:URL-PREFIX, another replay; live, with --live (default: current)",
    )
    parser.add_argument(
        "--across", action="store_true", help="compare the first browser with the others, too"
    )
    parser.add_argument(
        "--prove-first",
        action="store_true",
        help="before and current: show a page once only, where all that it asked for would be "
        "answered the same now, byte for byte",
    )
    parser.add_argument(
        "--mask",
        metavar="X,Y,WIDTH,HEIGHT",
        action="append",
        type=_rect,
        default=[],
        help="a region of every page that is not compared, in pixels; several times for several",
    )
    parser.add_argument(
        "--live", action="store_true", help="with the view live: pages are asked for on the web"
    )
    parser.add_argument(
        "--mask-selector",
        metavar="CSS",
        action="append",
        default=[],
        help="elements that are not compared, where the reference has them; several times too",
    )
    parser.add_argument(
        "--model",
        metavar="FILE",
        action="append",
        default=[],
        help="judge by this model, as `qa train` wrote it, in place of the one of its name",
    )
    parser.add_argument("-j", "--jobs", metavar="N", help="processes that look at once (1)")
    parser.add_argument(
        "--runner",
        choices=("inline", "hadoop"),
        default="inline",
        help="look here, or in tasks on YARN, whose hosts have the browsers (default: inline)",
    )
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Look at the pages that are not judged yet, and say which are not as they were."""
    request = RunRequest(
        pages=choice_of(arguments),
        folder=arguments.output,
        reference=arguments.reference,
        view=arguments.view,
        asks_live=arguments.live,
        runner=arguments.runner,
        browsers=tuple(arguments.browser or ("chromium",)),
        across=arguments.across,
        prove_first=arguments.prove_first,
        masked=tuple(arguments.mask),
        masked_selectors=tuple(arguments.mask_selector),
        models=tuple(arguments.model),
    )
    return _look(request, configuration_of(arguments), console)


def _look(request: RunRequest, configuration: Configuration, console: Console) -> Exit:
    from pinakes.cli.verbs.qa_lookers import Task, lookers, lookers_by_job  # needs the extra

    folder = request.folder
    # Who looks is there before any store is opened, whose threads would be lost in them.
    with (
        nullcontext(lookers_by_job(configuration, folder, console))
        if request.runner == "hadoop"
        else lookers(configuration.jobs, configuration, folder) as look,
        open_stores(configuration) as stores,
        # Held from before the run is begun: two cannot be at one folder.
        PairsFile(folder) as file,
    ):
        plan, drawn = begin_run(
            folder,
            _plan(request, require_crawl(stores.rows, request.pages.crawl).facts.collection),
            asdict(request.pages),
            lambda: drawn_pages(stores, request.pages, console),
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
    found = ", ".join(f"{file.verdicts[verdict]:,} {verdict.value}" for verdict in Verdict)
    before = len(drawn) - len(tasks)
    console.say(f"{len(drawn):,} pages; pairs: {found}; pages judged by an earlier run: {before:,}")
    missing = name_missing(request.pages, drawn, console)
    if lost or missing:
        return Exit.SOME_FAILED
    return Exit.FOUND if file.verdicts[Verdict.DISSIMILAR] else Exit.DONE


def _tell(answer: Answer, console: Console) -> None:
    """Name what is not as it was, and a page of which nothing came."""
    if answer.lost is not None:
        console.warn(InputRefused(answer.lost, file=answer.drawn.page.url))
    for pair in answer.pairs:
        result = pair.result
        if result.verdict is not Verdict.SIMILAR:
            console.result(_as_object(result), text=_line(result))


def _plan(request: RunRequest, collection: str) -> RunPlan:
    if LIVE in (request.reference, request.view):
        if not request.asks_live:
            raise ConfigError("the live web is asked with --live, and not without")
        if request.runner == "hadoop":
            raise ConfigError("the live web is asked, and recorded, from here: leave out --runner")
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
        models=_models(request.models),
    )


def _models(files: Iterable[str]) -> tuple[str, ...]:
    """Models as their text; here, because a run that has begun keeps to them."""
    models = [_model(file) for file in files]
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise ConfigError(f"--model: one of each name, and here: {', '.join(names)}")
    return tuple(encode_model(model).decode() for model in models)


def _model(file: str) -> Model:
    from pinakes.qa.compare.pairs import feature_names  # needs the extra

    try:
        model = decode_model(Path(file).read_bytes(), file)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=file) from error
    if model.name not in NAMES:
        raise ConfigError(f"no pair is judged by a model of the name {model.name}", file=file)
    if unknown := set(model.features) - set(feature_names()):
        some = ", ".join(sorted(unknown)[:5])
        raise ConfigError(f"the model needs what this version does not compare: {some}", file=file)
    return model


def _make_known(stores: Stores, plan: RunPlan) -> None:
    facts = RunFacts(
        verb=_VERB,
        act_time_ms=plan.act_time_ms,
        software=f"pinakes {__version__}",
        arguments=(encode_plan(replace(plan, models=())),),
    )
    put_run(stores.rows, plan.run, facts)


def _folder(text: str) -> Path:
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return folder


def _rect(text: str) -> Rect:
    try:
        x, y, width, height = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not X,Y,WIDTH,HEIGHT in pixels") from None
    if width <= 0 or height <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} covers nothing")
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
    reasons = "; ".join(map(printable, result.reasons)) or "nothing is proven"
    return f"{result.verdict.value}  {printable(result.url)}: {reasons}"
