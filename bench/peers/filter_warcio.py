"""HTML answers with status 200 into a file of their own, by warcio; to standard output.

Run by the peers' interpreter.  The shortest program that a user of warcio would write.
"""

import sys

from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

writer = WARCWriter(sys.stdout.buffer, gzip=True)
for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type != "response":
                continue
            media_type = record.http_headers.get_header("Content-Type") or ""
            if record.http_headers.get_statuscode() == "200" and "text/html" in media_type:
                writer.write_record(record)
