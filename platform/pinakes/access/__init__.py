"""What is served over HTTP: archive files, progress of landings, metrics, health of the stores.

Reads only.  Layer: above `ingest`, below `config`; `pinakes serve` opens it.

    bounded_server ─▶ asgi_site ─┬▶ warc_server ─▶ archive_bytes ─▶ catalogue, archive files
    (sockets, limits) (host,     │  (HTTP)         (which, rules)
                       headers)  └▶ site (pages) ─▶ views
"""
