"""What docs/convert.md promises: the ARC comes back without Pinakes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from arc_builders import arc, arc_gz, arc_record, warc_of


@pytest.mark.parametrize("make", [arc, arc_gz], ids=["plain", "gzip"])
def test_the_recipe_gives_the_arc_back(repository: Path, tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    text = (repository / "docs" / "convert.md").read_text("utf-8")
    (recipe,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    records = [arc_record(b"http://a/b c%20\xff"), arc_record(b"dns:x", b"\r\n")]
    warc = tmp_path / "x.warc"
    warc.write_bytes(warc_of(make(*records)))
    command = [sys.executable, "-I", "-c", recipe, str(warc)]
    done = subprocess.run(command, check=True, capture_output=True)
    assert done.stdout == arc(*records)
