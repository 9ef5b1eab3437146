"""Which originals a crawl wants, by its dedupe policy."""

from __future__ import annotations

from pinakes.catalog.copies import Traits
from pinakes.catalog.originals import Wants
from pinakes.dedupe.decide.policy import DedupePolicies


def wants_of(
    policies: DedupePolicies, collection: str | None, crawl: str | None, *, now: str
) -> Wants | None:
    """What a crawl that captures now (14 digits) may refer to; None: by the collection's policy."""
    policy = policies.of(collection or "", crawl or "")
    if policy.wants_all:
        return None

    def wants(traits: Traits, has_url: bool) -> str | None:
        return policy.why_no_original(
            size=traits.size,
            media_type=traits.media_type,
            status=traits.status,
            second=traits.second,
            now=now,
            has_url=has_url,
        )

    return wants
