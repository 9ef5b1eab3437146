"""All archives of the shared data: no crash, and differences from jwarc explained."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checking import check_paths

from pinakes.conformance.check import ConformanceFinding
from pinakes.conformance.rules import Severity
from pinakes.conformance.table import RULES

Checked = list[tuple[dict[str, Any], list[ConformanceFinding]]]
DIGEST_CODES = ("payload-digest-wrong", "payload-digest-framed", "payload-digest-decoded")
# jwarc refuses what the standard does not speak of: HTTP messages that are none, and
# uncommon payloads; in ARC files and WARC/0.17 it finds the same.
ONLY_JWARC = {
    "good.warc.gz.open": "HTTP",
    "single-record.warc.gz.open": "HTTP",
    "skip-non-open.warc.gz": "HTTP",
    "frogTest.warc": "HTTP",
    "example-warcinfo-metadata.warc": "a false Content-Encoding",
}


@pytest.fixture(scope="module")
def checked(shared_data: Path) -> Checked:
    """Every WARC and ARC of the manifest, checked by itself."""
    lines = (shared_data / "archives" / "manifest.jsonl").read_text("utf-8").splitlines()
    described = [json.loads(line) for line in lines]
    return [
        (facts, check_paths(shared_data / "archives" / facts["file"]))
        for facts in described
        if facts["kind"] in ("warc", "arc")
    ]


def test_every_archive_is_checked_and_every_finding_is_a_rule(checked: Checked) -> None:
    assert len(checked) > 100
    for facts, findings in checked:
        for finding in findings:
            rule = RULES[finding.code]
            assert finding.severity is rule.severity
            assert 0 <= finding.offset <= facts["size"], str(finding)


def test_versions_are_cited_that_the_file_has(checked: Checked) -> None:
    for facts, findings in checked:
        cited = {f.clause.split(" §")[0] for f in findings if not f.clause.startswith("as ")}
        assert {f"WARC/{version}" for version in cited} <= set(facts.get("versions", [])) | {
            "WARC/1.0"
        }, facts["file"]


def counted(findings: list[ConformanceFinding], *codes: str) -> int:
    return sum(finding.code in codes for finding in findings)


def readable(checked: Checked) -> Iterator[tuple[dict[str, Any], list[ConformanceFinding]]]:
    return ((facts, found) for facts, found in checked if facts["readers_agree"])


def test_digests_are_judged_as_the_manifest_judges_them(checked: Checked) -> None:
    compared = 0
    for facts, findings in readable(checked):
        by_offset = {f.offset: f.code for f in findings if f.code in DIGEST_CODES}
        for capture in facts["expected"]["captures"]:
            matches = capture.get("declared_matches")
            if matches is None or capture["type"] == "revisit" or capture.get("dechunk_error"):
                continue
            if "segment" in facts["file"]:
                continue  # a segment's payload digest is that of the whole
            if capture["type"] == "response" and capture["payload_sha1"] == capture["block_sha1"]:
                continue  # warcio sees no HTTP message where the URI is not http
            compared += 1
            code = by_offset.get(capture["offset"])
            where = f"{facts['file']}:{capture['offset']}"
            if not matches and capture["declared_payload_digest"].count(":") == 1:
                known = "declared" if code is None else code
                assert known in ("payload-digest-wrong", "declared"), where
            elif "dechunked" in matches:
                assert code is None, where
            elif "raw" in matches:
                chunked = capture.get("payload_sha1_dechunked") is not None
                assert code == ("payload-digest-framed" if chunked else None), where
    assert compared > 500


def test_block_digests_are_judged_as_the_manifest_judges_them(checked: Checked) -> None:
    for facts, findings in readable(checked):
        # A value that is no digest is wrong to the manifest, and of the wrong form to us.
        codes = ("block-digest-wrong", "block-digest-syntax")
        wrong = {f.offset for f in findings if f.code in codes}
        if counted(findings, "record-truncated", "gzip-damaged"):
            continue  # what is cut off is not verified
        for capture in facts["expected"]["captures"]:
            if "block_digest_ok" in capture:
                assert (capture["offset"] not in wrong) is capture["block_digest_ok"], facts["file"]


def jwarc_of(facts: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = facts["readers"].get("jwarc-0.36.0") or {}
    return found


def test_what_jwarc_refuses_is_refused(checked: Checked) -> None:
    refused = 0
    for facts, findings in checked:
        if jwarc_of(facts).get("validate_rc", "0") == "0":
            continue
        refused += 1
        serious = [f for f in findings if f.severity is Severity.ERROR or f.code in DIGEST_CODES]
        uncovered = counted(findings, "version-uncovered")
        name = Path(facts["file"]).name
        assert serious or uncovered or name in ONLY_JWARC, facts["file"]
    assert refused > 50


def test_where_jwarc_reads_on_digests_fail_alike(checked: Checked) -> None:
    compared = Counter[str]()
    for facts, findings in readable(checked):
        jwarc = jwarc_of(facts)
        if "payload_digest_fail" not in jwarc or "xception" in str(jwarc.get("error")):
            continue
        if facts["kind"] == "arc" or counted(findings, "version-uncovered"):
            continue
        compared["files"] += 1
        assert counted(findings, "block-digest-wrong") == jwarc["block_digest_fail"], facts["file"]
        if Path(facts["file"]).name == "missing-http.warc.gz":
            continue  # a response without a block, with a digest: jwarc skips it
        assert counted(findings, *DIGEST_CODES) == jwarc["payload_digest_fail"], facts["file"]
    assert compared["files"] > 50


@pytest.mark.parametrize("name", ["S1-zstd-decoded-digest", "S4-gzip-decoded-digest"])
def test_the_digest_of_a_decoded_body_is_known_in_each_coding(name: str, shared_data: Path) -> None:
    findings = check_paths(shared_data / "cases" / f"{name}.warc.gz")
    assert [f.code for f in findings if "digest" in f.code] == ["payload-digest-decoded"]
