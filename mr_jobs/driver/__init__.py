"""The driver's side of a job: its inputs, what Hadoop is given, its report.

- `running`: one job from its inputs to its report; `listing`: those inputs, as lists for its
  tasks, gigabytes a map, and how many tasks reduce
- `submission`: what Hadoop is given, `printed`: as a line; `hadoop_log`: what it says;
  `orphans`: what would go on when a driver has died
- `environment`: what tasks run in
"""
