"""A study in a folder: a CSV for each table, a PNG for each plot, a page of both.

crawls.csv scopes.csv by_host.csv by_media_type.csv by_size.csv by_time.csv left_out.csv
crawls.png scopes.png by_host.png by_media_type.png by_size.png by_time.png
study.html  study.json
"""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from importlib.resources import files
from pathlib import Path

import jinja2

from pinakes.access.display import stylesheet
from pinakes.archive_store.local.whole_files import hidden_file
from pinakes.mr_jobs.study.figures import Study, percent
from pinakes.mr_jobs.study.plots import DARK, LIGHT, drawn

_ROWS = 50
_TITLES = {
    "host": "By host",
    "media_type": "By media type",
    "size": "By size of the stored body",
    "time": "By month of capture",
}
_NAMES = {"host": "host", "media_type": "media type", "size": "size", "time": "month"}


def study_page(study: Study) -> str:
    """The page: tables, the first lines of long ones, and the plots, for light and dark."""
    light = {plot: _embedded(png) for plot, png in drawn(study, LIGHT)}
    dark = {plot: _embedded(png) for plot, png in drawn(study, DARK)}
    plots = {plot.table: (plot, light[plot], dark[plot]) for plot in light}
    folder = files(__package__)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(percent=_percent, date=_date)
    template = environment.from_string(folder.joinpath("study.html").read_text("utf-8"))
    return template.render(
        study=study,
        plots=plots,
        titles=_TITLES,
        names=_NAMES,
        rows=_ROWS,
        part=percent,
        style=stylesheet("pinakes.mr_jobs.study", "study.css"),
    )


def _embedded(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}%"


def _date(moment: int | None) -> str:
    return "–" if moment is None else f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%d}"


def write_study(study: Study, folder: Path) -> None:
    """Write all of it, each file aside first; files of these names are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    content = study.as_json()
    tables: dict[str, list[Mapping[str, object]]] = {
        "crawls": content["crawls"],
        "scopes": content["scopes"],
        **{f"by_{name}": content[name] for name in study.tables},
        "left_out": [{"reason": why, "captures": n} for why, n in content["left_out"].items()],
    }
    for name, rows in tables.items():
        _write(folder / f"{name}.csv", _csv(rows).encode("utf-8"))
    for plot, png in drawn(study, LIGHT):
        _write(folder / f"{plot.name}.png", png)
    _write(folder / "study.json", json.dumps(content, indent=1).encode("ascii"))
    _write(folder / "study.html", study_page(study).encode("utf-8"))


def _csv(rows: Iterable[Mapping[str, object]]) -> str:
    """RFC 4180; a line of names first, and nothing where a value is not known."""
    out = io.StringIO(newline="")
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(out, list(row))
            writer.writeheader()
        writer.writerow(row)
    return out.getvalue()


def _write(path: Path, content: bytes) -> None:
    with hidden_file(path) as aside:
        aside.file.write(content)
        aside.publish(replace=True)
