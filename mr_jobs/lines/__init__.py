"""Line formats of the data passed between the tasks of jobs.

- `sort_text`: places as bytes that sort like them; `bodies`: lines, and bodies with them
- `digests`: the lines of a digest, in shards where it is frequent, or taken as equal without
  reading; `frequent`: finds such digests; `collisions`: reports, one per digest; `parts`: a
  content that is divided
- `outcome_lines`: the result for a file
- `pairs`: files before and after; `references`: references to judge
- `problems`: errors
"""
