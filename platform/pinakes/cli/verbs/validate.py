"""`pinakes validate`: nothing lost, nothing altered, every reference resolves."""

from __future__ import annotations

import argparse
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.receipt_file import write_receipt
from pinakes.dedupe.copy.reference_check import check_set
from pinakes.dedupe.references.outcomes import OUTCOMES
from pinakes.dedupe.validate.file_pairs import DISCREPANCIES, Discrepancy, Witnesses
from pinakes.dedupe.validate.folders import Validation, archive_folder, validate_folders
from pinakes.dedupe.validate.quick_look import QUICK_FINDINGS, compare_manifests
from pinakes.dedupe.validate.receipt import read_accepted
from pinakes.dedupe.validate.replay_sample import ReplaySample, ask_replay
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.errors import ConfigError
from pinakes.index.manifest import parse_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Two folders of archive files; or two manifests; or files whose references are asked for."""
    parser.add_argument(
        "folders",
        metavar="BEFORE_DIR AFTER_DIR",
        nargs="*",
        type=Path,
        help="the files as they were, and as they are",
    )
    parser.add_argument(
        "--receipt", metavar="FILE", type=Path, help="write what was found, for commit-copy"
    )
    parser.add_argument(
        "--accept",
        metavar="FILE",
        type=Path,
        help="discrepancies that somebody accepted: file, ordinal, code, who, why, a JSON "
        "object a line",
    )
    parser.add_argument(
        "--replay",
        metavar="URL-PREFIX",
        help="ask this collection of a running pywb or OpenWayback for some of the revisits",
    )
    parser.add_argument(
        "--manifests",
        metavar=("BEFORE", "AFTER"),
        nargs=2,
        type=Path,
        help="compare two manifests: a quick look, which permits nothing",
    )
    parser.add_argument(
        "--refs",
        metavar="WARC",
        nargs="+",
        type=Path,
        help="do all references within these files resolve",
    )
    parser.add_argument(
        "--cdx", metavar="FILE", type=Path, help="with --refs: a CDX or CDXJ of further originals"
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per discrepancy, then the verdict; exit 1 where anything was found."""
    ways = [bool(arguments.folders), bool(arguments.manifests), bool(arguments.refs)]
    if sum(ways) != 1 or len(arguments.folders) not in (0, 2):
        raise ConfigError("give BEFORE_DIR AFTER_DIR, or --manifests, or --refs")
    options = (arguments.receipt, arguments.accept, arguments.replay)
    if not arguments.folders and any(options):
        raise ConfigError("--receipt, --accept and --replay go with two folders")
    if arguments.cdx and not arguments.refs:
        raise ConfigError("--cdx goes with --refs")
    if arguments.manifests:
        return _look_quickly(arguments, console)
    return (
        _check_references(arguments, console) if arguments.refs else _validate(arguments, console)
    )


def _validate(arguments: argparse.Namespace, console: Console) -> Exit:
    before, after = arguments.folders
    accepted = read_accepted(arguments.accept) if arguments.accept else []
    size = sum((before / name).stat().st_size for name in archive_folder(before).archives.values())
    sample = ReplaySample() if arguments.replay else None
    with WarcioReader() as warcio, console.progress("validate", total=size) as progress:
        result = validate_folders(
            before,
            after,
            accepted=accepted,
            witnesses=Witnesses(second_reader=warcio, sampler=sample),
            advance=progress.advance,
        )
    if sample is not None:
        _ask(arguments.replay, sample, after, result)
    for found in result.open_discrepancies:
        console.result(
            found._asdict(),
            text=printable(
                f"{found.file}:{found.offset}: {found.code}: record {found.ordinal}: "
                f"{found.message}"
            ),
        )
    for name in result.others:
        console.warn(f"{printable(name)}: not compared: no archive file by its name")
    if arguments.receipt:
        write_receipt(arguments.receipt, result)
    console.say(_sentence(result))
    return Exit.DONE if result.passed else Exit.FOUND


def _ask(prefix: str, sample: ReplaySample, after: Path, result: Validation) -> None:
    result.replayed = len(list(sample))
    for asked, problem in ask_replay(prefix, sample):
        message = f"{DISCREPANCIES['replay']}: {problem}: {asked.target_uri}"
        file = str(Path(asked.file).relative_to(after))
        result.comparison.discrepancies.append(
            Discrepancy("replay", file, asked.ordinal, asked.offset, message)
        )


def _look_quickly(arguments: argparse.Namespace, console: Console) -> Exit:
    before, after = arguments.manifests
    count = 0
    with (
        before.open(encoding="utf-8", errors="surrogateescape", newline="\n") as was,
        after.open(encoding="utf-8", errors="surrogateescape", newline="\n") as now,
    ):
        for found in compare_manifests(parse_lines(was), parse_lines(now)):
            count += 1
            console.result(
                found._asdict(),
                text=printable(
                    f"{found.target_uri} {found.date}: {found.code}: {QUICK_FINDINGS[found.code]}"
                ),
            )
    console.say(f"{count} found; a quick look permits nothing" if count else "nothing found; a "
                "quick look at what manifests say permits nothing")  # fmt: skip
    return Exit.FOUND if count else Exit.DONE


def _check_references(arguments: argparse.Namespace, console: Console) -> Exit:
    outcomes: dict[str, int] = {}
    size = sum(path.stat().st_size for path in arguments.refs if path.is_file())
    with console.progress("references", total=size) as progress:
        for found in check_set(arguments.refs, index=arguments.cdx, advance=progress.advance):
            outcomes[found.outcome] = outcomes.get(found.outcome, 0) + 1
            if found.outcome != "resolves":
                console.result(
                    found._asdict(),
                    text=printable(
                        f"{found.file}: record {found.ordinal}: {found.outcome}: "
                        f"{OUTCOMES[found.outcome]}: {found.target_uri} {found.target_second}"
                    ),
                )
    total = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    console.say(f"references: {total or 'none'}")
    return Exit.DONE if outcomes.keys() <= {"resolves"} else Exit.FOUND


def _sentence(result: Validation) -> str:
    found = result.comparison
    references = ", ".join(f"{n} {outcome}" for outcome, n in sorted(result.references.items()))
    verdict = "passed" if result.passed else f"FAILED: {len(result.open_discrepancies)} found"
    return (
        f"{verdict}; {len(result.files)} files, {found.records} records, "
        f"{found.rewritten} rewritten, {found.restored} restored, "
        f"{found.read_twice} read again with warcio"
        + (f", {result.replayed} replayed" if result.replayed is not None else "")
        + (f"; references: {references}" if references else "")
    )
