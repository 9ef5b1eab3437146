"""`pinakes zstd compress` and `decompress` of crawls: their files' next generations."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.acts.waves import Tasks
from pinakes.archive_store.located import is_at
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import crawls_named
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import configuration_of, inputs_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.runner_options import JobRunner
from pinakes.cli.frame.store_jobs import job_shown
from pinakes.cli.verbs.zstd_convert import (
    dictionary_of,
    min_saving_of,
    sentence,
    sizes,
    too_little,
)
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import ConfigError, PinakesError
from pinakes.profile import Stores, open_stores
from pinakes.recompression.forms import (
    IN_GZIP,
    UNCOMPRESSED,
    StoredForm,
    in_zstd,
    in_zstd_as_kept,
)
from pinakes.recompression.stored import (
    LEFT,
    Result,
    StoredRecompressor,
    TasksOf,
    ToRecompress,
)
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.rewrite.recompress_file import TOO_LITTLE, Recompression
from pinakes.row_store.port import RowStore
from pinakes.warc.compression.gzip_members import NAME as GZIP
from pinakes.warc.compression.zstd_frames import NAME as ZSTD
from pinakes.warc.file_progress import Advance, no_advance

FormMaker = Callable[[ArchiveStore, str], StoredForm]
"""The form for the files of a collection."""
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


def run(arguments: argparse.Namespace, console: Console, runner: JobRunner | None) -> Exit:
    """Write the files of crawls anew, or say what that would save; `runner` has jobs write them."""
    names = list(inputs_of(arguments))
    configuration = configuration_of(arguments)
    form_of = form_maker_of(arguments)
    only_says = arguments.plan or arguments.dry_run
    min_saving = min_saving_of(arguments)
    summary = _Sum()
    with _opened(configuration, names) as stores:
        crawls = _crawls_of(stores.rows, names)
        forms = {collection: form_of(stores.archive, collection) for collection in crawls}
        for collection, form in forms.items():
            console.say(_about(collection, form))
        with _progress(stores, crawls, runner, console) as advance:
            work = StoredRecompressor(
                stores.rows,
                stores.archive,
                Actor(),
                again=arguments.again,
                min_saving=min_saving,
                threads=configuration.jobs,
                tasks_of=None if runner is None else _tasks_of(runner, console),
                advance=advance,
            )
            for collection, of_it in crawls.items():
                form = forms[collection]
                results = (
                    work.plan(of_it, form, of_all=arguments.dry_run)
                    if only_says
                    else work.recompress(collection, of_it, form)
                )
                _tell(results, collection, form, stores.archive, summary, console)
    _say_sum(summary, console, min_saving, only_says=only_says)
    return Exit.SOME_FAILED if summary.problems else Exit.DONE


@contextmanager
def _progress(
    stores: Stores,
    crawls: Mapping[str, Iterable[str]],
    runner: JobRunner | None,
    console: Console,
) -> Iterator[Advance]:
    """A bar over all bytes; each job has one of its own."""
    if runner is not None:
        yield no_advance
        return
    with console.progress("zstd", total=_size_of(stores, crawls)) as progress:
        yield progress.advance


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


def given_form_of(arguments: argparse.Namespace) -> StoredForm:
    """What is asked for; `Raises` ConfigError for a level or dictionary that cannot be used."""
    if arguments.action == "decompress":
        return UNCOMPRESSED if arguments.plain else IN_GZIP
    return in_zstd(arguments.level, dictionary_of(arguments))


def form_maker_of(arguments: argparse.Namespace) -> FormMaker:
    """The same, but with the dictionary that a collection keeps where none is given."""
    given = given_form_of(arguments)
    if arguments.action == "decompress" or arguments.dictionary is not None:
        return lambda archive, collection: given
    return lambda archive, collection: in_zstd_as_kept(archive, collection, arguments.level)


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


def _crawls_of(rows: RowStore, names: Sequence[str]) -> dict[str, list[str]]:
    """The crawls of these names, or in collections of these names, by collection.

    Raises ConfigError for what is neither, or both.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        some = crawls_named(rows, name)
        if not some:
            hint = "; for files give -o DIR" if is_at(name) else ""
            raise ConfigError(f"{name}: no crawl or collection of this name{hint}")
        for crawl in some:
            found[crawl.facts.collection].add(crawl.crawl)
    return {collection: sorted(found[collection]) for collection in sorted(found)}


def _size_of(stores: Stores, crawls: Mapping[str, Iterable[str]]) -> int:
    return sum(
        entry.facts.size
        for some in crawls.values()
        for crawl in some
        for entry in scan_entries(stores.rows, crawl)
        if entry.facts is not None
    )


def _about(collection: str, form: StoredForm) -> str:
    text = f"{collection}: to {_NAMES[form.compression]}"
    if form.compression != ZSTD:
        return text
    if form.dictionary is not None:
        return f"{text}, with the dictionary that it keeps, {form.dictionary}"
    return f"{text}, {'with the dictionary given' if form.form.start else 'without a dictionary'}"


def _tell(
    results: Iterable[Result],
    collection: str,
    form: StoredForm,
    archive: ArchiveStore,
    summary: _Sum,
    console: Console,
) -> None:
    for result in results:
        if isinstance(result, PinakesError):
            console.warn(result)
            summary.problems += 1
            continue
        summary.add(result, archive)
        if result.outcome == LEFT and not console.json:
            continue
        for finding in (*result.stretches, *result.findings, *result.left_out):
            console.warn(PinakesError(finding.message, file=result.file, offset=finding.offset))
        summary.problems += bool(result.stretches)
        told = {**result.as_json(), "collection": collection, "dictionary": form.dictionary}
        console.result(told, text=sentence(result))


def _say_sum(summary: _Sum, console: Console, min_saving: float, *, only_says: bool) -> None:
    parts = [f"{count_of(summary.written, 'file')} {'to write' if only_says else 'written'}"]
    if left := summary.left[LEFT]:
        parts.append(f"{left:,} in this compression already, left (--again writes them anew)")
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
            f"until `pinakes dedupe --drop-old` deletes the old generations, the new ones {verb} "
            f"{summary.extra:,} bytes beside them"
        )
