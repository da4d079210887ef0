"""The formats of recordings: one module a family, each with its `FORMATS`."""
