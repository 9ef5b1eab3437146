"""HTML answers with status 200 into a file of their own, by FastWARC; to standard output.

Run by the peers' interpreter.  The shortest program that a user of FastWARC would write.
"""

import sys

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import ArchiveIterator, WarcRecordType

with GzipWriter(sys.stdout.buffer) as out:
    for name in sys.argv[1:]:
        with open(name, "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                media_type = record.http_content_type or ""
                if record.http_headers.status_code == 200 and media_type == "text/html":
                    record.write(out)
                    out.finish()
