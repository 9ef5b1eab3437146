"""Which everyday job each tool does: every cell of the table in docs/peers.md is run and judged."""
