"""What a run found, in the forms of other tools."""
