"""HTTP messages in records: heads, content codings, charsets."""
