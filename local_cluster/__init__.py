"""A cluster of real servers on one host, for development and tests: HDFS, YARN, HBase, Thrift.

Beside the product, and in no wheel: `pinakes cluster` loads `verb` from the clone that it runs
from.  Only `verb` imports `pinakes.cli`; nothing here knows of stores.  Three modules are pure:
`layout` has all paths and ports, `daemons` the servers, `site_files` their configuration.  `jars`
fetches their programs, `processes` starts and stops them, `state` stores what runs, `readiness`
checks them; `operate` and `supervise` combine these.
"""
