"""A run: pages are drawn once, and judged until each has its pairs; results go to rows, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.application.events import Notice
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.run_rows import DONE, put_run, set_run_state
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.profile import Stores
from pinakes.qa.judging.model import NAMES, Model, decode_model, encode_model
from pinakes.qa.result_rows import put_results
from pinakes.qa.results import Verdict
from pinakes.qa.run.chosen_pages import PageChoice, drawn_pages
from pinakes.qa.sample import SampledPage
from pinakes.warc.file_progress import Advance

from .page_workers import PageResult, PageTask, PageWorkers
from .plan import RunPlan, encode_plan
from .run_folder import PairsFile, begin_run

VERB = "qa"


class RunDone(NamedTuple):
    """All pages of a run: those judged by an earlier process, those lost, and pairs by verdict."""

    drawn: list[SampledPage]
    judged_before: int
    lost: int
    verdicts: Mapping[Verdict, int]


def new_run() -> tuple[str, int]:
    """A name for a run, and the timestamp of what it writes."""
    actor = Actor()
    return actor.new_act(VERB), actor.now_ms()


def judge_pages(
    stores: Stores,
    folder: Path,
    plan: RunPlan,
    choice: PageChoice,
    work: PageWorkers,
    *,
    on_event: Callable[[Notice], None],
    on_answer: Callable[[PageResult], None],
    around: Callable[[int], AbstractContextManager[Advance]],
) -> RunDone:
    """Judge the pages of the run in this folder that are not judged yet; begin one if need be.

    `around` is entered with the number of these pages, for the time in which they are judged; it
    gives what is called with 1 for each.

    Raises:
        ConfigError: there is no such crawl, or the folder has a run with other options.
        Conflict: another process works in this folder.
    """
    # Locked before the run begins: two processes cannot use one folder.
    with PairsFile(folder) as file:
        collection = require_crawl(stores.rows, choice.crawl).facts.collection
        plan, drawn = begin_run(
            folder,
            replace(plan, collection=collection),
            asdict(choice),
            drawn_pages(stores, choice, on_event),
        )
        facts = RunFacts(
            verb=VERB,
            act_time_ms=plan.act_time_ms,
            software=SOFTWARE,
            arguments=(encode_plan(replace(plan, models=())),),
        )
        put_run(stores.rows, plan.run, facts)
        left = [PageTask(one, plan.pairs_left(one, file.judged)) for one in drawn]
        tasks = [task for task in left if task.pairs]
        lost = 0
        with around(len(tasks)) as advance:
            for answer in work(plan, tasks):
                results = [pair.result for pair in answer.pairs]
                put_results(stores.rows, results, act_time_ms=plan.act_time_ms)
                file.add(answer.pairs)
                lost += answer.lost is not None
                on_answer(answer)
                advance(1)
        if not lost:
            set_run_state(stores.rows, plan.run, RunState(state=DONE))
    return RunDone(drawn, len(drawn) - len(tasks), lost, file.verdicts)


def read_models(files: Iterable[str]) -> tuple[str, ...]:
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
