"""What a name node has been asked, by its own count: the page /jmx of its web server."""

from __future__ import annotations

import json
from collections import Counter
from urllib.request import urlopen

_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*"
_COUNT = "NumOps"
# Hadoop counts some calls under two names more.
_TWICE = ("Deferred", "Overall")
# What data nodes say on their own.
_DATA_NODES = frozenset(
    (
        "BlockReceivedAndDeleted", "BlockReport", "CacheReport", "CommitBlockSynchronization",
        "ErrorReport", "RegisterDatanode", "SendHeartbeat", "SendLifeline", "VersionRequest",
    )
)  # fmt: skip


def calls(web: str) -> Counter[str]:
    """Calls by clients since the name node's start, by operation; `web` is its http://…"""
    with urlopen(web.rstrip("/") + _PAGE, timeout=30) as page:
        beans = json.load(page)["beans"]
    found: Counter[str] = Counter()
    for bean in beans:
        for name, value in bean.items():
            operation = name.removesuffix(_COUNT)
            counts = name.endswith(_COUNT) and not name.startswith(_TWICE)
            if counts and operation not in _DATA_NODES:
                found[operation] += value
    return found
