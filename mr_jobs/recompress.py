"""Files to files in another compression, each by one map: `pinakes zstd` as a job.

    python -m pinakes.mr_jobs.recompress -r inline|local|hadoop --output-dir DIR
        --to FOLDER --form FORM LIST...

Writes a line per file, as `pinakes zstd compress --json` and `decompress --json` print it.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from zstandard import ZstdCompressionDict

from pinakes.errors import DigestMismatch
from pinakes.mr_jobs.new_file_job import NewFile, NewFileJob
from pinakes.rewrite.member_forms import GZIP, PLAIN, MemberForm, zstd_form
from pinakes.rewrite.recompress_stored import recompress_stored
from pinakes.rewrite.stored_target import StoredTarget
from pinakes.warc.opening import open_source
from pinakes.warc.source import Source
from pinakes.warc.zstd_dictionary import dictionary_in

DICTIONARY = "--dictionary"
_ZSTD = "zstd"
_OTHERS = {"gzip": GZIP, "plain": PLAIN}


def zstd_options(level: int, dictionary: bytes | None) -> list[str]:
    """The options that say how to compress; the dictionary itself goes with `DICTIONARY`."""
    known = ["--dictionary-sha256", sha256(dictionary).hexdigest()] if dictionary else []
    return ["--form", _ZSTD, "--level", str(level), *known]


def other_options(*, plain: bool) -> list[str]:
    """The same without Zstandard."""
    return ["--form", "plain" if plain else "gzip"]


class RecompressJob(NewFileJob):
    """See the module."""

    TARGET = "target"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--form", choices=(_ZSTD, *_OTHERS), default=_ZSTD)
        self.add_passthru_arg("--level", type=int, default=9, help="of Zstandard, 1 to 22")
        self.add_file_arg(DICTIONARY, help="of Zstandard, as `zstd --train` makes one")
        self.add_passthru_arg("--dictionary-sha256", help="of that file, in hex: needed with it")

    def mapper_init(self) -> None:
        super().mapper_init()
        self._form = self._form_of_options()

    def _form_of_options(self) -> MemberForm:
        if self.options.form != _ZSTD:
            return _OTHERS[self.options.form]
        dictionary: ZstdCompressionDict | None = None
        found = None
        if self.options.dictionary is not None:
            with open_source(Path(self.options.dictionary)) as source:
                found = sha256(source.view(0, source.size)).hexdigest()
                dictionary = dictionary_in(source)
        if found != self.options.dictionary_sha256:
            raise DigestMismatch(
                f"the dictionary of this job has SHA-256 {self.options.dictionary_sha256}, "
                f"what came with it {found}",
                file=self.options.dictionary,
            )
        return zstd_form(self.options.level, dictionary)

    def make(self, source: Source, to: StoredTarget) -> NewFile:
        def reads(written: Source) -> None:
            self.task.heartbeat.watch(lambda: source.position + written.position)

        result = recompress_stored(source, self._form, to, reads=reads)
        self.task.count("bytes before", result.bytes_before)
        self.task.count("bytes after", result.bytes_after)
        return result


if __name__ == "__main__":
    RecompressJob.run()
