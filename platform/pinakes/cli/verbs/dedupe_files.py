"""`pinakes dedupe PATH ... -o OUT`: the whole chain on files, without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import iter_paths
from pinakes.cli.frame.left_full import left_full_text
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.steps import Steps
from pinakes.cli.verbs.process import describe_decisions
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.files_run import FileDone, FilesRequest, FilesRun
from pinakes.dedupe.validate.file_pairs import Witnesses
from pinakes.dedupe.validate.folders import Validation
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.external_sort import SortSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesCall:
    """What to deduplicate, and where to."""

    names: Sequence[str]
    output: Path
    compare: bool
    trust: Trust | None
    plan: bool
    """Say what would be saved, and write nothing."""


class _Problems:
    """Names each as it is met, and remembers that there was one."""

    def __init__(self, console: Console) -> None:
        self.found = False
        self._console = console

    def name(self, problem: PinakesError) -> None:
        self.found = True
        self._console.warn(problem)


def dedupe_files(call: FilesCall, configuration: Configuration, console: Console) -> Exit:
    """A line for each file, then what it came to; exit 1 where validation found anything."""
    problems = _Problems(console)
    names = [path for name in call.names for path, _ in iter_paths(name, problems.name, console)]
    if not names:
        raise ConfigError("no archive files found")
    request = FilesRequest(
        names=names,
        compare=call.compare,
        trust=call.trust,
        min_saving_bytes=configuration.min_saving_bytes,
        now=datetime.now(timezone.utc),
        space=SortSpace(memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir),
    )
    validation: Validation | None = None
    with FilesRun(request, problems.name) as run, Steps(console, "dedupe") as steps:
        run.decide(steps)
        console.say(describe_decisions(run.decisions.processed))
        done: list[FileDone] = []
        for file in run.write(None if call.plan else call.output, steps):
            done.append(file)
            _tell_file(file, console)
        if not call.plan and done:
            with WarcioReader() as warcio:
                witnesses = Witnesses(second_reader=warcio)
                validation = run.validate(call.output, witnesses=witnesses, progress=steps)
    _tell(call, done, validation, console)
    if validation is not None and not validation.passed:
        return Exit.FOUND
    return Exit.SOME_FAILED if problems.found else Exit.DONE


def _tell_file(file: FileDone, console: Console) -> None:
    counts = file.refs.as_json()
    text = f"{count_of(file.refs.records, 'revisit')}, "
    text += f"{count_of(file.refs.saved_bytes, 'byte')} saved"
    text += left_full_text(file.refs.left_full)
    console.result({"file": file.name, **counts}, text=f"{printable(file.name)}: {text}")


def _tell(
    call: FilesCall, done: Sequence[FileDone], validation: Validation | None, console: Console
) -> None:
    """What was saved, whether it stands, where it is, and what next."""
    refs, size = RefsCount(), 0
    for file in done:
        refs.add(file.refs)
        size += file.size
    share = refs.saved_bytes / size if size else 0.0
    result: dict[str, object] = {
        "output": None if call.plan else str(call.output),
        "files": len(done),
        "bytes": size,
        **refs.as_json(),
        "validated": None if validation is None else validation.passed,
    }
    would = "would be " if call.plan else ""
    lines = [
        f"{count_of(len(done), 'file')}, {count_of(size, 'byte')}: "
        f"{count_of(refs.records, 'revisit')}, "
        f"{count_of(refs.saved_bytes, 'byte')} {would}saved ({share:.1%})"
        + left_full_text(refs.left_full)
    ]
    if validation is not None:
        lines.append(_verdict(call, validation, console))
    console.result(result, text="\n".join(lines))
    if call.plan and refs.records:
        console.say("nothing was written; next: the same command without --plan")
    if validation is not None and validation.passed:
        console.say(
            f"next: use the files in {call.output} instead of those before; `pinakes restore` "
            "turns them back, as long as the originals are there"
        )


def _verdict(call: FilesCall, validation: Validation, console: Console) -> str:
    for found in validation.open_discrepancies:
        console.warn(f"{found.file}: record {found.ordinal}: {found.code}: {found.message}")
    if not validation.passed:
        count = len(validation.open_discrepancies)
        return (
            f"validation FAILED, {count_of(count, 'finding')}: do not use {printable(call.output)}"
        )
    return "validated: each record is as before, or a revisit that resolves to the same bytes"
