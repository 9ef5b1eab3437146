"""Archive files in a folder: `LocalArchiveStore`; single files by path that appear whole."""
