"""A cluster of real servers on one host, for development and tests: HDFS, YARN, HBase, Thrift.

Layer: a leaf, below `cli`; knows nothing of stores.  Three modules are pure: `layout` says
where everything lies, `daemons` what is run, `site_files` what the servers read.  `jars`
fetches their programs, `processes` starts and stops them, `state` remembers, `readiness`
asks them; `operate` and `supervise` put it together.
"""
