"""What `pinakes dedupe` says: of a run, of what is wrong, of a forecast."""

from __future__ import annotations

from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.dropped import drop_old_words
from pinakes.cli.frame.event_printer import next_command, store_place
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.dedupe.run.old_generations import DroppedGeneration
from pinakes.dedupe.run.plan import Plan, Savings
from pinakes.dedupe.run.run_report import CLAIMED, KEPT_FULL, WANTS_ROOM, DedupeReport
from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.profile import Stores

_UNCHANGED = {
    "min-file-saving": "would save less than min_file_saving",
    "larger than max-extra-bytes": "larger than max_extra_bytes",
    WANTS_ROOM: "no room left within max_extra_bytes",
    "failed": "could not be rewritten (named above)",
    CLAIMED: "another process is working on it (named above): the same command goes on",
    KEPT_FULL: "all its duplicates stay full (counted above)",
    "not stored any more": "removed since",
    "done already": "rewritten already",
}


def say_if_there_is_none(stores: Stores, collection: str, console: Console) -> None:
    """Where a collection has no crawl, which ones have."""
    found = {entry.facts.collection for entry in scan_crawls(stores.rows)}
    if collection not in found:
        others = f"; there are in {', '.join(sorted(found))}: --collection NAME" if found else ""
        console.say(f"collection {collection} has no crawl{others}")


def say_report(report: DedupeReport, collection: str, console: Console) -> None:
    """What a run did, what is wrong, and what to do about that."""
    problems = report.all_problems
    for problem in problems:
        console.warn(problem)
    if any(isinstance(problem, (DigestMismatch, MalformedRecord)) for problem in problems):
        console.say(
            "what is damaged `pinakes fsck --full` names, and what can be done: put the file back "
            "from a backup, or, where an older generation is whole, let "
            f"{drop_old_words(collection)} mend it"
        )
    console.result(report.as_json(), text=_sentences(report))


def say_next(crawl: str | None, configuration: Configuration, console: Console) -> None:
    """Where the new files are, and how old ones go."""
    words = f"generations {crawl} --drop" if crawl else "generations --drop"
    console.say(
        f"the new files are current in {store_place(configuration)}, the old ones still there; "
        f"next: {next_command(words, configuration, 'collection')} deletes those replaced more "
        "than a day ago (--grace)"
    )


def say_dropped(dropped: DroppedGeneration, console: Console, *, is_plan: bool = False) -> None:
    """An old generation that was dropped, or would be."""
    field, verb = ("would_drop", "would drop") if is_plan else ("dropped", "dropped")
    name, size = dropped
    console.result({field: name, "bytes": size}, text=f"{verb} {name}, {count_of(size, 'byte')}")


def _sentences(report: DedupeReport) -> str:
    first = f"run {report.run}: {count_of(report.refs.records, 'revisit')}"
    saved = count_of(report.refs.saved_bytes, "byte")
    files = count_of(report.files, "file")
    lines = [f"{first} in {files}, {saved} saved once the old ones are dropped"]
    if report.files_mended:
        records = count_of(report.records_mended, "record")
        lines.append(
            f"{count_of(report.files_mended, 'file')} mended: {records} taken from old generations"
        )
    if report.refs.left_full:
        counted = sorted(report.refs.left_full.items())
        lines.append("records left full: " + ", ".join(f"{n:,} {reason}" for reason, n in counted))
    for reason, n in sorted(report.files_left.items()):
        lines.append(f"{count_of(n, 'file')} unchanged: {_UNCHANGED.get(reason, reason)}")
    if report.is_stopped:
        waiting = count_of(report.files_left[WANTS_ROOM], "file is left", "files are left")
        lines.append(
            f"stopped: {waiting} for want of room; the same "
            "command goes on when old generations are dropped (--drop-old, after --grace)"
        )
    return "\n".join(lines)


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
        f"files rewritten       {plan.files:>16,}",
        f"disk needed           {plan.disk.total(plan.fraction):>16,} bytes",
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
