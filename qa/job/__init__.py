"""`pinakes qa run` as a job on YARN: lists of pages, browsers in each task, images in ZIP files."""
