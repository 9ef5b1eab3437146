"""A cluster of real servers on one host, for development and tests: HDFS, YARN, HBase, Thrift.

Layer: a leaf, below `cli`; knows nothing of stores.  Three modules are pure: `layout` has
all paths and ports, `daemons` the servers, `site_files` their configuration.  `jars` fetches
their programs, `processes` starts and stops them, `state` stores what runs, `readiness` checks
them; `operate` and `supervise` combine these.
"""
