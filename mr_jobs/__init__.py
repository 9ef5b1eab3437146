"""Thin mrjob and Spark jobs: decode a line, call a pure function, encode, count.

Layer: below `pinakes.qa`, above `pinakes.profile`.  Will hold one module a job, run as
`python -m pinakes.mr_jobs.NAME -r inline|local|hadoop INPUT` or by `spark-submit`; needs
the extra `jobs` or `spark`.  Nothing is built yet.
"""
