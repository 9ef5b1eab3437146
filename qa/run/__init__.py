"""One run: captures the pages of a sample, compares and judges them, one after the other."""
