"""Reads the output of a finished crawl, by crawler: its input files and crawl id.

    heritrix     JOBDIR/latest -> LAUNCH, LAUNCH/warcs/*.warc.gz (.open while written),
                 LAUNCH/reports/crawl-report.txt, written when the crawl ends
    browsertrix  collections/NAME/archive/*.warc.gz (--combineWARC writes copies of them to
                 NAME); or the JSON of a `crawlFinished` webhook
    wget         NAME.warc.gz, or NAME-00000.warc.gz ... and NAME-meta.warc.gz

Sources: heritrix3 `PathSharingContext` (latest, LAUNCH: 14 digits), `BaseWARCWriterProcessor`
(warcs), `CrawlSummaryReport`; browsertrix-crawler `crawler.ts` (archivesDir, combineWARC);
browsertrix `models.py` (`CrawlFinishedBody`, `CrawlFileOut`); wget 1.21, run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.file_names import base_name

from .inputs import Input, LeftOut, iter_inputs, unpacked

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_WGET_PART = re.compile(r"-(?:\d{5}|meta)\Z")
# As Heritrix writes them since 3.0; its manual has the capitals of Heritrix 1.
_REPORT_LINES = ("crawl name: ", "crawl status: ", "duration: ", "URI successes: ")


class Handover(NamedTuple):
    """What a hook found: the files, the skipped ones, and a crawl id.

    `crawl` is empty if the crawler's output does not name one.
    """

    crawl: str
    description: str | None
    inputs: list[Input]
    left: LeftOut


def hand_over(hook: str, names: Sequence[str]) -> Handover:
    """Read the output of this crawler.

    Raises:
        ConfigError: for an unknown hook, or names that it does not accept.
        InputRefused: no crawl of that kind found.
    """
    return HOOKS[hook](names)


def _heritrix(names: Sequence[str]) -> Handover:
    job = _only(names, "JOBDIR")
    launch = job / "latest"
    if not launch.is_dir():
        launch = job  # the folder of one launch
    launch, whole = (Path(os.path.realpath(folder)) for folder in (launch, job))
    name = whole.name if launch != whole else whole.parent.name
    folders = [launch / folder for folder in ("warcs", "arcs") if (launch / folder).is_dir()]
    if not folders:
        raise InputRefused("not a Heritrix job: it has no latest/warcs", file=str(job))
    left = LeftOut()
    inputs = list(iter_inputs(map(str, folders), left, documents=True))
    report = launch / "reports" / "crawl-report.txt"
    return Handover(crawl_id(f"{name}-{launch.name}"), _report(report), inputs, left)


def _report(path: Path) -> str | None:
    """The lines of a crawl report that identify the crawl; None if there is no report yet."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return "; ".join(line.strip() for line in lines if line.startswith(_REPORT_LINES)) or None


def _browsertrix(names: Sequence[str]) -> Handover:
    path = _only(names, "COLLDIR or WEBHOOK.json")
    if path.is_file():
        return _webhook(path)
    if not (path / "archive").is_dir():
        raise InputRefused("not a Browsertrix collection: it has no archive/", file=str(path))
    left = LeftOut()
    inputs = list(iter_inputs([str(path / "archive")], left, documents=True))
    return Handover(crawl_id(os.path.basename(os.path.realpath(path))), None, inputs, left)


def _webhook(path: Path) -> Handover:
    try:
        body = json.loads(path.read_bytes())
        event, crawl, state = str(body["event"]), str(body["itemId"]), str(body["state"])
        named = [_resource(path, resource) for resource in body["resources"]]
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise InputRefused("not a webhook of a finished crawl", file=str(path)) from error
    if event not in ("crawlFinished", "uploadFinished"):
        raise InputRefused(f"a webhook of {event}, not of a finished crawl", file=str(path))
    left = LeftOut()
    inputs = [found for item in named for found in unpacked(item, left, documents=True)]
    return Handover(crawl_id(crawl), f"Browsertrix {event}: {state}", inputs, left)


def _resource(webhook: Path, resource: dict[str, Any]) -> Input:
    """A file of the crawl: `path` if that is local, else `name` next to the webhook."""
    given, name = Path(str(resource["path"])), Path(str(resource["name"])).name
    is_here = given.is_absolute() and given.exists()
    return Input(str(given if is_here else webhook.parent / name), name)


def _wget(names: Sequence[str]) -> Handover:
    left = LeftOut()
    inputs = list(iter_inputs(names, left, documents=True))
    stems = {_wget_stem(base_name(item.place)) for item in inputs}
    return Handover(crawl_id(stems.pop()) if len(stems) == 1 else "", None, inputs, left)


def _wget_stem(name: str) -> str:
    return _WGET_PART.sub("", name.removesuffix(".gz").removesuffix(".warc"))


def _only(names: Sequence[str], what: str) -> Path:
    if len(names) != 1:
        raise ConfigError(f"this hook takes one {what}")
    return Path(names[0])


def crawl_id(name: str) -> str:
    """A crawl id made from any name: letters, digits, `.`, `_`, `-`, at most 100."""
    return _NOT_IN_A_NAME.sub("-", name).lstrip("._-")[:100] or "crawl"


HOOKS: MappingProxyType[str, Callable[[Sequence[str]], Handover]] = MappingProxyType(
    {"heritrix": _heritrix, "browsertrix": _browsertrix, "wget": _wget}
)
