"""`pinakes crawl`: the crawls of the store, their state, and what becomes of them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from pinakes.acts.actor import Actor
from pinakes.application.crawls import findings_of
from pinakes.application.deleting import purge_crawl, remove_crawl
from pinakes.catalog.crawl_rows import CrawlEntry, require_crawl
from pinakes.catalog.crawl_stats import count_crawl
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.required_files import StoredRequirement, scan_required
from pinakes.catalog.requirements import Requirement, read_requirements
from pinakes.cli.frame.actions import action_parsers
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.crawl_deletion import add_purge_options, say_purge, say_removal
from pinakes.cli.verbs.crawl_listing import say_crawl, say_crawls
from pinakes.counts import count_of
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.plan import Plan, plan_dedupe
from pinakes.dedupe.run.run_report import DedupeRequest, policies_text
from pinakes.deletion.requests import (
    CANCEL,
    REFUSE,
    REMOVE,
    CrawlDeletion,
    PurgeRequest,
)
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.ingest.commit import commit_crawl
from pinakes.profile import Stores, open_stores

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """Which crawl (none for `list`), whether only to say what would be done, and what `dedupe`
    is configured to leave full."""

    crawl: str
    dry_run: bool
    plan: bool
    counts: bool
    references: str
    min_saving_bytes: int | None
    min_file_saving: float
    policies: str


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each thing to do with a crawl."""
    words = {name: said for name, (said, _, _) in _ACTIONS.items()}
    for name, one in action_parsers(parser, words).items():
        _, writes, _ = _ACTIONS[name]
        if name != "list":
            one.add_argument("crawl", metavar="ID", help="crawl ID")
        if name in ("list", "show"):
            one.add_argument(
                "--counts",
                action="store_true",
                help="count URLs, duplicates and bytes as Browsertrix does; reads sidecars",
            )
        if name == "purge":
            add_purge_options(one)
        if writes:
            add_dry_run(one)
        add_settings(one, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    configuration = configuration_of(arguments)
    request = CrawlRequest(
        crawl=getattr(arguments, "crawl", ""),
        dry_run=getattr(arguments, "dry_run", False),
        plan=getattr(arguments, "plan", False),
        counts=getattr(arguments, "counts", False),
        references=getattr(arguments, "references", REFUSE),
        min_saving_bytes=configuration.min_saving_bytes,
        min_file_saving=configuration.min_file_saving,
        policies=policies_text(configuration.dedupe),
    )
    act = _ACTIONS[arguments.action][2]
    with open_stores(configuration) as stores:
        return act(stores, request, console)


def _list(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    is_whole = say_crawls(stores, console, counts=request.counts)
    return Exit.DONE if is_whole else Exit.SOME_FAILED


def _show(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    say_crawl(stores, request.crawl, console, counts=request.counts)
    return Exit.DONE


def _commit(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    done = commit_crawl(
        stores.rows, stores.archive, request.crawl, Actor(), dry_run=request.dry_run
    )
    for one in done.unresolved:
        console.warn(
            f"[{one.capture}] refers to {printable(one.target_uri)} {printable(one.date)}",
            kind="revisits of this crawl that refer to nothing in the store",
        )
    would = "would be " if request.dry_run else ""
    words = f"{would}committed" if done.is_new else "was committed already"
    found = done.findings
    line = f"{request.crawl}: {words}"
    if found.landed or found.never_landed:
        line += f"; {count_of(found.never_landed, 'reported capture')} never landed"
    if found.unresolved:
        line += (
            f"; {count_of(found.unresolved, 'revisit refers', 'revisits refer')} to nothing in "
            "the store"
        )
    if found.to_reported:
        line += f", {found.to_reported} of them to captures that were reported"
    console.result({"crawl": request.crawl, "outcome": words, **findings_of(found)}, text=line)
    return Exit.DONE


def _cancel(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    return _take_out(stores, request, console, CANCEL)


def _remove(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    return _take_out(stores, request, console, REMOVE)


def _take_out(stores: Stores, request: CrawlRequest, console: Console, how: CrawlDeletion) -> Exit:
    result = remove_crawl(stores, request.crawl, how, plan=request.dry_run)
    say_removal(result, how, console, only_says=request.dry_run)
    return Exit.DONE if result.is_complete else Exit.SOME_FAILED


def _purge(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    only_says = request.plan or request.dry_run
    wanted = PurgeRequest(crawl=request.crawl, references=request.references)
    report = purge_crawl(stores, wanted, plan=only_says)
    say_purge(report, console, only_says=only_says, lists_changes=request.plan)
    return Exit.DONE if report.is_complete else Exit.SOME_FAILED


def _requires(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    entry = require_crawl(stores.rows, request.crawl)
    found = read_requirements(stores.rows, stores.archive, entry.crawl, entry.facts.collection)
    lines = [f"{entry.crawl}  {entry.state}"]
    lines += ["needs:", *_required(found.needs, lambda one: crawl_of(one.requires))]
    lines += ["needed by:", *_required(found.needed_by, lambda one: crawl_of(one.archive_file))]
    declared = scan_required(stores.rows, stores.archive, entry.crawl, entry.facts.collection)
    if declared:
        lines += ["its WACZ files say that they need:"]
        lines += [_declared(one, found.unresolved) for one in declared]
    lines += [f"unresolved: {found.unresolved}"]
    console.result(
        {
            "crawl": entry.crawl,
            "state": entry.state,
            "needs": [one._asdict() for one in found.needs],
            "needed_by": [one._asdict() for one in found.needed_by],
            "declared": [
                {**one.required.entry, "package": one.required.package, "found": one.found}
                for one in declared
            ],
            "unresolved": found.unresolved,
        },
        text="\n".join(lines),
    )
    return Exit.DONE


def _required(
    requirements: list[Requirement], other_crawl: Callable[[Requirement], str]
) -> Iterator[str]:
    """A line for each other crawl, and below it one for each pair of files."""
    for crawl, some in groupby(sorted(requirements, key=other_crawl), key=other_crawl):
        of_crawl = list(some)
        yield f"  {crawl}: {count_of(sum(one.references for one in of_crawl), 'reference')}"
        for one in of_crawl:
            yield (
                f"    {printable(one.archive_file)} -> {printable(one.requires)}: {one.references}"
            )


def _declared(one: StoredRequirement, unresolved: int) -> str:
    required = one.required
    absent = "missing" if unresolved else "not here as such a file, and every reference resolves"
    crawl = f" of {required.crawl}" if required.crawl else ""
    where = f"in the store: {', '.join(one.found)}" if one.found else absent
    return printable(f"  {required.package}: {required.filename}{crawl}: {where}")


def _stats(stores: Stores, request: CrawlRequest, console: Console) -> Exit:
    entry = require_crawl(stores.rows, request.crawl)
    stats = count_crawl(stores.rows, stores.archive, request.crawl)
    plan = _plan(stores, entry, request)
    acts = read_totals(stores.rows, request.crawl).by_verb
    tables = {
        "types": stats.types,
        "bytes_by_type": stats.bytes_by_type,
        "statuses": stats.statuses,
        "media_types": stats.media_types,
        "takes_no_part": stats.skips,
        "copies_left_full": plan.left_full,
    }
    single = ("files", "landed_bytes", "stored_bytes", "captures")
    numbers = {name: getattr(stats, name) for name in single}
    numbers |= {"duplicates": plan.total.records, "duplicate_bytes": plan.duplicate_bytes}
    lines = [f"{entry.crawl}  {entry.state}", *(f"{name}: {n}" for name, n in numbers.items())]
    for name, table in tables.items():
        lines += [f"{name}:", *_rows(table)]
    lines += ["acts:", *(f"  {verb}: {_counts(counts)}" for verb, counts in sorted(acts.items()))]
    console.result(
        {"crawl": entry.crawl, "state": entry.state, **numbers, **tables, "acts": dict(acts)},
        text="\n".join(lines),
    )
    return Exit.DONE


def _plan(stores: Stores, entry: CrawlEntry, request: CrawlRequest) -> Plan:
    """What `dedupe` would make of the crawl, so that both count the same."""
    collection = entry.facts.collection
    wanted = DedupeRequest(
        collection=collection,
        crawl=entry.crawl,
        min_saving_bytes=request.min_saving_bytes,
        min_file_saving=request.min_file_saving,
        policies=request.policies,
    )
    policies = wanted.dedupe_policies
    return plan_dedupe(
        Collection(stores.rows, stores.archive, collection, policies=policies), wanted
    )


def _rows(table: Counter[str]) -> list[str]:
    shown = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"  {printable(name)}: {count}" for name, count in shown[:_MOST_SHOWN]]
    if len(shown) > _MOST_SHOWN:
        lines.append(f"  and {len(shown) - _MOST_SHOWN} more")
    return lines


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


Action = Callable[[Stores, CrawlRequest, Console], Exit]
_ACTIONS: dict[str, tuple[str, bool, Action]] = {
    "list": ("list all crawls, one per line", False, _list),
    "show": ("show a crawl and its files", False, _show),
    "commit": ("make an open crawl final", True, _commit),
    "cancel": ("remove an open crawl", True, _cancel),
    "remove": ("remove a committed crawl, if no other crawl refers to it", True, _remove),
    "requires": ("show what a crawl needs of others, and they of it, by file", False, _requires),
    "purge": ("remove a crawl, and see to references of other crawls to it", True, _purge),
    "stats": ("count what a crawl holds, and list what was done to it", False, _stats),
}
