"""The static report of a run."""
