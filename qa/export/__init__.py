"""Results and judgements in formats of other tools."""
