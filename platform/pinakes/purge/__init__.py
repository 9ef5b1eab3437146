"""Purge: a crawl goes, and what refers to it in others is provided for first.

    requests   what is asked, and what came of it
    survey     what refers to the crawl now, and what becomes of it
    foreign    revisits that crawlers wrote: made full, or re-pointed
    obstacles  which references cannot be provided for, before any is
    purging    the act, step by step; what it would do

Layer: above `withdraw`, whose choice of new originals and rewriting it uses.
"""
