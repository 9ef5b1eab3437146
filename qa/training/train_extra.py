"""Libraries of the extra `qa` for training; MissingExtra names one that is missing."""

from __future__ import annotations

from pinakes.extras import missing_extra

try:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold
    from threadpoolctl import threadpool_limits
except ImportError as error:
    raise missing_extra(f"training needs {error.name}", "qa") from error

__all__ = [
    "HistGradientBoostingClassifier",
    "LogisticRegression",
    "NDArray",
    "StratifiedGroupKFold",
    "np",
    "threadpool_limits",
]
