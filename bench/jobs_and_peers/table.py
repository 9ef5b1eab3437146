"""The table of docs/peers.md: jobs by tools, with a note for each that was tried in vain.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bench.jobs_and_peers.attempts import Job, Verdict

BEGIN = "<!-- made by `python -m bench.jobs_and_peers --write` -->"
END = "<!-- until here -->"
DONE, NOT_DONE = "✓", "✗"

Verdicts = Mapping[tuple[str, str, str], Verdict]
"""By group, job and tool; a tool without one has no command for that job."""


def laid_out(jobs: Sequence[Job], versions: Mapping[str, str], verdicts: Verdicts) -> str:
    """The table and its notes; `versions` of the tools, in the order of the columns."""
    notes: dict[str, list[str]] = {}
    rows = [("", *(f"{name} {version}" for name, version in versions.items()))]
    rows.append(tuple("---" if column == 0 else ":-:" for column in range(len(versions) + 1)))
    group = ""
    for job in jobs:
        if job.group != group:
            group = job.group
            rows.append((f"**{group}**", *[""] * len(versions)))
        cells = (verdicts.get((job.group, job.name, tool)) for tool in versions)
        named = zip(versions, cells, strict=True)
        rows.append((job.name, *(_cell(verdict, tool, notes) for tool, verdict in named)))
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    said = ((", ".join(tools), why) for why, tools in notes.items())
    listed = [f"{number}. {tools}: {why}" for number, (tools, why) in enumerate(said, 1)]
    return "\n".join([*lines, "", *listed])


def _cell(verdict: Verdict | None, tool: str, notes: dict[str, list[str]]) -> str:
    """A mark; the tool is added to those of which the same is noted."""
    if verdict is None:
        return ""
    if verdict.done:
        return DONE
    tools = notes.setdefault(_plain(verdict.why), [])
    if tool not in tools:
        tools.append(tool)
    return f"{NOT_DONE} {list(notes).index(_plain(verdict.why)) + 1}"


def _plain(text: str) -> str:
    """What a tool said, so that Markdown leaves it as it is."""
    return re.sub(r"[<>|]", lambda match: f"\\{match[0]}", text)


def put_in(page: str, table: str) -> str:
    """The page with this table between its two markers.  Raises ValueError where they are not."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"no {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def rows_in(page: str) -> Iterator[list[str]]:
    """The cells of each row of the table in a page, head and groups included, the rule not."""
    table = page.partition(BEGIN)[2].partition(END)[0]
    for line in table.splitlines():
        if line.startswith("|") and not line.startswith("| ---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]
