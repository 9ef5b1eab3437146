"""WACZ packages, read as folders of archive files are."""
