"""`pinakes dedupe --plan`: a forecast, and the decision about each capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.output_file import output_file
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.plan import Plan, Savings, plan_dedupe
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.index.manifest import ManifestLine, format_line
from pinakes.profile import Stores


def forecast(
    request: DedupeRequest,
    fraction: float,
    decisions: str | None,
    stores: Stores,
    console: Console,
) -> None:
    """Say what a run would do, from this part of the contents.

    `decisions` is the file that gets a manifest line for each capture, unless None.
    """
    collection = Collection(
        stores.rows, stores.archive, request.collection, policies=request.dedupe_policies
    )
    with _lines_to(decisions, console) as decided_on:
        plan = plan_dedupe(collection, request, fraction=fraction, decided_on=decided_on)
    console.result(plan.as_json(), text=format_plan(plan))


@contextmanager
def _lines_to(
    name: str | None, console: Console
) -> Iterator[Callable[[ManifestLine], None] | None]:
    if name is None:
        yield None
        return
    with output_file(name, console) as file:

        def write(line: ManifestLine) -> None:
            file.write(f"{format_line(line)}\n".encode())

        yield write


def format_plan(plan: Plan) -> str:
    """The forecast, in some twenty lines."""
    content = plan.as_json()
    low, high = plan.interval_bytes
    share = plan.saved_bytes / plan.archive_bytes if plan.archive_bytes else 0.0
    lines = [
        f"captures              {plan.records:>16,}"
        + (f"  (a sample of {plan.fraction:.2%})" if plan.fraction < 1 else ""),
        f"would become revisits {content['revisits']:>16,}",
        f"would save            {plan.saved_bytes:>16,} bytes, {share:.1%} of the archive files",
    ]
    if plan.fraction < 1:
        lines.append(f"  95% interval        {low:>16,} to {high:,} bytes")
    lines += [
        f"a revisit takes       {plan.revisit_bytes:>16,.0f} bytes on average",
        f"files written anew    {plan.files:>16,}",
        f"disk needed meanwhile {plan.disk.total(plan.fraction):>16,} bytes",
    ]
    for what, size in plan.disk.as_json(plan.fraction).items():
        lines.append(f"  {what.replace('_', ' '):<19} {size:>16,} bytes")
    for title, groups in (
        ("host", plan.by_host),
        ("media type", plan.by_media_type),
        ("status", plan.by_status),
    ):
        lines += _table(title, groups)
    if plan.same_entities is not None and plan.same_entities.records:
        records, size = plan.same_entities
        lines.append(f"same but for chunks   {size:>16,} bytes in {records:,} records, left full")
    if plan.left_full:
        lines.append("left full, by reason")
        lines += [f"  {count:>12,}  {reason}" for reason, count in plan.left_full.most_common()]
    return "\n".join(lines)


def _table(title: str, groups: dict[str, Savings]) -> list[str]:
    if not groups:
        return []
    ordered = sorted(groups.items(), key=lambda item: -item[1].bytes)[:5]
    return [f"by {title}"] + [
        f"  {saved.bytes:>12,} bytes in {saved.records:>8,}  {printable(name)}"
        for name, saved in ordered
    ]
