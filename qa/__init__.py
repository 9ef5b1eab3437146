"""Rendering QA: does an archive still render?  Sample, replay, capture, compare, judge, review.

    crawl ─▶ sample ─▶ run ─▶ views: two sides of a page, each a proxy and a browser behind it
                        │       replay:before, replay:current, access:URL-PREFIX, stored, live
                        ▼
               compare ─▶ judging ─▶ results ─▶ report, review, export
                            ▲                              │
                            └── training ◀── judgements ───┘

sample      pages of a crawl, drawn by a seed, each with its weight
snapshot    the capture of a page by a browser: image, text, resources
replay      the proxy: answers browsers from the archive, and logs what each page requested
browsers    starts browsers and captures snapshots
views       where a page comes from: our replay, an access system, a stored screenshot, the live web
compare     features of a pair of snapshots: images, texts, pictures, resources
judging     the verdict by trained models, which ship as JSON
run         one run: its plan, its folder, the verdict on each pair (by proof, else by a model);
            or the same run as a job on YARN
results     a judged pair as a value and a line of JSON; `result_rows`: as cells of a row
report      the static report of a run
review      the web pages where people judge pairs, and their judgements in the store
export      results as CSV, JSON, XML, and the list that Pagelyzer is trained on
training    `pinakes qa train`: a model fitted to settled judgements as well

Layer: below `pinakes.cli`, above `pinakes.mr_jobs`.  Most of it needs the extra `qa`.
Start reading at `run.page_judge`.
"""
