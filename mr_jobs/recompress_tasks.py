"""The work of `zstd compress` and `decompress` on crawls of a store, as a job for each wave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pinakes.mr_jobs.act_tasks import ActTasks
from pinakes.mr_jobs.driver.running import JobRequest
from pinakes.mr_jobs.form_options import form_files, form_options
from pinakes.mr_jobs.recompress_generations import RecompressGenerationsJob
from pinakes.recompression.forms import StoredForm
from pinakes.recompression.stored import ToRecompress
from pinakes.rewrite.recompress_file import Recompression


@dataclass(frozen=True, slots=True, kw_only=True)
class RecompressTasks(ActTasks[Recompression]):
    """`pinakes.acts.waves.Tasks` with jobs; `options` are the operator's."""

    form: StoredForm
    options: Sequence[str] = ()
    decode = Recompression.from_json

    def write(self, wave: str, files: Iterable[ToRecompress]) -> None:
        generations = {file.archive_file: file.entry.stored_name for file in files}
        self.run(
            JobRequest(
                job=RecompressGenerationsJob,
                names=list(generations),
                options=(*form_options(self.form), *self.options),
                stored=True,
                generations=generations,
                files=form_files(self.form),
                output=self.output_of(wave),
            )
        )
