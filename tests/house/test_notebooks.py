"""The notebooks run, and show what they show."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from notebooks import FOLDER, code_cells, run_cells, without_images

# One of them draws, and not every Python here can.
pytestmark = pytest.mark.slow
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_outputs_are_those_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text("utf-8")
    if "matplotlib" in text:
        pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(text)
    fresh = [without_images(outputs) for outputs in run_cells(notebook)]
    shown = [without_images(cell["outputs"]) for cell in code_cells(notebook)]
    assert fresh == shown, "after a change: python tests/support/notebooks.py"


def test_an_output_that_changed_is_found() -> None:
    cells = [{"cell_type": "code", "source": ["one = 1\n", "print(one)\n", "one + 1"]}]
    [printed, value] = run_cells({"cells": cells})[0]
    assert printed["text"] == ["1\n"]
    assert value["data"] == {"text/plain": ["2"]}


def test_an_error_ends_the_run() -> None:
    with pytest.raises(ZeroDivisionError):
        run_cells({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]})
