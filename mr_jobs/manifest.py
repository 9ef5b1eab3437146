"""The manifest of archive files, as a job without a reduce step: each file is read by one map.

    python -m pinakes.mr_jobs.manifest -r inline|local|hadoop LIST...

LIST has the name of an archive file in each line; the output lines are those of `pinakes manifest`,
with files in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from pinakes.index.manifest_file import ALGORITHMS, ManifestForm, iter_manifest_pieces
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS, ArchiveJob


def form_options(form: ManifestForm) -> list[str]:
    """The options that say what to write of each record."""
    flags = {
        "--plain": form.plain,
        "--records": form.records,
        "--trust-declared": form.trust_declared,
    }
    return [
        *(flag for flag, is_wanted in flags.items() if is_wanted),
        *("--digest", form.algorithm),
        *("--empty", "keep" if form.keep_empty else "skip"),
        *("--now", form.now.isoformat()),
    ]


class ManifestJob(ArchiveJob):
    """See the module."""

    JOBCONF = LINES_OF_MAPS

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--plain", action="store_true", help="the columns of WARCsum")
        self.add_passthru_arg("--records", action="store_true", help="a line for every record")
        self.add_passthru_arg("--digest", choices=ALGORITHMS, default="sha1")
        self.add_passthru_arg("--trust-declared", action="store_true")
        self.add_passthru_arg("--empty", choices=("skip", "keep"), default="keep")
        self.add_passthru_arg("--now", help="later dates are no dates of captures (ISO 8601)")

    def mapper_init(self) -> None:
        super().mapper_init()
        options = self.options
        now = datetime.fromisoformat(options.now) if options.now else datetime.now(timezone.utc)
        self._form = ManifestForm(
            algorithm=options.digest,
            plain=options.plain,
            records=options.records,
            as_json=False,
            trust_declared=options.trust_declared,
            keep_empty=options.empty == "keep",
            now=now,
        )

    def mapper(self, _: None, name: bytes) -> Iterator[tuple[None, bytes]]:
        file = name.decode("utf-8", "surrogateescape")
        for piece in iter_manifest_pieces(self.task.opened(file), file, self._form):
            if isinstance(piece, bytes):
                yield None, piece[:-1]  # the protocol writes the last line's end
            else:
                self.task.find(piece)
        self.task.count(FILES)


if __name__ == "__main__":
    ManifestJob.run()
