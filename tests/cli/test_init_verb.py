"""What `pinakes init` says of regions, without servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from warc_sets import Rec, member

from pinakes.cli import main


@pytest.mark.parametrize(
    ("done", "sampled", "told"),
    [
        (["made captures:m, versions 10"], False, True),
        (["made captures:m, versions 10"], True, False),
        (["changed captures:m, versions 10"], False, False),
        ([], False, False),
    ],
    ids=["new", "new, by a sample", "upgraded", "as it was"],
)
def test_one_region_a_table_is_said(
    done: list[str],
    sampled: bool,
    told: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("pinakes.cli.verbs.init.create_stores", lambda *_, **__: done)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pinakes.toml").write_text(
        'profile = "cluster"\nhbase = "127.0.0.1:9"\nhdfs = "hdfs://127.0.0.1:9/archive"\n'
    )
    records = [Rec(uri=f"http://example.org/{n}").raw(n) for n in range(40)]
    (tmp_path / "sample.warc.gz").write_bytes(b"".join(map(member, records)))
    options = ["--sample", "sample.warc.gz", "--regions", "4"] if sampled else []
    assert main(["init", *options]) == 0
    assert ("each new table has one region" in capsys.readouterr().err) == told
