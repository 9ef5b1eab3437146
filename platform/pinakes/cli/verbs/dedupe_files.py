"""`pinakes dedupe PATH ... -o OUT`: the whole chain on files, without a store."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import iter_paths
from pinakes.cli.frame.left_full import left_full_text
from pinakes.cli.frame.options import configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.steps import Steps
from pinakes.cli.frame.trust_options import trust_of
from pinakes.cli.verbs.process import describe_decisions
from pinakes.counts import count_of
from pinakes.dedupe.run.files_run import FileDone, FilesRequest, FilesRun
from pinakes.dedupe.validate.file_pairs import Witnesses
from pinakes.dedupe.validate.folders import Validation
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.external_sort import SortSpace


def files_request_of(arguments: argparse.Namespace) -> FilesRequest:
    """What was asked for with `-o`.  Raises ConfigError for what only a store has."""
    refused = {
        "--all": arguments.all,
        "--sample": arguments.sample,
        "--runner": arguments.runner != "inline",
        "--drop-old": arguments.drop_old,
        "--decisions": arguments.decisions,
        "--metrics-file": arguments.metrics_file,
    }
    given = [option for option, value in refused.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)}: not with -o, which takes files")
    if not arguments.names:
        raise ConfigError("-o deduplicates files: name some, or folders of them")
    configuration = configuration_of(arguments)
    return FilesRequest(
        names=arguments.names,
        compare=arguments.compare != "none",
        trust=trust_of(arguments),
        min_saving_bytes=configuration.min_saving_bytes,
        now=datetime.now(timezone.utc),
        space=SortSpace(memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir),
    )


class _Problems:
    """Names each as it is met, and remembers that there was one."""

    def __init__(self, console: Console) -> None:
        self.found = False
        self._console = console

    def name(self, problem: PinakesError) -> None:
        self.found = True
        self._console.warn(problem)


def dedupe_files(request: FilesRequest, output: Path | None, console: Console) -> Exit:
    """A line for each file, then what it came to; exit 1 where validation found anything.

    None for the folder: say what would be saved, and write nothing.
    """
    problems = _Problems(console)
    given = request.names
    names = [path for name in given for path, _ in iter_paths(name, problems.name, console)]
    if not names:
        raise ConfigError("no archive files found")
    request = replace(request, names=names)
    validation: Validation | None = None
    with FilesRun(request, problems.name) as run, Steps(console, "dedupe") as steps:
        run.decide(steps)
        console.say(describe_decisions(run.decisions.processed))
        done: list[FileDone] = []
        for file in run.write(output, steps):
            done.append(file)
            _tell_file(file, console)
        if output is not None and done:
            with WarcioReader() as warcio:
                witnesses = Witnesses(second_reader=warcio)
                validation = run.validate(output, witnesses=witnesses, progress=steps)
    _tell(output, done, validation, console)
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
    output: Path | None,
    done: Sequence[FileDone],
    validation: Validation | None,
    console: Console,
) -> None:
    """What was saved, whether it stands, where it is, and what next."""
    refs, size = RefsCount(), 0
    for file in done:
        refs.add(file.refs)
        size += file.size
    share = refs.saved_bytes / size if size else 0.0
    result: dict[str, object] = {
        "output": None if output is None else str(output),
        "files": len(done),
        "bytes": size,
        **refs.as_json(),
        "validated": None if validation is None else validation.passed,
    }
    would = "would be " if output is None else ""
    lines = [
        f"{count_of(len(done), 'file')}, {count_of(size, 'byte')}: "
        f"{count_of(refs.records, 'revisit')}, "
        f"{count_of(refs.saved_bytes, 'byte')} {would}saved ({share:.1%})"
        + left_full_text(refs.left_full)
    ]
    if output is not None and validation is not None:
        lines.append(_verdict(output, validation, console))
    console.result(result, text="\n".join(lines))
    if output is None and refs.records:
        console.say("nothing was written; next: the same command without --plan")
    if validation is not None and validation.passed:
        console.say(
            f"next: use the files in {output} instead of those before; `pinakes restore` "
            "turns them back, as long as the originals are there"
        )


def _verdict(output: Path, validation: Validation, console: Console) -> str:
    for found in validation.open_discrepancies:
        console.warn(f"{found.file}: record {found.ordinal}: {found.code}: {found.message}")
    if not validation.passed:
        count = len(validation.open_discrepancies)
        return f"validation FAILED, {count_of(count, 'finding')}: do not use {printable(output)}"
    return "validated: each record is as before, or a revisit that resolves to the same bytes"
