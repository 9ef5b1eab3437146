"""The archive files that a verb was given: by path or URL, in folders and packages."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator

from pinakes.archive_store.located import is_folder_at, is_package_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.errors import InputRefused, PinakesError
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.warc.file_names import base_name


class GivenFiles:
    """Every archive file, and the packages that some are in; `failed` is whether a folder or
    package could not be read."""

    def __init__(
        self, names: Iterable[str], console: Console, *, members_are_read: bool = False
    ) -> None:
        """What cannot be read is named, and so is a folder or package with no archive file.

        `members_are_read`: the verb reads all members of a package, so none of them is skipped.
        """
        self.failed = False
        self.names: list[str] = []
        self.packages: list[str] = []
        self._console = console
        for name in list(names):  # all, before a folder is walked: a later one may be no path
            left = LeftOut(members_are_read=members_are_read)
            found = [path for path, _ in iter_paths(name, self.warn, console, left)]
            self.packages += left.packages
            if not found:
                self.warn(InputRefused("no archive files in it", file=name))
            self.names += found

    def warn(self, problem: PinakesError) -> None:
        """Name a problem; the verb ends with 3."""
        self._console.warn(problem)
        self.failed = True

    def exit(self, rest: Exit) -> Exit:
        """Of the verb, whose other work ended so."""
        return Exit.SOME_FAILED if self.failed else rest


def archive_files_of(arguments: argparse.Namespace, console: Console) -> GivenFiles:
    """What `options.add_inputs` has added, for a verb that takes archive files alone."""
    return GivenFiles(inputs_of(arguments), console)


def iter_paths(
    name: str,
    warn: Callable[[PinakesError], None],
    console: Console,
    left: LeftOut | None = None,
) -> Iterator[tuple[str, str]]:
    """A file, or the archive files in a folder or package; each also by its name below it.

    `left` gets what is skipped, which is told of besides.
    """
    if not (is_folder_at(name) or is_package_at(name)):
        yield name, base_name(name)
        return
    left = LeftOut() if left is None else left
    try:
        yield from iter_inputs([name], left)
    except InputRefused as refusal:
        warn(refusal)
    say_left(left, warn, console)


def say_left(left: LeftOut, warn: Callable[[PinakesError], None], console: Console) -> None:
    """Tell of all that was skipped; what should not be is a warning."""
    for refused in left.refused:
        warn(refused)
    for place in left.unfinished:
        warn(InputRefused("not finished: skipped", file=place))
    say_others(left, console)


def say_others(left: LeftOut, console: Console) -> None:
    """Say how many files were skipped, and name the first."""
    if not left.others:
        return
    more = ", …" if left.others > len(left.examples) else ""
    names = ", ".join(map(printable, left.examples))
    why = "not named as archive files, or behind links to folders"
    console.say(f"{count_of(left.others, 'file')} skipped ({why}): {names}{more}")
