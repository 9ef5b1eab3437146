"""Pages served over HTTP: progress of landings, metrics, health of the stores.

Reads only.  Layer: above `ingest`, below `config`; `pinakes serve` mounts it.
"""
