"""JSON Schema of scenario files, for editors that complete and check TOML.

The schema is made from the models and shipped as `schema.json` beside this file; after a change of
the models `python -m homenode.model.scenario.schema` writes it anew. In an editor with a TOML
language server the first line `#:schema path/to/schema.json` of a scenario file switches it on.
"""

from __future__ import annotations

import json
from pathlib import Path

from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.units import KINDS

SCHEMA_FILE = Path(__file__).with_name("schema.json")


def scenario_schema() -> dict[str, object]:
    """The schema as data."""
    schema = ScenarioFile.model_json_schema()
    _spell_defaults(schema)
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **schema, "title": "homenode scenario"}


def _spell_defaults(schema: object) -> None:
    """Write defaults of quantities as people do; the models keep them in base units."""
    if isinstance(schema, list):
        for entry in schema:
            _spell_defaults(entry)
    if not isinstance(schema, dict):
        return
    for entry in schema.values():
        _spell_defaults(entry)
    examples = [part.get("examples") for part in (schema, *schema.get("anyOf", ()))]
    kind = next((kind for kind in KINDS if [kind.example] in examples), None)
    default = schema.get("default")
    if kind is not None and isinstance(default, (int, float)):
        schema["default"] = kind.format(default)


def schema_text() -> str:
    """The schema as it is shipped."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
