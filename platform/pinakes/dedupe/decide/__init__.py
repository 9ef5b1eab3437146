"""Which records are copies of which, and what becomes of each: rules, sorts, comparisons."""
