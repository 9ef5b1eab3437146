"""A row store in one SQLite file: `EmbeddedRowStore`, `EmbeddedSchemaAdmin`."""
