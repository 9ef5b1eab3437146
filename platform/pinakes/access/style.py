"""Style sheets: what all pages of the project have in common, and what some of them add.

One sheet for each page, so that a page needs one request, and a report one file.
"""

from __future__ import annotations

from importlib.resources import files


def stylesheet(package: str, name: str) -> str:
    """The shared style and, behind it, a sheet of a package."""
    shared = files("pinakes.access").joinpath("shared.css")
    own = files(package).joinpath(name)
    return shared.read_text("utf-8") + own.read_text("utf-8")
