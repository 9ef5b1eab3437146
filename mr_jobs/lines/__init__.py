"""What passes between the tasks of jobs, as lines.

- `sort_text`: places as bytes that sort as they do; `settled`: what nothing is left to do about
- `travelling`: a body; `shards`: the lines of a digest that many captures have, `frequent`:
  which are such, `believed`: those taken for equal unread; `collisions`: what is found, in one
  report for each digest; `parts`: a content that is divided
- `originals_sent`: what is known of an original; `outcome_lines`: what a file has come to
- `pairs`: files before and after; `travelling_references`: what is judged; `sums`: of a file
- `problems`: what is wrong
"""
