"""`import pinakes`: light, lazy, and the same to a type checker as to Python."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pinakes


@pytest.mark.parametrize("name", pinakes.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(pinakes, name) is not None
    assert name in dir(pinakes)


def test_type_checker_sees_the_names_python_sees() -> None:
    module = ast.parse(Path(pinakes.__file__).read_text("utf-8"))
    [guard] = [node for node in module.body if isinstance(node, ast.If)]
    typed = {
        alias.name: node.module
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == pinakes._EXPORTS
    assert set(pinakes.__all__) == {*typed, "__version__"}


def test_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pinakes.nothing  # noqa: B018


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys, pinakes; print([n for n in sys.modules if n.startswith('pinakes.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
