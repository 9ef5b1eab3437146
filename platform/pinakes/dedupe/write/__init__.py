"""New generations of archive files: revisits in, full records back."""
