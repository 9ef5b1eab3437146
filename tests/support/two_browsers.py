"""Chromium and Firefox at the same pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest
from loopback_proxy import Answer, Pages, serving

from pinakes.errors import ConfigError
from pinakes.qa.browsers.page_scripts import Limits
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Viewport


class TwoBrowsers(NamedTuple):
    """The pages that are served, and who looks at them."""

    pages: Pages
    chromium: Session
    firefox: Session


@contextmanager
def two_browsers(answers: Mapping[str, Answer], limits: Limits) -> Iterator[TwoBrowsers]:
    """Both, open; the test is skipped where one is not installed."""
    with serving(answers) as pages, ExitStack() as stack:
        try:
            chromium, firefox = (
                stack.enter_context(open_browser(name, pages.proxy, Viewport(), limits=limits))
                for name in ("chromium", "firefox")
            )
        except ConfigError as error:
            pytest.skip(f"NOT TESTED: {error}")
        yield TwoBrowsers(pages, chromium, firefox)
