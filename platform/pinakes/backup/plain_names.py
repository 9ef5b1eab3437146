"""Names of exported snapshots: HBase's own, and such as an archive store takes.

    .hbase-snapshot/NAME/.snapshotinfo      hbase-snapshot/NAME/snapshotinfo
    .hbase-snapshot/NAME/data.manifest      hbase-snapshot/NAME/data.manifest
    archive/data/…                          the same

An archive store takes no names with a dot before them.  What HBase's user has exported it
renames itself (`hbase_snapshots`); what is to be brought in is ours, and renamed here.
"""

from __future__ import annotations

from pinakes.archive_store.hdfs_calls import HdfsCalls
from pinakes.archive_store.hdfs_errors import NotThere

SNAPSHOTS, PLAIN_SNAPSHOTS = ".hbase-snapshot", "hbase-snapshot"
ABOUT, PLAIN_ABOUT = ".snapshotinfo", "snapshotinfo"


def forget_snapshots(calls: HdfsCalls, folder: str) -> None:
    """Delete what tells of snapshots in a folder of HDFS, by either name; large files stay."""
    for name in (SNAPSHOTS, PLAIN_SNAPSHOTS):
        _delete(calls, f"{folder}/{name}")


def name_for_hbase(calls: HdfsCalls, folder: str) -> None:
    """Give what lies in a folder of HDFS the names that HBase knows."""
    plain, known = f"{folder}/{PLAIN_SNAPSHOTS}", f"{folder}/{SNAPSHOTS}"
    for snapshot in calls.ask(plain, lambda client: list(client.list_status(plain))):
        _rename(calls, f"{snapshot.path}/{PLAIN_ABOUT}", f"{snapshot.path}/{ABOUT}")
    _rename(calls, plain, known)


def _delete(calls: HdfsCalls, path: str) -> None:
    calls.ask(path, lambda client: client.delete(path, True))


def _rename(calls: HdfsCalls, old: str, new: str) -> None:
    try:
        calls.ask(old, lambda client: client.rename(old, new))
    except NotThere:  # it was done, and the answer was lost
        calls.ask(new, lambda client: client.get_file_info(new))
