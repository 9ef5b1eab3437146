"""Archive files in S3, read by byte ranges."""
