"""The table of docs/peers.md is that of the jobs, and its cells are run and judged."""

import pytest

from bench.jobs_and_peers.__main__ import PAGE, verdicts_of
from bench.jobs_and_peers.attempts import Job, Verdict, attempt
from bench.jobs_and_peers.jobs import JOBS
from bench.jobs_and_peers.reading import json_field, printed
from bench.jobs_and_peers.table import BEGIN, DONE, END, NOT_DONE, laid_out, put_in, rows_in
from bench.jobs_and_peers.tools import BY_NAME, TOOLS


def rows_of_page() -> list[list[str]]:
    return list(rows_in(PAGE.read_text("utf-8")))


def test_page_has_a_row_for_each_job_and_a_column_for_each_tool():
    head, *rows = rows_of_page()
    assert [column.rpartition(" ")[0] for column in head[1:]] == [tool.name for tool in TOOLS]
    groups = list(dict.fromkeys(job.group for job in JOBS))
    assert [row[0].strip("*") for row in rows if row[0].startswith("**")] == groups
    assert [row[0] for row in rows if not row[0].startswith("**")] == [job.name for job in JOBS]


def test_page_has_a_verdict_where_a_tool_has_a_command_and_nowhere_else():
    rows = [row[1:] for row in rows_of_page()[1:] if not row[0].startswith("**")]
    tools = [tool.name for tool in TOOLS]
    for job, row in zip(JOBS, rows, strict=True):
        claimed = {tool for tool, cell in zip(tools, row, strict=True) if cell}
        assert claimed == set(job.attempts), job.name
        assert {cell[:1] for cell in row if cell} <= {DONE, NOT_DONE}


def test_jobs_have_names_of_their_own_and_known_tools():
    names = [(job.group, job.name) for job in JOBS]
    assert len(names) == len(set(names))
    assert {tool for job in JOBS for tool in job.attempts} <= set(BY_NAME)


def first(name: str) -> Job:
    return next(job for job in JOBS if job.name == name)


@pytest.mark.parametrize(
    ("job", "tool"),
    [
        pytest.param("list the records of a file", "Pinakes", id="ours"),
        pytest.param("list the records of a file", "warcio", id="a-peer"),
    ],
)
def test_a_cell_is_run(job, tool):
    if BY_NAME[tool].version() is None:
        pytest.skip(f"{tool} is not installed: `make tools` does it")
    verdicts = verdicts_of([first(job)], [tool])
    assert list(verdicts.values()) == [Verdict(done=True)]


@pytest.mark.parametrize(
    ("command", "read", "expected", "why"),
    [
        pytest.param(
            "echo 1", printed, b"2\n", "got b'1\\n', expected b'2\\n'", id="another-result"
        ),
        pytest.param("sh -c 'echo Error: no >&2; exit 1'", printed, b"x", "Error: no", id="failed"),
        pytest.param("echo text", json_field("type"), [], "JSONDecodeError", id="unreadable"),
    ],
)
def test_what_is_wrong_is_not_ticked(command, read, expected, why):
    job = Job(
        name="job",
        group="group",
        expected=lambda _: expected,
        attempts={"warcio": attempt(command, read=read)},
    )
    (verdict,) = verdicts_of([job], ["warcio"]).values()
    assert not verdict.done
    assert why in verdict.why


def test_table_numbers_each_note_once():
    jobs = [
        Job(name=name, group="group", expected=lambda _: 0, attempts={}) for name in ("one", "two")
    ]
    bad = Verdict(done=False, why="a <tag>")
    verdicts = {
        ("group", "one", "A"): Verdict(done=True),
        ("group", "one", "B"): bad,
        ("group", "two", "A"): bad,
        ("group", "two", "B"): bad,
    }
    text = laid_out(jobs, {"A": "1.0", "B": "2"}, verdicts)
    assert list(rows_in(f"{BEGIN}\n{text}\n{END}")) == [
        ["", "A 1.0", "B 2"],
        ["**group**", "", ""],
        ["one", "✓", "✗ 1"],
        ["two", "✗ 1", "✗ 1"],
    ]
    assert text.endswith("\n\n1. B, A: a \\<tag\\>")


def test_table_goes_between_the_markers():
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert put_in(page, "new") == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    with pytest.raises(ValueError, match="no <!--"):
        put_in("before", "new")
