"""Thin mrjob jobs: decode a line, call a pure function, encode, count; and the study.

Layer: below `pinakes.qa`, above `pinakes.profile`.  Needs the extra `jobs`; a study `study`, or
`spark` with `--master`.

- `manifest`, `resolve_collisions`, `flag_duplicates`, `write_revisits`, `validate`,
  `convert_arc`, `recompress`, `restore`: jobs; each runs by itself, too:
  `python -m pinakes.mr_jobs.NAME -r inline|local|hadoop LIST`; those that write files need
  `--output-dir DIR`, and leave them in `DIR/_written`
- `digest_job`: the steps of `resolve_collisions` by digest; `content_job`: the steps of
  `flag_duplicates` by content; `revisits_job`: the common part of `write_revisits` and
  `write_generations`, which does the same in the store
- `commit_copy`: two jobs, `copy_check` and `copy_files`, and the renames after them
- `store_tasks`: the jobs of a dedupe run; `job_counts`: their counts, in the form of the verbs
- `recompress_generations` does in the store what `recompress` does with files; `recompress_tasks`:
  these jobs of an act; `form_options`: the form that both write
- `validating`: the receipt of `validate`
- `archive_job`: the base of all jobs; `writing_job`: jobs whose files the driver publishes;
  `new_file_job`: those of them that make a file of each, one by one
- `heartbeat`: reports that a task is alive; `places`: finds files by name, and the generation of
  each; `given`: the operator's inputs
- `extra`: the packages of the extra `jobs`
- `lines/`: data between tasks; `driver/`: runs jobs
- `study/`: SQL over sidecars, in DuckDB or Spark
"""
