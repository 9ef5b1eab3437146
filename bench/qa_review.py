"""A review of many pairs by the keyboard in real Chromium: the machine's part of it.

    python -m bench.qa_review [--pairs 300] [--keys a] [--think 1] [--width 1280]

Makes a run of so many pairs with pictures of 1280 x 2600, starts `pinakes qa review`, and presses
`--keys` for each pair, after so many seconds as a person looks at it.  A pair's time is from the
first key until the next pair is shown and both its pictures are decoded and painted; the browser's
own clock takes it, in the page.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from bench.__main__ import commit, machine
from bench.cache import cache_dir
from bench.cases import pinakes
from bench.measure import run_step
from pinakes.qa.compare.arrays_extra import cv2, np
from pinakes.qa.results import PAIRS, JudgedPair, PageView, PairResult, Verdict, encode_pair
from pinakes.qa.snapshot import Outcome

_WIDTH, _HEIGHT = 1280, 2600
_TIMEOUT_S = 60
_MEASURE = """
window.measured = null;
document.addEventListener("keydown", () => {
  const from = performance.now(), before = pair.id;
  const look = async () => {
    const images = [...document.querySelectorAll("#stage img")];
    if (!pair || pair.id === before || place.pair !== pair.id || !images.length
        || !images.every((image) => image.complete && image.naturalWidth))
      return requestAnimationFrame(look);
    await Promise.all(images.map((image) => image.decode()));
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.measured = performance.now() - from;
    }));
  };
  look();
}, { capture: true, once: true });
"""


def main() -> int:
    """Make the run, review it, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.qa_review", description=__doc__)
    parser.add_argument("--pairs", type=int, default=300, help="so many (300)")
    parser.add_argument("--keys", default="a", help="pressed for each pair (a)")
    parser.add_argument("--think", type=float, default=1.0, help="seconds before a key (1)")
    parser.add_argument("--width", type=int, default=1280, help="of the window (1280)")
    options = parser.parse_args()
    print(f"{machine()}\ncommit {commit()}; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="qa-review-") as name:
        folder = Path(name)
        write_run(folder / "qa", options.pairs)
        run_step(pinakes("init"), folder)
        with _serving(folder) as url, _chromium(options.width) as driver:
            taken = list(_reviewed(driver, url, options))
    late = quantiles(taken, n=20)[-1]
    print(
        f"{len(taken)} pairs, keys {' '.join(options.keys)}: {mean(taken):.3f} s a pair "
        f"(median {median(taken):.3f}, 95% within {late:.3f}, most {max(taken):.3f})"
    )
    return 0


def write_run(folder: Path, count: int) -> None:
    """Pairs that differ in a place, each of a page of its own."""
    folder.mkdir(parents=True)
    with (folder / PAIRS).open("wb") as lines:
        for number in range(count):
            lines.write(encode_pair(JudgedPair(result=_result(folder, number), weight=5.0)))


def _result(folder: Path, number: int) -> PairResult:
    page = _picture(number)
    box = (120, 400 + number * 37 % 1800, 320, 160)
    harmed = page.copy()
    harmed[box[1] : box[1] + box[3], box[0] : box[0] + box[2]] = 255
    views = [
        PageView(
            kind=f"replay:{kind}", browser="chromium", browser_version="1", milliseconds=700,
            outcome=Outcome.COMPLETE, image=_written(folder, pixels),
        )
        for kind, pixels in (("before", page), ("current", harmed))
    ]  # fmt: skip
    url = f"http://site{number // 10}.example/page/{number}"
    return PairResult(
        run="bench", url=url, date="2026-01-01T00:00:00Z", reference=views[0], other=views[1],
        capture_key=f"example,site{number // 10})/page/{number} 2026 {number:08d}".encode().hex(),
        verdict=Verdict.DISSIMILAR, confidence=0.98, model="to the pixel 1", changes=(box,),
        reasons=("looks different: 1 place, the largest 320 x 160 px (<img>)",),
    )  # fmt: skip


def _picture(number: int) -> Any:
    """A page of text and some pictures, as heavy as pages are: some 600 KB as PNG."""
    dice = np.random.default_rng(number)
    page = np.full((_HEIGHT, _WIDTH, 3), 255, np.uint8)
    for line in range(60, _HEIGHT, 22):
        words = " ".join(str(word) for word in dice.integers(0, 99_999, 18))
        cv2.putText(page, words, (20, line), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (30, 30, 30), 1)
    for y in range(400, _HEIGHT - 300, 600):
        noise = dice.integers(0, 255, (30, 40, 3), np.uint8)
        page[y : y + 240, 120:440] = cv2.resize(noise, (320, 240), interpolation=cv2.INTER_CUBIC)
    return page


def _written(folder: Path, pixels: Any) -> str:
    content = cv2.imencode(".png", pixels)[1].tobytes()
    name = f"{sha256(content).hexdigest()}.png"
    (folder / name).write_bytes(content)
    return name


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    verb = ["qa", "review", str(folder / "qa"), "--json", "--port", "0"]
    command = [sys.executable, "-m", "pinakes.cli", *verb]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield str(json.loads(process.stdout.readline())["url"])
        finally:
            process.terminate()


@contextmanager
def _chromium(width: int) -> Iterator[Any]:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                 f"window-size={width},{width * 9 // 16}"):  # fmt: skip
        options.add_argument(f"--{flag}")
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def _reviewed(driver: Any, url: str, options: argparse.Namespace) -> Iterator[float]:
    """Seconds from the first key until the next pair is painted."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    def until(script: str) -> Any:
        wait = WebDriverWait(driver, _TIMEOUT_S, poll_frequency=0.02)
        return wait.until(lambda _: driver.execute_script(script))

    driver.get(url)
    until("return document.body.dataset.ready")
    driver.find_element(By.CSS_SELECTOR, "#name").send_keys("Nadia", Keys.ENTER)
    until("return pair && place.pair === pair.id && pair.id")
    for _ in range(options.pairs - 1):
        time.sleep(options.think)
        driver.execute_script(_MEASURE)
        ActionChains(driver, duration=0).send_keys(options.keys).perform()
        yield until("return window.measured") / 1000


if __name__ == "__main__":
    sys.exit(main())
