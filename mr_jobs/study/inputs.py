"""The files that a study is of: those of its crawls, as the catalogue knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.errors import ConfigError
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.mr_jobs.study.index_row import IndexedFile
from pinakes.row_store.port import RowStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyInputs:
    """Stored files, in order of their names; `unfinished` land or leave, and are left out."""

    files: Sequence[IndexedFile]
    unfinished: Sequence[str]


def study_inputs(rows: RowStore, crawls: Sequence[str]) -> StudyInputs:
    """The files of these crawls, or of all where none is named.

    Raises:
        ConfigError: for a crawl that there is not, and where there is no file at all.
    """
    for crawl in crawls:
        if read_crawl(rows, crawl) is None:
            raise ConfigError(f"there is no crawl {crawl}: see `pinakes crawl list`")
    files: list[IndexedFile] = []
    unfinished: list[str] = []
    for name in dict.fromkeys(crawls) if crawls else (None,):
        for entry in scan_entries(rows, name):
            if entry.state is not None and entry.state.is_gone:
                continue
            if entry.state is not FileState.STORED or entry.facts is None:
                unfinished.append(entry.archive_file)
                continue
            files.append(
                IndexedFile(
                    archive_file=entry.archive_file,
                    crawl=crawl_of(entry.archive_file),
                    collection=entry.facts.collection,
                    stored=entry.stored_name,
                    captures=entry.facts.captures,
                )
            )
    if not files:
        raise ConfigError("there is no stored file to study: see `pinakes crawl list`")
    return StudyInputs(files=files, unfinished=unfinished)
