"""To be imported first by tests of comparisons: without the extra they are skipped, and say so."""

import pytest

for module in ("cv2", "rapidfuzz"):
    pytest.importorskip(module, reason="the extra qa is not here: make dev-qa")
