"""Runs notebooks of docs/notebooks as Jupyter shows them, by the standard library alone.

    python tests/support/notebooks.py      writes the outputs of all of them anew

A cell's output is what it prints, the value of its last expression, and the figures that
pyplot has open.  Shell and magic lines are not run: there are none.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
Outputs = list[dict[str, Any]]


def run_cells(notebook: dict[str, Any]) -> list[Outputs]:
    """The outputs of each code cell, run in order in one namespace; whatever is raised ends it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    sources = ("".join(cell["source"]) for cell in code_cells(notebook))
    return [_run(source, number, namespace) for number, source in enumerate(sources, 1)]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def without_images(outputs: Outputs) -> Outputs:
    """What is the same on every machine: of a figure, that there is one."""
    return [
        {**output, "data": dict.fromkeys(output["data"], "a figure")}
        if output["output_type"] == "display_data"
        else output
        for output in outputs
    ]


def _run(source: str, number: int, namespace: dict[str, Any]) -> Outputs:
    module = ast.parse(source)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(module, f"<cell {number}>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), namespace)
    outputs: Outputs = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": {"text/plain": repr(value).splitlines(keepends=True)},
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs + _figures()


def _figures() -> Outputs:
    pyplot = sys.modules.get("matplotlib.pyplot")
    outputs: Outputs = []
    for number in pyplot.get_fignums() if pyplot is not None else ():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="png", dpi=72, bbox_inches="tight")
        pyplot.close(number)
        png = base64.b64encode(image.getvalue()).decode() + "\n"
        data = {"image/png": png, "text/plain": ["<Figure>"]}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def main() -> None:
    os.environ["MPLBACKEND"] = "Agg"
    sys.path.insert(0, str(FOLDER))
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder
            outputs = run_cells(notebook)
            os.chdir(FOLDER)
        tempfile.tempdir = None
        for number, (cell, fresh) in enumerate(zip(code_cells(notebook), outputs, strict=True), 1):
            cell.update(execution_count=number, outputs=fresh)
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        path.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
