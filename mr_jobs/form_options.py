"""The form in which a job writes archive files, as options of its tasks."""

from __future__ import annotations

from argparse import Namespace
from hashlib import sha256
from pathlib import Path

from zstandard import ZstdCompressionDict

from pinakes.errors import DigestMismatch
from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.rewrite.member_forms import GZIP, PLAIN, MemberForm, zstd_form
from pinakes.warc.opening import open_source
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


def add_form_options(job: ArchiveJob) -> None:
    """Take these options; for `configure_args`."""
    job.add_passthru_arg("--form", choices=(_ZSTD, *_OTHERS), default=_ZSTD)
    job.add_passthru_arg("--level", type=int, default=9, help="of Zstandard, 1 to 22")
    job.add_file_arg(DICTIONARY, help="of Zstandard, as `zstd --train` makes one")
    job.add_passthru_arg("--dictionary-sha256", help="of that file, in hex: needed with it")


def form_of(options: Namespace) -> MemberForm:
    """The form that they say; `Raises` DigestMismatch for another dictionary than was meant."""
    if options.form != _ZSTD:
        return _OTHERS[options.form]
    dictionary: ZstdCompressionDict | None = None
    found = None
    if options.dictionary is not None:
        with open_source(Path(options.dictionary)) as source:
            found = sha256(source.view(0, source.size)).hexdigest()
            dictionary = dictionary_in(source)
    if found != options.dictionary_sha256:
        raise DigestMismatch(
            f"the dictionary of this job has SHA-256 {options.dictionary_sha256}, "
            f"what came with it {found}",
            file=options.dictionary,
        )
    return zstd_form(options.level, dictionary)
