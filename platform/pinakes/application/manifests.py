"""Manifests of archive files, written here or by several processes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pinakes.archive_store.located import open_place
from pinakes.index.manifest_file import ManifestForm, iter_manifest_pieces
from pinakes.warc.file_progress import Advance
from pinakes.warc.source import Source

from .events import Begin, OnProblem
from .inputs import ArchiveInputs
from .parts import iter_parts, rarely_collecting


def write_manifest(
    inputs: ArchiveInputs,
    names: Sequence[str],
    form: ManifestForm,
    out: BinaryIO,
    *,
    jobs: int,
    folder: Path | None,
    on_event: OnProblem,
    begin: Begin,
) -> None:
    """Write the manifest of files, in their order; `on_event` gets what was damaged or refused.

    `folder` is for what `jobs` processes write, None the system's.  Raises as `iter_parts`.
    """
    if jobs > 1 and len(names) > 1 and not inputs.is_piped:
        write = partial(_write_part_of_manifest, form)
        for part, problems in iter_parts(names, write, processes=jobs, folder=folder, begin=begin):
            for problem in problems:
                on_event(problem)
            with part.open("rb") as lines:
                shutil.copyfileobj(lines, out, 1 << 20)
        return
    advance = begin()
    with rarely_collecting():
        for name in names:
            _write_lines(inputs.opened(name), form, name, out, on_event, advance)


def _write_part_of_manifest(
    form: ManifestForm, name: str, out: BinaryIO, on_event: OnProblem, advance: Advance
) -> None:
    _write_lines(open_place(name), form, name, out, on_event, advance)


def _write_lines(
    opened: AbstractContextManager[Source],
    form: ManifestForm,
    name: str,
    out: BinaryIO,
    on_event: OnProblem,
    advance: Advance,
) -> None:
    for piece in iter_manifest_pieces(opened, name, form, advance):
        if isinstance(piece, bytes):
            out.write(piece)
        else:
            on_event(piece)
