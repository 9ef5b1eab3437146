"""Does an archive still render: sample, replay, capture, compare, judge, report.

    crawl ─▶ sample ─▶ run: browsers ─▶ replay (before, current) ─▶ compare ─▶ results ─▶ report

Layer: below `pinakes.cli`, above `pinakes.mr_jobs`; needs the extra `qa`.  The model that judges
views that cannot be proven, the review pages and the job on YARN are not built.
"""
