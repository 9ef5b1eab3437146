"""Tables of rows sorted by key, with versioned cells: two ports and their adapters.

Layer: above `pinakes.hbase_schema`, next to `archive_store`.  Here are keys, columns and values;
`pinakes.catalog` has the domain terms.

- `port`: `RowStore`, `SchemaAdmin`, and their values
- `history`: a cell at an earlier time, and whether that is still known
- `rules`: checks of calls against the schema
- `bulk_text`: rows as text, for bulk loading
- `sqlite`: `EmbeddedRowStore` and `EmbeddedSchemaAdmin`, a SQLite file
- `hbase`: `HBaseRowStore` and `HBaseSchemaAdmin`, HBase through Thrift
"""
