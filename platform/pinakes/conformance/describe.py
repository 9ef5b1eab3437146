"""The table of rules as text: for docs/check.md and `pinakes check --rules`."""

from __future__ import annotations

from collections.abc import Iterator

from .rules import Rule
from .table import GROUPS


def describe_rules() -> Iterator[str]:
    """The rules in Markdown, line by line, a table for each group."""
    for title, rules in GROUPS.items():
        yield f"### {title}"
        yield ""
        yield "| code | severity | 1.0 § | 1.1 § | rule | found in |"
        yield "|---|---|---|---|---|---|"
        for rule in rules:
            yield _row(rule)
        yield ""


def _row(rule: Rule) -> str:
    notes = " (once a file)" * rule.once + " (also older formats)" * rule.older_formats
    cells = (
        f"`{rule.code}`",
        str(rule.severity),
        f"{rule.standard} {rule.clause_1_0 or '–'}".strip(),
        f"{rule.standard} {rule.clause_1_1 or '–'}".strip(),
        rule.statement + notes,
        rule.example,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
