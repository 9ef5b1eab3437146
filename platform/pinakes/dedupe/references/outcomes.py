"""What becomes of a reference, given the full records that it may mean.  Pure."""

from __future__ import annotations

from typing import NamedTuple

KEPT, REWRITTEN, RESTORED, CHECKED = "kept", "rewritten", "restored", "checked"
"""A revisit that stays as it was; one of ours that took a full record's place; one that
was turned back, and whose reference must have led to the body that is there now; one of
which nothing is known but itself, and that must resolve all the same."""

WHOLE, LIKELY, UNLIKE = "whole", "likely", "unlike"
DAMAGED, INDEXED = "damaged", "indexed"
"""What is known of the bytes of a full record: read in this run, they are those that it declares;
they are so without transfer- or content-coding, or it declares what is no digest; they are not, so
that its writer hashed something else, or they are others now; they are damaged; or nothing, since
only an index names it."""
UNPROVEN = frozenset({LIKELY, UNLIKE})
"""Of such a record a revisit of ours is proven by what it replaced.  In place of an outcome: it is
still to be proven."""


OUTCOMES = {
    "resolves": "the original is there, whole, and not later",
    "missing": "the original is not in this set, and was not before",
    "dangling": "the original is not in this set: give all files of the collection",
    "damaged": "the original is damaged: its bytes are not all there, or have not its digest",
    "indexed": "an index alone names the original: its bytes were not read",
    "gone": "the original was there before, and is not any more",
    "other-body": "a record is there, but its body is another one",
    "other-record": "the record that is there has another record id",
    "other-digest": "the revisit does not carry its original's digest",
    "itself": "the reference names the revisit's own URI and second",
    "later": "the original is a later capture",
    "unnamed": "the revisit names no original: no URI and date, no record id, no digest",
    "ambiguous": "two records of that URI and second have unequal bodies",
}
HARMLESS = frozenset({"resolves", "missing"})


class Full(NamedTuple):
    """A full record: `declared` is its digest in our spelling, `written` as looked up by.

    `body` is the SHA-256 of its stored body; `stays` is 0 where it is a revisit now.  `proof` is
    asked of those alone to which revisits of `CHECKED` lead.
    """

    id: str | None
    second: str | None
    declared: str | None
    written: str | None
    body: str | None
    stays: int
    proof: str = WHOLE


class Revisit(NamedTuple):
    """A revisit, what it refers to, and the body that its original must have, if known."""

    ordinal: int
    kind: str
    uri: str | None
    second: str | None
    id: str | None
    declared: str | None
    written: str | None
    body: str | None
    own_uri: str | None
    own_second: str | None
    file: str
    is_ours: bool = False


def judge_at(revisit: Revisit, found: list[Full]) -> str | None:
    """Of a revisit that says where its original is; `found` are the full records there.

    None where any of that URI may have been meant: see `judge_others`.
    """
    if revisit.kind == CHECKED:
        return judge_alone(revisit, found)
    if revisit.kind != KEPT:
        return judge_ours(revisit, found)
    return _judge_meant(revisit, found, [])


def judge_ours(revisit: Revisit, found: list[Full]) -> str:
    """Of a revisit whose body is known; `found` are the full records where it refers to."""
    if (revisit.uri, revisit.second) == (revisit.own_uri, revisit.own_second):
        return "itself"
    standing = [full for full in found if full.stays]
    equal = [full for full in standing if full.body == revisit.body]
    if not equal:
        if found:
            return "other-body" if standing else "gone"
        return "dangling" if revisit.kind == REWRITTEN else "missing"
    if len({full.body for full in found}) > 1:
        return "ambiguous"
    return _judge_details(equal, revisit)


def _judge_details(equal: list[Full], revisit: Revisit) -> str:
    if (revisit.second or "~") > (revisit.own_second or ""):
        return "later"
    if revisit.id is not None and all(full.id != revisit.id for full in equal):
        return "other-record"
    if all(full.written != revisit.written for full in equal):
        return "other-digest"
    return "resolves"


def judge_alone(revisit: Revisit, found: list[Full]) -> str:
    """Of a revisit of which only its header is known, and that must resolve."""
    if (revisit.uri, revisit.second) == (revisit.own_uri, revisit.own_second):
        return "itself"
    if not found:
        return "dangling"
    if (revisit.second or "~") > (revisit.own_second or ""):
        return "later"
    return _judge_proof(revisit, found) or "other-digest"


def _judge_proof(revisit: Revisit, found: list[Full]) -> str | None:
    """By those of these records that have the revisit's digest; None where none has it.

    One that is damaged, or not what it declares, may have had it where it declares none, or one of
    another algorithm.  A revisit that we wrote repeats the digest that its original declares, also
    where that is wrong.  So it stays in `UNPROVEN` if only the digest fits.
    """
    proofs = {
        full.proof
        for full in found
        if full.declared == revisit.declared
        or (full.proof in {DAMAGED, UNLIKE} and cannot_tell(full, revisit))
    }
    if WHOLE in proofs:
        return "resolves"
    if revisit.is_ours and not proofs.isdisjoint(UNPROVEN):
        return LIKELY if LIKELY in proofs else UNLIKE
    if LIKELY in proofs:
        return "resolves"
    if not proofs.isdisjoint({DAMAGED, UNLIKE}):
        return DAMAGED
    return INDEXED if proofs else None


def judge_unplaced(revisit: Revisit, same_uri: list[Full]) -> str:
    """Of a revisit that names no URI; `same_uri` are the records of its own that it may mean.

    One that must resolve has to name its original somehow.  That there is an earlier record of its
    URI says nothing: it may be of another body.  What it names by id, `judge_by_id` judges.
    """
    if revisit.kind != CHECKED:
        return judge_others(revisit, same_uri, [])
    if revisit.id is None and revisit.written is None:
        return "unnamed"
    if revisit.declared is None:
        return "dangling"
    named = [full for full in same_uri if full.declared == revisit.declared]
    return _judge_proof(revisit, named) or "dangling"


def may_be_elsewhere(revisit: Revisit, outcome: str) -> bool:
    """Whether a revisit that names no URI may still mean a record of another."""
    if revisit.uri is not None:
        return False
    if revisit.kind == CHECKED:
        return outcome in {"dangling", DAMAGED, INDEXED}
    return outcome == "missing"


def judge_by_id(revisit: Revisit, found: list[Full]) -> str:
    """Of a revisit that names nothing but a record id; `found` are the full records that have it,
    of any URI."""
    standing = [full for full in found if full.stays]
    if not standing:
        return "gone"
    if revisit.kind != CHECKED:
        return "resolves"
    if all((full.second or "") > (revisit.own_second or "~") for full in standing):
        return "later"
    if revisit.declared is None:
        standing = [full._replace(declared=None) for full in standing]
    return _judge_proof(revisit, standing) or "other-digest"


def judge_others(revisit: Revisit, found: list[Full], same_uri: list[Full]) -> str:
    """Of a revisit that stays: is what it may have meant before still there?

    `same_uri` are records of the URI it refers to, at any second: replay tools fall
    back on those with its digest.  Where none is known to be meant, those count whose digests
    are of another algorithm: at the place that it names, else of its URI.
    """
    outcome = _judge_meant(revisit, found, same_uri)
    if outcome is not None:
        return outcome
    unknown = [full for full in found if cannot_tell(full, revisit)]
    if unknown:
        return "missing" if any(full.stays for full in unknown) else "gone"
    unknown = [full for full in same_uri if cannot_tell(full, revisit)]
    return "missing" if all(full.stays for full in unknown) else "gone"


def _judge_meant(revisit: Revisit, found: list[Full], same_uri: list[Full]) -> str | None:
    """By what is known to be meant; None where nothing is."""
    matching = [full for full in found if _may_be_meant(full, revisit)]
    matching += [full for full in same_uri if full.declared == revisit.declared]
    if not matching:
        return None
    return "resolves" if any(full.stays for full in matching) else "gone"


def _may_be_meant(full: Full, revisit: Revisit) -> bool:
    if revisit.id is not None and full.id == revisit.id:
        return True
    return None in (revisit.declared, full.declared) or full.declared == revisit.declared


def cannot_tell(full: Full, revisit: Revisit) -> bool:
    """Whether their digests say nothing of each other."""
    if full.declared is None or revisit.declared is None:
        return True
    return algorithm_of(full.declared) != algorithm_of(revisit.declared)


def algorithm_of(digest: str) -> str:
    """The label of a digest in our spelling."""
    return digest.partition(":")[0]
