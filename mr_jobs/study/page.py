"""A study as one HTML page, which needs no other file."""

from __future__ import annotations

import base64
from datetime import datetime, timezone
from importlib.resources import files

import jinja2

from pinakes.access.display import stylesheet
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
