"""An index with computed digests, by warcio: offset, length, sha1 of each response's payload.

Run by the peers' interpreter.  The shortest program that a user of warcio would write.
"""

import hashlib
import sys

from warcio.archiveiterator import ArchiveIterator

for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        records = ArchiveIterator(stream)
        for record in records:
            if record.rec_type != "response":
                continue
            sha1 = hashlib.sha1()
            while piece := record.raw_stream.read(65536):
                sha1.update(piece)
            uri = record.rec_headers.get_header("WARC-Target-URI")
            offset, length = records.get_record_offset(), records.get_record_length()
            print(offset, length, uri, sha1.hexdigest())
