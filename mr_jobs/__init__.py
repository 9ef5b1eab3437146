"""Thin mrjob and Spark jobs: decode a line, call a pure function, encode, count.

Layer: below `pinakes.qa`, above `pinakes.profile`.  Needs the extra `jobs`, for a study
`spark`; of what is in it only some jobs and what they run in are built.

- `manifest`, `resolve_collisions`, `flag_duplicates`, `validate`, `convert_arc`, `restore`: jobs;
  each runs by itself, too: `python -m pinakes.mr_jobs.NAME -r inline|local|hadoop LIST`
- `digest_job`: what of `resolve_collisions` is by digest; `believed`: those taken for equal unread
- `shards`: the lines of a digest that many captures have; `frequent`: which are such;
  `collisions`: what they find, in one report for each digest
- `content_job`: what of `flag_duplicates` is by content; `parts`: a content that is divided
- `settled`: lines that nothing is left to do about; `travelling`: a body as lines;
  `sort_text`: places as bytes that sort as they do
- `commit_copy`: two jobs, `copy_look` and `copy_files`, and the renames behind them
- `pairs`: files before and after, a line each; `travelling_references`: what is judged, as lines;
  `validating`: the receipt; `sums`: of a file that is read
- `given`: what the operator gives; `writing_job`: files that tasks write, and the driver renames
- `archive_job`: what they share; `heartbeat`: how a task says that it is alive; `problems`: what is
  wrong, as a line
- `study`, `study_…`: `pinakes study`, on Spark: its figures (`study`, `study_crawls`, as values
  `study_figures`), of which files (`study_inputs`), as plots, a page, a folder of both
- `index_…`: the table `ccindex` that it reads: columns, cells, what tasks do, the DataFrame
- `spark_session`, `spark_extra`: Spark here or on YARN; what the extra `spark` brings
- `places`: where a file lies that is told of by its name
- `workers`: what the runner `local` is watched by
- `running`: one job from its inputs to its report; `listing`: those inputs, as lists for its
  tasks; `packing`: gigabytes a map
- `store_tasks`: the jobs of a run of dedupe; `orphans`: those of a driver that died
- `submission`: what Hadoop is told, `printed`: as a line; `hadoop_log`: what it says
- `environment`: what tasks run in; `extra`: what the extra `jobs` brings
"""
