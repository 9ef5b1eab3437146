"""Line formats of the data passed between the tasks of jobs.

- `sort_text`: places as bytes that sort like them; `settled`: lines that are finished
- `bodies`: bodies; `shards`: the lines of a frequent digest; `frequent`: finds such digests;
  `believed`: lines taken as equal without reading; `collisions`: reports, one per digest;
  `parts`: a content that is divided
- `originals_sent`: what was read of an original; `outcome_lines`: the result for a file
- `pairs`: files before and after; `references`: references to judge; `sums`: checksums
- `problems`: errors
"""
