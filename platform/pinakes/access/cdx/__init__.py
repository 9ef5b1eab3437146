"""The CDX server: queries of replay tools and crawlers, answered from the rows of captures.

    parameters   the query of pywb, OutbackCDX or Wayback, as one value
    lines        a row as an index line, cut out of the stored bytes
    row_lines    of stored rows the lines that may be seen, where their records lie now
    filters      which lines are left out: `filter`, `collapse`
    answer       rows of a key range ─▶ lines in the order asked for
    distance     lines by their distance from a time: `closest`
    outputs      lines as CDXJ, CDX-11, JSON, a timemap; `xml`, as OpenWayback's
    crawl_time   what crawlers ask: the original of a digest, or of a URL
    reports      what crawlers report, and how a look-up names it
    handler      the same over HTTP; `writing`, with a token

Formats and parameters: docs/cdx-server.md.
"""
