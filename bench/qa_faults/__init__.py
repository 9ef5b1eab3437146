"""How often faults of a grammar are found in one browser, and how often noise is an alarm."""
