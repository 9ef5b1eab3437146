"""`pinakes zstd compress` and `decompress` of crawls: their files' next generations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pinakes.acts.act import Act
from pinakes.acts.waves import Tasks
from pinakes.application.recompressing import CompressionChoice, CrawlsToRecompress
from pinakes.archive_store.located import is_at
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli.frame.act_jobs import job_shown
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import JobRunner
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.zstd_printing import say_findings, sentence, sizes, too_little
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import ConfigError, PinakesError
from pinakes.profile import Stores, open_stores
from pinakes.recompression.forms import StoredForm
from pinakes.recompression.stored import LEFT, TasksOf, ToRecompress
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.rewrite.recompress_file import TOO_LITTLE, Recompression
from pinakes.warc.compression.gzip_members import NAME as GZIP
from pinakes.warc.compression.zstd_frames import NAME as ZSTD
from pinakes.warc.file_progress import no_advance

_NAMES = {ZSTD: "Zstandard", GZIP: "gzip", None: "no compression"}


@dataclass(slots=True)
class _Sum:
    """Of all files."""

    left: Counter[str] = field(default_factory=Counter)
    """Those that stay as they are, by outcome."""
    written: int = 0
    before: int = 0
    after: int = 0
    extra: int = 0
    """What new generations and their sidecars take."""
    problems: int = 0

    def add(self, result: Recompression, archive: ArchiveStore) -> None:
        if result.outcome in (LEFT, UNCHANGED, TOO_LITTLE):
            self.left[result.outcome] += 1
            return
        self.written += 1
        self.before += result.bytes_before
        self.after += result.bytes_after
        self.extra += result.bytes_after + (archive.size(sidecar_name(result.file)) or 0)


def recompress_crawls(
    names: Sequence[str],
    to: CompressionChoice,
    configuration: Configuration,
    runner: JobRunner | None,
    console: Console,
    *,
    plan: bool,
    of_all: bool,
    again: bool,
    min_saving: float,
) -> Exit:
    """Rewrite the files of crawls, or say what that would save; `runner` has jobs write them."""
    summary, only_says = _Sum(), plan or of_all
    with _opened(configuration, names) as stores, ExitStack() as shown:
        crawls = CrawlsToRecompress(stores, names, to)
        for collection, form in crawls.forms.items():
            console.say(_about(collection, form))
        advance = no_advance
        if runner is None:  # each job has a bar of its own
            advance = shown.enter_context(console.progress("zstd", total=crawls.size)).advance
        for collection, result in crawls.recompress(
            plan=only_says,
            of_all=of_all,
            again=again,
            min_saving=min_saving,
            threads=configuration.jobs,
            tasks_of=None if runner is None else _tasks_of(runner, console),
            advance=advance,
        ):
            if isinstance(result, PinakesError):
                console.warn(result)
                summary.problems += 1
                continue
            summary.add(result, stores.archive)
            if result.outcome == LEFT and not console.json:
                continue
            say_findings(result, result.file, console)
            summary.problems += bool(result.stretches)
            kept = crawls.forms[collection].dictionary
            values = {**result.as_json(), "collection": collection, "dictionary": kept}
            console.result(values, text=sentence(result))
    _say_sum(summary, console, min_saving, only_says=only_says)
    return Exit.SOME_FAILED if summary.problems else Exit.DONE


def _tasks_of(runner: JobRunner, console: Console) -> TasksOf:
    from pinakes.mr_jobs.recompress_tasks import RecompressTasks  # needs the extra

    def tasks(act: Act, form: StoredForm) -> Tasks[ToRecompress, Recompression]:
        return RecompressTasks(
            act=act,
            form=form,
            configuration=runner.configuration,
            runner=runner.name,
            options=runner.options,
            around=lambda _: job_shown("zstd", act, runner.configuration, console),
        )

    return tasks


@contextmanager
def _opened(configuration: Configuration, names: Sequence[str]) -> Iterator[Stores]:
    with ExitStack() as stack:
        try:
            stores = stack.enter_context(open_stores(configuration))
        except ConfigError as error:
            files = [name for name in names if is_at(name)]
            if not files:
                raise
            raise ConfigError(f"{files[0]}: for files give -o DIR; {error.message}") from error
        yield stores


def _about(collection: str, form: StoredForm) -> str:
    text = f"{collection}: to {_NAMES[form.compression]}"
    if form.compression != ZSTD:
        return text
    if form.dictionary is not None:
        return f"{text}, with the dictionary that it keeps, {form.dictionary}"
    return f"{text}, {'with the dictionary given' if form.form.start else 'without a dictionary'}"


def _say_sum(summary: _Sum, console: Console, min_saving: float, *, only_says: bool) -> None:
    parts = [f"{count_of(summary.written, 'file')} {'to write' if only_says else 'written'}"]
    if left := summary.left[LEFT]:
        parts.append(f"{left:,} in this compression already, left (--again rewrites them)")
    if left := summary.left[UNCHANGED]:
        parts.append(f"{left:,} that would be as they are, left")
    if left := summary.left[TOO_LITTLE]:
        parts.append(too_little(left, min_saving))
    if summary.problems:
        parts.append(f"{summary.problems:,} that stay or have findings, named above")
    if summary.written:
        parts.append(sizes(summary.before, summary.after))
    console.say("; ".join(parts))
    if summary.written:
        verb = "would take" if only_says else "take"
        console.say(
            f"until `pinakes generations --drop` deletes the old generations, the new ones {verb} "
            f"{summary.extra:,} bytes beside them"
        )
