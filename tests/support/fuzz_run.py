"""Fuzz the reader for a while: `python tests/support/fuzz_run.py --seconds 60`.

Exit: 0 nothing found; 1 an input broke an invariant (kept, and its path printed); 2 no
atheris here (it is for Linux on x86-64): said loudly, and an error only where
PINAKES_REQUIRE_SHARED=1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from fuzz_corpus import DICTIONARY, write_corpus

HERE = Path(__file__).resolve().parent
MEMORY_LIMIT_MB = 1024
LARGEST_INPUT_BYTES = 16 << 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if find_spec("atheris") is None:
        print("!! NOT FUZZED: atheris cannot be imported on this Python", file=sys.stderr)
        return 2 if os.environ.get("PINAKES_REQUIRE_SHARED") == "1" else 0
    seconds = options.seconds or round(options.minutes * 60) or 60
    with tempfile.TemporaryDirectory(prefix="pinakes-fuzz-") as folder:
        return fuzz(Path(folder), seconds, options.findings.resolve())


def fuzz(folder: Path, seconds: int, findings: Path) -> int:
    corpus = folder / "corpus"
    corpus.mkdir()
    count = write_corpus(corpus)
    (folder / "dictionary").write_text(DICTIONARY)
    print(f"fuzzing the reader for {seconds} s from {count} seeds", flush=True)
    findings.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        str(HERE / "fuzz_reader.py"),
        str(corpus),
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST_INPUT_BYTES}",
        f"-rss_limit_mb={MEMORY_LIMIT_MB}",
        "-timeout=60",
        f"-dict={folder / 'dictionary'}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    code = subprocess.run(command, check=False).returncode
    kept = sorted(findings.iterdir())
    if code or kept:
        print(f"!! FOUND (exit {code}): {[str(path) for path in kept]}", file=sys.stderr)
        print("replay: python tests/support/fuzz_reader.py FILE; then a test in tests/warc")
        return 1
    findings.rmdir()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
