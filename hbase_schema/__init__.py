"""What is stored: tables, families, row keys, cells, act times.

Layer: above `pinakes.errors` only; the standard library and primitives in, primitives
out.  Pure: no IO, no clock.  docs/storage.md draws every key, byte by byte.

- `tables`: tables and families, with every declared attribute, as data; the schema version
- `capture_keys`, `digest_keys`, `name_keys`: row keys, and the key ranges for queries
- `cells`: the codec of cell values; `capture_cells`, `file_cells`, `run_cells`, `qa_cells`:
  their classes
- `act_times`: one timestamp for all cells of an act
"""
