"""Bodies and records of archive files as files of a folder."""
