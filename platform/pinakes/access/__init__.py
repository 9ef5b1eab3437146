"""What is served over HTTP: how a crawl lands, metrics, whether the stores are there.

Reads only.  Layer: above `ingest`, below `config`; `pinakes serve` mounts it.
"""
