"""Pinakes catalogues web archives and removes their duplicates without losing a byte.

This module is the small public API.  Names are imported when first used (PEP 562), so
that reading a record does not load a store, and no part drags in another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from pinakes.errors import PinakesError

# Public name → module that defines it.
_EXPORTS = {
    "PinakesError": "pinakes.errors",
}

__all__ = ["PinakesError", "__version__"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
