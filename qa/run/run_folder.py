"""The folder of a run: its options, its pages, and its results.

    DIR/sample.jsonl    the pages, as drawn
    DIR/run.json        options and plan; written last: a run has begun when it exists
    DIR/pairs.jsonl     a line for each judged pair
    DIR/SHA-256.png     images

A run that is continued keeps its sample, whatever was ingested since.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pinakes.archive_store.local.whole_files import hidden_file
from pinakes.errors import ConfigError, MalformedRecord
from pinakes.qa.sample.draw import Drawn
from pinakes.qa.sample.drawn_line import decode_drawn, encode_drawn

from .plan import RunPlan, decode_plan, encode_plan

RUN, SAMPLE = "run.json", "sample.jsonl"


def begin_run(
    folder: Path,
    plan: RunPlan,
    asked: Mapping[str, Any],
    draw: Callable[[], Iterable[Drawn]],
) -> tuple[RunPlan, list[Drawn]]:
    """The plan and the pages of the run in this folder; begins a run if there is none.

    `asked` has the options that drew the sample, as JSON values.

    Raises:
        ConfigError: the folder has a run with other options.
        MalformedRecord: the folder's files are not those of a run.
    """
    if (folder / RUN).exists():
        return _go_on(folder, plan, asked)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = list(draw())
    _write(folder / SAMPLE, "".join(f"{encode_drawn(one)}\n" for one in drawn))
    document = {"asked": asked, "plan": json.loads(encode_plan(plan))}
    _write(folder / RUN, json.dumps(document, indent=1) + "\n")
    return plan, drawn


def read_plan(folder: Path) -> tuple[RunPlan, Mapping[str, Any]]:
    """The plan of the run in a folder, and its options.

    Raises:
        ConfigError: there is no run.
        MalformedRecord: the folder's files are not those of a run.
    """
    path = folder / RUN
    try:
        document = json.loads(path.read_text("utf-8"))
        return decode_plan(json.dumps(document["plan"])), dict(document["asked"])
    except OSError as error:
        raise ConfigError(f"{path}: not a QA run: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, MalformedRecord) as error:
        raise MalformedRecord("not a QA run", file=str(path)) from error


def _go_on(folder: Path, plan: RunPlan, asked: Mapping[str, Any]) -> tuple[RunPlan, list[Drawn]]:
    begun, then = read_plan(folder)
    same = replace(plan, run=begun.run, act_time_ms=begun.act_time_ms)
    if begun != same or then != json.loads(json.dumps(asked)):
        raise ConfigError(f"{folder} has a run with other options; use another folder")
    return begun, read_sample(folder)


def read_sample(folder: Path) -> list[Drawn]:
    """The pages of a run, as drawn."""
    path = folder / SAMPLE
    try:
        lines = path.read_bytes().splitlines()
        return [decode_drawn(line) for line in lines]
    except MalformedRecord as error:
        raise MalformedRecord(error.message, file=str(path)) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    with hidden_file(path) as aside:
        aside.file.write(text.encode())
        aside.publish(replace=True)
