"""Rows sorted by key, in tables, with versioned cells: two ports and their adapters.

Layer: above `pinakes.hbase_schema`, beside `archive_store`.  Domain words begin in
`pinakes.catalog`; here are keys, columns, values.

- `port`: `RowStore`, `SchemaAdmin`, and what they take and give
- `history`: a cell as it was at a time, and whether that is still known
- `rules`: what a store may be asked, by schema
- `embedded`, `embedded_admin`: `EmbeddedRowStore` and `EmbeddedSchemaAdmin`, a SQLite file
- `hbase`, `hbase_admin`: `HBaseRowStore` and `HBaseSchemaAdmin`, HBase through Thrift
"""
