"""Names of exported snapshots: HBase's own, and names that an archive store accepts.

    .hbase-snapshot/NAME/.snapshotinfo      hbase-snapshot/NAME/snapshotinfo
    .hbase-snapshot/NAME/data.manifest      hbase-snapshot/NAME/data.manifest
    archive/data/…                          the same

An archive store accepts no names with a leading dot.  Files that HBase's user has exported it
renames itself (`hbase_snapshots`); files to be imported are ours, and renamed here.
"""

from __future__ import annotations

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.hdfs.errors import HdfsFileNotFound

SNAPSHOTS, PLAIN_SNAPSHOTS = ".hbase-snapshot", "hbase-snapshot"
ABOUT, PLAIN_ABOUT = ".snapshotinfo", "snapshotinfo"


def forget_snapshots(calls: HdfsCalls, folder: str) -> None:
    """Delete the metadata of snapshots in a folder of HDFS, by either name; large files stay."""
    for name in (SNAPSHOTS, PLAIN_SNAPSHOTS):
        _delete(calls, f"{folder}/{name}")


def name_for_hbase(calls: HdfsCalls, folder: str) -> None:
    """Rename the files in a folder of HDFS to HBase's own names."""
    plain, known = f"{folder}/{PLAIN_SNAPSHOTS}", f"{folder}/{SNAPSHOTS}"
    for snapshot in calls.ask(plain, lambda client: list(client.list_status(plain))):
        _rename(calls, f"{snapshot.path}/{PLAIN_ABOUT}", f"{snapshot.path}/{ABOUT}")
    _rename(calls, plain, known)


def _delete(calls: HdfsCalls, path: str) -> None:
    calls.ask(path, lambda client: client.delete(path, True))


def _rename(calls: HdfsCalls, old: str, new: str) -> None:
    try:
        calls.ask(old, lambda client: client.rename(old, new))
    except HdfsFileNotFound:  # it was done, but the answer was lost
        calls.ask(new, lambda client: client.get_file_info(new))
