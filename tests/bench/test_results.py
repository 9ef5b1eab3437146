"""Figures become quotients pair by pair, and quotients a table with verdicts."""

import pytest

from bench.cases import Case
from bench.fitted import fit
from bench.measure import CommandFailed, Cost, Step, ratios, run_step, run_steps
from bench.results import Outcome, as_json, table


def cost(cpu_s, wall_s=1.0, peak_bytes=0):
    return Cost(cpu_s=cpu_s, wall_s=wall_s, peak_bytes=peak_bytes)


def outcome(costs, floors, **declared):
    case = Case(name="work", group="pinakes", steps=lambda _: (), **declared)
    return Outcome(case=case, costs=costs, floors=floors)


def test_ratios_are_taken_pairwise_before_the_median():
    # A machine twice as slow in the second round: the quotient stays.
    found = ratios([3.0, 6.0, 3.3], [2.0, 4.0, 2.0])
    assert (found.least, found.middle, found.most) == (1.5, 1.5, 1.65)


@pytest.mark.parametrize(
    ("declared", "costs", "floors", "verdict"),
    [
        pytest.param({"limit": 1.1}, [cost(1.1)], [cost(1.0)], "kept", id="at-limit"),
        pytest.param({"limit": 1.1}, [cost(1.2)], [cost(1.0)], "MISSED", id="over-limit"),
        pytest.param({"at_least": 1.8}, [cost(9, 1.0)], [cost(9, 1.9)], "kept", id="faster"),
        pytest.param({"at_least": 1.8}, [cost(9, 1.2)], [cost(9, 1.9)], "MISSED", id="not-enough"),
        pytest.param({"peak_limit": 10}, [cost(1, 1, 9)], [], "kept", id="memory"),
        pytest.param(
            {"peak_limit": 10}, [cost(1, 1, 9), cost(1, 1, 10)], [], "MISSED", id="worst-round"
        ),
        pytest.param({}, [cost(5)], [cost(1)], "", id="no-limit"),
    ],
)
def test_verdict(declared, costs, floors, verdict):
    assert outcome(costs, floors, **declared).verdict() == verdict


def test_table_shows_quotients_and_what_could_not_be_run():
    missing = outcome([], [])
    missing.why_not = "not built"
    text = table([outcome([cost(1.5, 3.0)], [cost(1.0, 2.0)], limit=1.4), missing], 1000)
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "**pinakes**" in lines[2]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == [
        "work",
        "1.50 (1.50–1.50)",
        "1.50 (1.50–1.50)",
        "1.50",
        "1500",
        "0",
        "CPU ≤ 1.40",
        "MISSED",
    ]
    assert "not built" in lines[4]


def test_json_keeps_every_round():
    found = as_json(outcome([cost(1.0), cost(3.0)], [cost(1.0), cost(2.0)]))
    assert (found["cpu_s"], found["floor_cpu_s"]) == ([1.0, 3.0], [1.0, 2.0])


def test_a_step_is_measured_and_its_output_kept(tmp_path):
    step = Step(argv=("sh", "-c", "echo said"), stdout=tmp_path / "out")
    found = run_steps([step, step], tmp_path)
    assert (tmp_path / "out").read_text() == "said\n"
    assert found.peak_bytes > 0
    assert found.wall_s > 0


def test_a_failing_command_is_no_figure(tmp_path):
    with pytest.raises(CommandFailed, match="exit 3: why"):
        run_step(Step(argv=("sh", "-c", "echo why >&2; exit 3")), tmp_path)
    run_step(Step(argv=("sh", "-c", "exit 3"), good=(0, 3)), tmp_path)


# --- A straight line is found again, and what is not straight is said to be so


def test_a_line_is_found_again():
    found = fit([(10.0**n, 30 + 2e-5 * 10**n) for n in (5, 6, 7)])
    assert found.fixed == pytest.approx(30)
    assert found.slope == pytest.approx(2e-5)
    assert found.spread == pytest.approx(0)


def test_what_grows_faster_is_no_line():
    found = fit([(n, 1e-6 * n * n) for n in (1e3, 1e4, 1e5)])
    assert found.spread > 0.15
    assert found.least < found.slope < found.most
