"""Fixtures for all tests: the shared data, and a loud line about what was not there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
# The modules of tests/support whose assertions are reported in full.
pytest.register_assert_rewrite("archive_contract", "row_store_contract", "row_store_model")
if TYPE_CHECKING:
    from shared_cluster import RunningCluster

WANTING = "for want of ../shared/data"

# Markers of what `make test` leaves to the parts of `make test-long` (CONTRIBUTING.md, "Tests").
PARTS = ("faults", "yarn", "browsers", "large")

# Seconds that the tests of a folder may take in `make test`, summed over its two processes: 2,100
# in all, which is eighteen minutes with what it takes to collect them.  Who adds a suite makes its
# room.  Printed, not asserted: a slow machine is no failure.
BUDGET_S = {
    "access": 125,
    "acts": 1,
    "archive_store": 35,
    "attack": 75,
    "backup": 55,
    "bench": 8,
    "catalog": 25,
    "cli": 120,
    "cluster": 20,
    "conformance": 12,
    "dedupe": 155,
    "deletion": 175,
    "dictionaries": 3,
    "export": 60,
    "extract": 5,
    "fuzz": 20,
    "hbase_schema": 5,
    "house": 50,
    "index": 25,
    "ingest": 310,
    "mr_jobs": 130,
    "peers": 25,
    "qa": 212,
    "recompression": 30,
    "rewrite": 20,
    "row_store": 55,
    "shared_index": 80,
    "store": 155,
    "tests": 4,
    "warc": 105,
}

# No timed assertion anywhere: a slow machine is no failure.
settings.register_profile(
    "pinakes",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.register_profile("brief", parent=settings.get_profile("pinakes"), max_examples=20)
settings.register_profile("long", parent=settings.get_profile("pinakes"), max_examples=2000)
PROFILE = os.environ.get("PINAKES_TEST_PROFILE", "pinakes")
settings.load_profile(PROFILE)

# A shell has its background jobs ignore it, nohup the other: so would all that tests start and end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


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


@pytest.fixture(scope="session")
def stride() -> int:
    """Of the places that a test goes through one by one, every n-th; all in `make test-long`."""
    return 1 if PROFILE == "long" else 7


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[RunningCluster]:
    """The servers of this run, started by whichever test is the first to want them."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}")
    from shared_cluster import shared_cluster as share

    with share(REPOSITORY) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: RunningCluster) -> Iterator[RunningCluster]:
    """Real servers, ready, used by other tests at the same time: take names of your own."""
    with shared_cluster.used(alone=False):
        yield shared_cluster


@pytest.fixture
def cluster_alone(shared_cluster: RunningCluster) -> Iterator[RunningCluster]:
    """The same, for tests that kill servers: no other test uses them meanwhile."""
    with shared_cluster.used(alone=True):
        try:
            yield shared_cluster
        finally:
            shared_cluster.up()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own PINAKES_* variables reach the code under test."""
    for name in list(os.environ):
        if name.startswith("PINAKES_") and name not in {
            "PINAKES_SHARED",
            "PINAKES_REQUIRE_SHARED",
            "PINAKES_TEST_PROFILE",
            "PINAKES_TEST_CLUSTER",
        }:
            monkeypatch.delenv(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What CI and the Makefile ask for."""
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails the run")
    parser.addoption(
        "--half", type=int, choices=(0, 1), help="this half of the tests, by a hash of their ids"
    )
    parser.addoption("--budget", action="store_true", help="seconds by folder, beside its budget")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads the shared data or wants servers; choose which tests are run."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
        if "shared_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker("cluster")
            item.add_marker("slow")
    _servers_first(items)
    half = config.getoption("half")
    # A part runs where it is asked for by its name: `not faults` asks for none.
    asked = re.findall(r"(?<!not )\b\w+", config.getoption("markexpr") or "")
    left_out = [part for part in PARTS if part not in asked]

    def is_chosen(item: pytest.Item) -> bool:
        if any(item.get_closest_marker(part) for part in left_out):
            return False
        return half is None or zlib.crc32(item.nodeid.encode()) % 2 == half

    chosen, others = [], []
    for item in items:
        (chosen if is_chosen(item) else others).append(item)
    if others:
        items[:] = chosen
        config.hook.pytest_deselected(items=others)


def _servers_first(items: list[pytest.Item]) -> None:
    """Files that want the servers before all others, those that want them alone foremost.

    Of several processes one then has them all, and the others do not wait for it.
    """

    def rank(item: pytest.Item) -> int:
        names = getattr(item, "fixturenames", ())
        return 0 if "cluster_alone" in names else 1 if "shared_cluster" in names else 2

    ranks: dict[Path, int] = {}
    for item in items:
        ranks[item.path] = min(rank(item), ranks.get(item.path, 2))
    items.sort(key=lambda item: ranks[item.path])


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
    if config.getoption("budget"):
        _print_budget(terminalreporter)


def _print_budget(terminalreporter: pytest.TerminalReporter) -> None:
    """Seconds that the tests of each folder took, beside what it may take."""
    took: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                took[Path(report.nodeid.partition("::")[0]).parent.name] += report.duration
    terminalreporter.section("seconds by folder, and its budget")
    for folder, seconds in took.most_common():
        budget_s = BUDGET_S.get(folder, 0)
        over = "  over" if seconds > budget_s else ""
        terminalreporter.line(f"{seconds:8.0f} {budget_s:6}  {folder}{over}")
