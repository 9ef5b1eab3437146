"""Fixtures for all tests: the shared data, and a loud line about what was not there."""

from __future__ import annotations

import os
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
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own PINAKES_* variables reach the code under test."""
    for name in list(os.environ):
        if name.startswith("PINAKES_") and name not in {
            "PINAKES_SHARED",
            "PINAKES_REQUIRE_SHARED",
            "PINAKES_TEST_PROFILE",
        }:
            monkeypatch.delenv(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--no-skips`, for CI: there nothing may be skipped."""
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails the run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads the shared data; leave long tests to `make test-long` (`-m long`)."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
    if "long" in (config.getoption("markexpr") or ""):
        return
    long_ones = [item for item in items if item.get_closest_marker("long")]
    if long_ones:
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long_ones)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under `--no-skips` a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("no_skips"):
        return
    if reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were skipped for want of the shared data."""
    skipped = terminalreporter.stats.get("skipped", [])
    wanting = sum(WANTING in str(report.longrepr) for report in skipped)
    if wanting or (skipped and config.getoption("no_skips")):
        terminalreporter.section("NOT TESTED", red=True, bold=True)
    if wanting:
        terminalreporter.line(f"{wanting} tests skipped {WANTING} (see CONTRIBUTING.md)", red=True)
    if skipped and config.getoption("no_skips"):
        terminalreporter.line(f"{len(skipped)} skipped, and --no-skips was given", red=True)
