"""Crawls of a store written as files for others: WACZ files.

    contents ─▶ members: archive files as they are, or with revisits made full
             ─▶ an index of them ─▶ pages ─▶ what was signed ─▶ `datapackage.json`, its digest
             ─▶ is the crawl still what it was? ─▶ the file has its name

Nothing in the store is changed.  The same state of a crawl gives the same bytes.
"""
