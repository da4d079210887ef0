"""The shipped JSON Schema is the models', and says of the shipped scenarios what the models say."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from homenode.model.scenario.schema import SCHEMA_FILE, schema_text

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = [
    *sorted((ROOT / "examples").glob("*.toml")),
    *sorted((ROOT / "python" / "homenode" / "data" / "studies").glob("*/scenarios/*.toml")),
]
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_shipped_schema_is_up_to_date() -> None:
    shipped = SCHEMA_FILE.read_text(encoding="utf-8")
    assert shipped == schema_text(), "run `python -m homenode.model.scenario.schema`"


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_fit_it(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text(encoding="utf-8")))


def test_mistakes_do_not_fit_it(base: str) -> None:
    VALIDATOR.validate(tomllib.loads(base))
    for old, new in (
        ("entitlement =", "entitlment ="),
        ('"16 GiB"', '"16 GB"'),
        ('"10 s"', "10"),
        ('"shared"', '"share"'),
    ):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(tomllib.loads(base.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("pins", "fit"),
    [
        *((pins, True) for pins in ("4-5", ["4-5", "7"], ["4", 5], [4, 5])),
        *((pins, False) for pins in ([], ["x"], [-1])),
    ],
)
def test_pins_of_one_thread_fit_where_the_reader_takes_them(pins: object, fit: bool) -> None:
    kvm = {"$defs": SCHEMA["$defs"], **SCHEMA["$defs"]["Kvm"]["properties"]["emulator_pins"]}
    assert jsonschema.Draft202012Validator(kvm).is_valid(pins) is fit


def test_defaults_are_written_as_people_write_them() -> None:
    run = SCHEMA["$defs"]["Run"]["properties"]
    assert run["warmup"]["default"] == "5 s"
    assert SCHEMA["$defs"]["Aix"]["properties"]["fold_threshold"]["default"] == "49 %"
