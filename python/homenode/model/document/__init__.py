"""TOML files people write: read with the place of every key, checked against a model, written back.

`read_document` and `parse_document` give a `Document`; `validate` checks it against a pydantic
model and turns whatever pydantic finds into messages that name file, line and column; `to_toml`
writes a document. Scenario files, machine descriptions and workload profiles all go through here.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.model.document.fields import Form, OrOne, OrText, Quantity, TagDefault
    from homenode.model.document.problems import Problems
    from homenode.model.document.read import (
        Document,
        TomlTable,
        parse_document,
        read_document,
        read_text,
        shipped_document,
    )
    from homenode.model.document.table import Table
    from homenode.model.document.validation import validate
    from homenode.model.document.write import in_written_order, to_toml

__all__ = [
    "Document",
    "Form",
    "OrOne",
    "OrText",
    "Problems",
    "Quantity",
    "Table",
    "TagDefault",
    "TomlTable",
    "in_written_order",
    "parse_document",
    "read_document",
    "read_text",
    "shipped_document",
    "to_toml",
    "validate",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Document": "read",
            "Form": "fields",
            "OrOne": "fields",
            "OrText": "fields",
            "Problems": "problems",
            "Quantity": "fields",
            "Table": "table",
            "TagDefault": "fields",
            "TomlTable": "read",
            "parse_document": "read",
            "read_document": "read",
            "read_text": "read",
            "shipped_document": "read",
            "in_written_order": "write",
            "to_toml": "write",
            "validate": "validation",
        },
    )
