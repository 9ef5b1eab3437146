"""The form in which a job writes archive files, as options of its tasks."""

from __future__ import annotations

from argparse import Namespace
from hashlib import sha256
from pathlib import Path

from zstandard import ZstdCompressionDict

from pinakes.errors import DigestMismatch
from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.recompression.forms import IN_GZIP, UNCOMPRESSED, StoredForm, in_zstd
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.opening import open_source

DICTIONARY = "--dictionary"
_ZSTD = "zstd"
_OTHERS = {"gzip": IN_GZIP, "plain": UNCOMPRESSED}


def form_options(form: StoredForm) -> list[str]:
    """The options that say how to write; a dictionary itself goes with `form_files`."""
    if form.level is None:
        return ["--form", "plain" if form.compression is None else "gzip"]
    known = form.dictionary_content
    named = ["--dictionary-sha256", sha256(known).hexdigest()] if known is not None else []
    return ["--form", _ZSTD, "--level", str(form.level), *named]


def form_files(form: StoredForm) -> dict[str, bytes]:
    """What each task gets as a file, by the option that says where."""
    return {} if form.dictionary_content is None else {DICTIONARY: form.dictionary_content}


def add_form_options(job: ArchiveJob) -> None:
    """Take these options; for `configure_args`."""
    job.add_passthru_arg("--form", choices=(_ZSTD, *_OTHERS), default=_ZSTD)
    job.add_passthru_arg("--level", type=int, default=9, help="of Zstandard, 1 to 22")
    job.add_file_arg(DICTIONARY, help="of Zstandard, as `zstd --train` makes one")
    job.add_passthru_arg("--dictionary-sha256", help="of that file, in hex: needed with it")


def form_of(options: Namespace) -> StoredForm:
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
    return in_zstd(options.level, dictionary)
