"""Measure Pinakes against the floor and its peers: `make bench`, or `python -m bench`.

No part of the wheel.  docs/performance.md says what is measured, how, and what came out.
"""
