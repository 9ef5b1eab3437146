"""The work of `zstd compress` and `decompress` on crawls of a store, as a job for each wave.

.landing/ACT/WAVE/out     by recompress_generations: one outcome per file; `_written/…`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from pinakes.acts.act import Act
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import FileEntry
from pinakes.config import Configuration
from pinakes.mr_jobs.archive_job import WRITTEN
from pinakes.mr_jobs.driver.orphans import end_orphans
from pinakes.mr_jobs.driver.running import JobRequest, run_job
from pinakes.mr_jobs.form_options import DICTIONARY, other_options, zstd_options
from pinakes.mr_jobs.recompress_generations import RecompressGenerationsJob, text_outcome
from pinakes.mr_jobs.writing_job import tags
from pinakes.profile import open_folder
from pinakes.recompression.forms import StoredForm
from pinakes.recompression.tasks import Outcome


class RecompressTasks:
    """`pinakes.recompression.tasks.Tasks` with jobs."""

    def __init__(
        self,
        archive: ArchiveStore,
        configuration: Configuration,
        runner: str,
        *,
        options: Sequence[str] = (),
        around: Callable[[Act], AbstractContextManager[Callable[[float], None]]],
    ) -> None:
        """`runner` is `inline`, `local` or `hadoop`; `options` are the operator's.

        `around(act)` is entered during each job; the function it yields is called with the
        progress.
        """
        self._archive = archive
        self._configuration = configuration
        self._runner = runner
        self._options = options
        self._around = around

    def end_orphans(self, act: str) -> None:
        if self._runner == "hadoop":
            end_orphans(act, self._configuration)

    def write(
        self, act: Act, wave: str, entries: Sequence[FileEntry], form: StoredForm
    ) -> Iterator[Outcome]:
        output = f"{self._archive.folder_aside(act.name)}/{wave}/out"
        dictionary = form.dictionary_content
        request = JobRequest(
            job=RecompressGenerationsJob,
            names=[entry.archive_file for entry in entries],
            options=(*tags(act.name, self._runner), *_form_options(form), *self._options),
            stored=True,
            generations={entry.archive_file: entry.stored_name for entry in entries},
            files={} if dictionary is None else {DICTIONARY: dictionary},
            output=output,
        )
        with self._around(act) as on_percent:
            run_job(request, self._runner, self._configuration, None, on_percent=on_percent)
        return self._outcomes(output, f"{wave}/out/{WRITTEN}")

    def _outcomes(self, output: str, folder: str) -> Iterator[Outcome]:
        with open_folder(output, self._configuration) as opened:
            for stored in opened.list():
                if stored.name.startswith("part-"):
                    with opened.open(stored.name) as file:
                        for line in file:
                            yield text_outcome(line, folder)


def _form_options(form: StoredForm) -> list[str]:
    if form.level is not None:
        return zstd_options(form.level, form.dictionary_content)
    return other_options(plain=form.compression is None)
