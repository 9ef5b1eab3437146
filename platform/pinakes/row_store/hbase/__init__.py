"""A row store in HBase, through Thrift: `HBaseRowStore`, `HBaseSchemaAdmin`, bulk loading."""
