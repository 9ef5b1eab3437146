"""Imports of the extra `jobs`, with an error that names it if missing."""

from __future__ import annotations

import shlex
import sys
from types import ModuleType

from pinakes.extras import missing_extra

if sys.version_info >= (3, 13):
    # mrjob imports `pipes`, which is gone, and uses one function of it.
    _pipes = ModuleType("pipes")
    vars(_pipes)["quote"] = shlex.quote
    sys.modules.setdefault("pipes", _pipes)

try:
    if sys.version_info >= (3, 12):
        import setuptools  # noqa: F401  (brings distutils back, which mrjob imports)
    from mrjob.compat import jobconf_from_env
    from mrjob.job import MRJob
    from mrjob.protocol import BytesProtocol, BytesValueProtocol
    from mrjob.step import MRStep, StepFailedException
    from mrjob.util import cmd_line
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
except ImportError as error:
    raise missing_extra(f"jobs need {error.name}", "jobs") from error

__all__ = [
    "BytesProtocol",
    "BytesValueProtocol",
    "MRJob",
    "MRStep",
    "Requirement",
    "StepFailedException",
    "canonicalize_name",
    "cmd_line",
    "jobconf_from_env",
]
