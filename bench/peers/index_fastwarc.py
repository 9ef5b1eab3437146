"""An index with computed digests, by FastWARC: offset and sha1 of each response's payload.

Run by the peers' interpreter.  The shortest program that a user of FastWARC would write;
it gives no length.
"""

import hashlib
import sys

from fastwarc.warc import ArchiveIterator, WarcRecordType

for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
            uri = record.headers.get("WARC-Target-URI")
            print(record.stream_pos, uri, hashlib.sha1(record.reader.read()).hexdigest())
