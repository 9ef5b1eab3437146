"""`commit-copy`: a validated set over a second copy."""
