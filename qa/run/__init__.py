"""Pages of a sample looked at, compared and judged, one after the other."""
