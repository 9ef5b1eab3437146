"""An archive as a browser sees it: a proxy that answers original URLs, and rewrites nothing.

    browser ─▶ server (sockets, TLS) ─▶ answers ─▶ index and archive files
                       │                   │ choice, fuzzy: which capture
                       ▼                   │ answer_head, byte_range, codings: what to say
                    page_log               ▼ generations: which written form of a file

`choice`, `fuzzy`, `asked`, `byte_range`, `codings`, `answer_head` are pure.  `proxy` is what
others use; it needs the extra `qa`.  Nothing here ever opens a connection: what is not in the
archive is a miss, and says so.
"""
