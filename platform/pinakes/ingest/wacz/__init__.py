"""WACZ files imported whole or not at all: what manifests and folders name, queued, imported."""
