"""Thin mrjob and Spark jobs: decode a line, call a pure function, encode, count.

Layer: below `pinakes.qa`, above `pinakes.profile`.  Needs the extra `jobs`, for a study
`spark`.

- `manifest`, `resolve_collisions`, `flag_duplicates`, `write_revisits`, `validate`,
  `convert_arc`, `restore`: jobs; each runs by itself, too:
  `python -m pinakes.mr_jobs.NAME -r inline|local|hadoop LIST`
- `digest_job`: what of `resolve_collisions` is by digest; `content_job`: what of
  `flag_duplicates` is by content; `revisits_job`: what of `write_revisits` is of
  `write_generations`, too, which does the same in the store
- `commit_copy`: two jobs, `copy_look` and `copy_files`, and the renames behind them
- `store_tasks`: the jobs of a run of dedupe; `job_counts`: what they count, as the verbs do
- `validating`: the receipt of `validate`
- `archive_job`: what all share; `writing_job`: files that tasks write, and the driver renames
- `heartbeat`: how a task says that it is alive; `places`: where a file lies that is told of by
  its name; `stored_generations`: which generation of it is read; `given`: what the operator gives
- `extra`: what the extra `jobs` brings
- `lines/`: what passes between tasks; `driver/`: how a job is run; `study/`: on Spark
"""
