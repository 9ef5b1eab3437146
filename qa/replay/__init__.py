"""An archive as a browser sees it: a proxy that answers original URLs and rewrites nothing.

    browser ─▶ server (sockets, TLS) ─▶ session ─▶ proxy ─▶ answers ─▶ index and archive files
                                           │                   │ index_lookup, fuzzy: which capture
                                           ▼                   │ answer_head: what is sent
                                        page_log               ▼ generations: which written form

`fuzzy`, `request`, `answer_head` are pure.  `proxy.ReplayProxy`
is the entry; it needs the extra `qa`.  No connection leaves this machine: what the archive does
not have is a miss in the page's log.  (`views.forwarding` forwards to real servers, behind the
same `server` and `session`.)
"""
