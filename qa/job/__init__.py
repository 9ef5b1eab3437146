"""`pinakes qa run` as a job: pages in lists, a browser in each task, images in archives."""
