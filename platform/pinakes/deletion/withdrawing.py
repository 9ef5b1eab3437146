"""Take-down in a store: provide for references, note, put tombstones, drop.

    lease ─▶ survey ─▶ references full again or re-pointed, in new generations
          ─▶ captures noted as withdrawn, and the files' bytes as not to land again
          ─▶ of each file: generation with tombstones, current ─▶ every other generation that
             holds the bytes deleted ─▶ lease released

Until all references are provided for, nothing is lost; from the notes on, no one is given what is
to go.  Killed anywhere, the same command completes it: what is done is seen in sidecars and rows,
and the act keeps its name and time, so tombstones are the same bytes.  Another take-down in
the collection completes an unfinished one first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import read_entries, release_claim, set_withdrawing
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.run_rows import FAILED
from pinakes.catalog.unknown_files import require_all_known
from pinakes.catalog.withdrawals import put_withdrawals, refuse_bytes
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import (
    ONE_FILE_ONLY,
    Conflict,
    PinakesError,
)
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.port import RowStore
from pinakes.warc.tombstone import Inscription

from .capture_references import ReferenceSurvey, survey_targets
from .changed_rows import settle_left
from .choices import Choice, choose
from .file_withdrawal import VERB, FileWithdrawer, holding_files, referring_files
from .last_copies import LastCopies
from .providing import provide_for
from .requests import GenerationToWithdraw, WithdrawalReport, WithdrawalRequest
from .targets import WithdrawalTarget, WithdrawalTargets, find_targets, require_all_found


class Withdrawer:
    """Takes captures down in one pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        *,
        software: str,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`software` is noted with the act; `at` is called after each step, with its name."""
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._software = software
        self._at = at
        self._proven = ProvenSidecars(archive)
        self._copies = LastCopies(rows, archive)

    def plan(self, request: WithdrawalRequest) -> Iterator[WithdrawalReport]:
        """What would be done, collection by collection; changes nothing, and takes no lease.

        Raises as `withdraw`, but for Conflict.
        """
        targets = self._targets_of(request)
        yield from _with_problems(self._planned(request, targets), targets)

    def _planned(
        self, request: WithdrawalRequest, targets: WithdrawalTargets
    ) -> list[WithdrawalReport]:
        """Where one of several is not complete, it is refused in the others, too."""
        reports = [
            self._planned_in(name, some, request)
            for name, some in sorted(targets.by_collection.items())
        ]
        refusing = [report.collection for report in reports if not report.is_complete]
        for report in reports:
            report.refused_in = tuple(name for name in refusing if name != report.collection)
        return reports

    def _planned_in(
        self, name: str, targets: Mapping[bytes, WithdrawalTarget], request: WithdrawalRequest
    ) -> WithdrawalReport:
        report = WithdrawalReport(name)
        try:
            collection = Collection(self._rows, self._archive, name)
            self._survey(collection, targets, request, report)
        except ONE_FILE_ONLY as problem:
            report.problems.append(problem)
        return report

    def _targets_of(self, request: WithdrawalRequest) -> WithdrawalTargets:
        targets = find_targets(self._rows, request.targets)
        if targets.problems and not targets.by_collection:
            raise targets.problems[0]
        targets.problems.extend(
            require_all_found(self._rows, self._archive, request.targets, targets)
        )
        return targets

    def withdraw(self, request: WithdrawalRequest) -> Iterator[WithdrawalReport]:
        """Take down what is asked for, collection by collection; if it has to be refused in one, do
        nothing in any.

        Where a take-down in a collection was not finished, that is done first, and reported.

        Raises:
            Conflict: another act works on a collection, or did not finish.
            ConfigError, InputRefused: see `find_targets`.
        """
        targets = self._targets_of(request)
        if len(targets.by_collection) > 1:
            planned = self._planned(request, targets)
            if not all(report.is_complete for report in planned):
                yield from _with_problems(planned, targets)
                return
        for name in sorted(targets.by_collection):
            doing = None
            while doing != request:
                act = Act.begin(self._rows, self._archive, self._actor, VERB, name, at=self._at)
                doing = self._request_of(act, request)
                of_this = find_targets(self._rows, doing.targets).by_collection.get(name, {})
                report = self._withdraw_in(act, doing, of_this)
                if doing == request:
                    report.problems += targets.problems
                    if report.is_complete and name == max(targets.by_collection):
                        report.problems += self._landed_meanwhile(request, targets)
                yield report
                if not report.is_complete:
                    break

    def _landed_meanwhile(
        self, request: WithdrawalRequest, before: WithdrawalTargets
    ) -> list[PinakesError]:
        """What was asked for, and has landed since it was looked for.

        A landing writes its rows before it asks whether its bytes are refused: so of two acts at
        once, one sees the other.
        """
        again = find_targets(self._rows, request.targets)
        files = {
            target.capture.facts.archive_file
            for name, targets in again.by_collection.items()
            for key, target in targets.items()
            if target.capture.withdrawal is None and key not in before.by_collection.get(name, {})
        }
        landed = [Conflict("landed since: run again", file=name) for name in sorted(files)]
        return [*again.problems, *landed]

    def _request_of(self, act: Act, request: WithdrawalRequest) -> WithdrawalRequest:
        """The request of the act that is resumed; else this one, noted."""
        resumed = act.noted() if act.is_resumed else None
        if resumed is not None:
            return WithdrawalRequest.from_json(resumed.arguments[0])
        act.note(software=self._software, arguments=(request.to_json(),))
        self._at("noted")
        return request

    def _withdraw_in(
        self, act: Act, request: WithdrawalRequest, targets: Mapping[bytes, WithdrawalTarget]
    ) -> WithdrawalReport:
        report = WithdrawalReport(act.collection, act=act.name)
        with act:
            try:
                self._execute(act, request, targets, report)
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)
                if not isinstance(problem, Conflict):
                    self._take_back(act, report)
            if report.is_to_go_on:
                act.leave()  # run again, it goes on
            elif not report.is_complete:
                act.conclude(FAILED)
        return report

    def _take_back(self, act: Act, report: WithdrawalReport) -> None:
        """Leave nothing of what could not be done, but what alone is whole."""
        try:
            settle_left(act, release=True)
        except ONE_FILE_ONLY as problem:
            report.problems.append(problem)
            act.leave()

    def _survey(
        self,
        collection: Collection,
        targets: Mapping[bytes, WithdrawalTarget],
        request: WithdrawalRequest,
        report: WithdrawalReport,
    ) -> tuple[ReferenceSurvey, Choice]:
        """What is concerned, and what becomes of references; noted in the report."""
        found = survey_targets(
            self._rows, collection, dict(targets), request.references, self._proven
        )
        for key, target in sorted(found.targets.items()):
            if target.capture.withdrawal is None:
                report.captures.append(key.decode("ascii"))
            else:
                report.already += 1
        report.unprovided = [
            (key.decode("ascii"), original.decode("ascii")) for key, original in found.unprovided
        ]
        report.files = [name for name in sorted(found.ordinals) if found.going(name)]
        entries = [collection.entries[name] for name in report.files]
        report.problems += self._copies.lost_with(
            collection, entries, lambda name, row: row.ordinal in found.going(name)
        )
        going = {
            stored
            for name, ordinals in found.ordinals.items()
            for stored in holding_files(self._rows, self._archive, name, ordinals)
        }
        for name in _rewritten(collection):
            going |= set(referring_files(self._rows, self._archive, name, found.targets))
        going |= {
            collection.entries[one.archive_file].stored_name for one in found.references.landed
        }
        report.generations = [
            GenerationToWithdraw(stored, self._archive.size(stored) or 0)
            for stored in sorted(going)
        ]
        choice = choose(
            self._rows, collection, found.references.all, lambda one: one.key in found.targets
        )
        report.promoted = [copy.key.decode("ascii") for copy in choice.promoted]
        report.repointed = [key.decode("ascii") for key in sorted(choice.repointed)]
        return found, choice

    def _execute(
        self,
        act: Act,
        request: WithdrawalRequest,
        targets: Mapping[bytes, WithdrawalTarget],
        report: WithdrawalReport,
    ) -> None:
        settle_left(act, release=True)
        require_all_known(self._rows, self._archive, act=act.name)
        collection = Collection(self._rows, self._archive, act.collection)
        found, choice = self._survey(collection, targets, request, report)
        if report.unprovided or report.problems:
            return
        provide_for(collection, found.references, choice, act)
        self._note(act, request, found)
        withdrawer = FileWithdrawer(act, Inscription(act.name, _date_of(act.time_ms)))
        for name in sorted(found.ordinals):
            try:
                report.records += withdrawer.withdraw(name, found.ordinals[name])
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)
        for name in _rewritten(collection):
            try:
                withdrawer.drop_referring(name, found.targets)
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)

    def _note(self, act: Act, request: WithdrawalRequest, found: ReferenceSurvey) -> None:
        """Note all records as withdrawn: from here on no reader is given one of them."""
        files = [name for name in sorted(found.ordinals) if found.going(name)]
        entries = read_entries(self._rows, files)
        refuse_bytes(self._rows, entries.values(), act.name, act.time_ms)
        self._at("bytes refused")
        of_file: dict[str, list[tuple[bytes, Withdrawal]]] = defaultdict(list)
        for key, target in found.targets.items():
            if target.capture.withdrawal is None:
                cell = Withdrawal(
                    act=act.name,
                    act_time_ms=act.time_ms,
                    reason=request.reason,
                    by=request.by,
                    asked=target.asked,
                )
                of_file[target.capture.facts.archive_file].append((key, cell))
        for name in sorted({*files, *of_file}):
            held = act.claim(name)
            if name in entries and (facts := entries[name].facts) is not None:
                going = found.going(name) | entries[name].withdrawing
                set_withdrawing(self._rows, held, facts, going)
                self._at("records noted")
            put_withdrawals(self._rows, of_file[name], act_time_ms=held.claim.act_time_ms)
            self._at("withdrawals noted")
            release_claim(self._rows, held)


def _with_problems(
    reports: Iterable[WithdrawalReport], targets: WithdrawalTargets
) -> Iterator[WithdrawalReport]:
    """These, each with what was found where it was looked for what is asked for."""
    for report in reports:
        report.problems += targets.problems
        yield report


def _rewritten(collection: Collection) -> list[str]:
    """The files that may have revisits of ours."""
    return [name for name, entry in sorted(collection.entries.items()) if entry.generation > 1]


def _date_of(act_time_ms: int) -> str:
    moment = datetime.fromtimestamp(act_time_ms / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
