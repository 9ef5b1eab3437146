"""Fixtures for all tests: the shared data, and a loud line about what was not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
WANTING = "for want of ../shared/data"

# No timed assertion anywhere: a slow machine is no failure.
settings.register_profile(
    "pinakes", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("long", parent=settings.get_profile("pinakes"), max_examples=2000)
settings.load_profile(os.environ.get("PINAKES_TEST_PROFILE", "pinakes"))


def shared_folder() -> Path:
    """Where the shared data lies, there or not: beside the repository, or PINAKES_SHARED."""
    return Path(os.environ.get("PINAKES_SHARED") or REPOSITORY.parent / "shared" / "data")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data; skips without it, fails where it is required."""
    folder = shared_folder()
    if not folder.is_dir():
        if os.environ.get("PINAKES_REQUIRE_SHARED") == "1":
            pytest.fail(f"PINAKES_REQUIRE_SHARED=1, and there is no {folder}")
        pytest.skip(WANTING)
    return folder


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody's own PINAKES_* variables reach the code under test."""
    for name in list(os.environ):
        if name.startswith("PINAKES_") and name not in {
            "PINAKES_SHARED",
            "PINAKES_REQUIRE_SHARED",
            "PINAKES_TEST_PROFILE",
        }:
            monkeypatch.delenv(name)
    yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads the shared data; keep long tests for `make test-long` (`-m long`)."""
    long_asked = "long" in (config.getoption("markexpr") or "")
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
        if item.get_closest_marker("long") and not long_asked:
            item.add_marker(pytest.mark.skip(reason="long: make test-long"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped for want of the shared data."""
    skipped = terminalreporter.stats.get("skipped", [])
    wanting = sum(WANTING in str(report.longrepr) for report in skipped)
    if wanting:
        terminalreporter.section("NOT TESTED", red=True, bold=True)
        terminalreporter.line(f"{wanting} tests skipped {WANTING} (see CONTRIBUTING.md)", red=True)
