"""TOML files people write: read with the place of every key, checked against a model, written back.

`read_document` and `parse_document` give a `Document`; `validate` checks it against a pydantic
model and turns whatever pydantic finds into messages that name file, line and column; `to_toml`
writes a document. Scenario files, machine descriptions and workload profiles all go through here.
"""

from homenode.model.document.fields import Form, OrText, Quantity, TagDefault
from homenode.model.document.problems import Problems
from homenode.model.document.read import (
    Document,
    parse_document,
    read_document,
    read_text,
    shipped_document,
)
from homenode.model.document.table import Table
from homenode.model.document.validate import validate
from homenode.model.document.write import to_toml

__all__ = [
    "Document",
    "Form",
    "OrText",
    "Problems",
    "Quantity",
    "Table",
    "TagDefault",
    "parse_document",
    "read_document",
    "read_text",
    "shipped_document",
    "to_toml",
    "validate",
]
