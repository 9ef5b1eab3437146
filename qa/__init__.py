"""Does an archive still render: sample, capture, compare, judge, report, review.

Layer: below `pinakes.cli`, above `pinakes.mr_jobs`.  Will hold the sampler, the browser
captures, the pure comparisons and their verdicts, the report, the review pages and the
job that runs them; needs the extra `qa`.  Nothing is built yet.
"""
