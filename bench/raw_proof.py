"""The proof on raw bytes alone, as `refs` and `dedupe` ask it of each file that they write.

python -m bench.raw_proof BEFORE_DIR AFTER_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from pinakes.dedupe.validate.raw_proof import compare_raw
from pinakes.warc.opening import open_source


def main() -> None:
    """Compare each file of the first folder with its namesake; ends with 1 where one differs."""
    before, after = map(Path, sys.argv[1:])
    for path in sorted(before.iterdir()):
        with open_source(path) as one, open_source(after / path.name) as other:
            if (found := compare_raw(one, other).difference) is not None:
                raise SystemExit(f"{path}: {found.what}")


if __name__ == "__main__":
    main()
