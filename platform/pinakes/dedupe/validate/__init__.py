"""Proof that nothing was lost or altered: of raw bytes, of records, of folders."""
