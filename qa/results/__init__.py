"""What a comparison of two views of a page came to, as a value and as a document."""
