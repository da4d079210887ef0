"""The price of a layout, through the compiled engine: what comes back, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

_engine = pytest.importorskip("homenode._engine", reason="the engine is not built")

SCENARIO = """\
name = "small"

[machine]
model = "ibm-power-770"

[[partition]]
name = "web"
processors = { mode = "dedicated", cores = 4 }
memory = "32 GiB"
workload = { kind = "loops", count = 4, endless = true, profile = "oltp" }

[[partition]]
name = "spare"
processors = { mode = "dedicated", cores = 2 }
memory = "8 GiB"
workload = { kind = "idle" }
"""


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    from homenode.model.scenario import load

    path = tmp_path / "small.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    loaded: dict[str, Any] = json.loads(json.dumps(load(path).spec()))
    return loaded


def matrix(spec: dict[str, Any], first: list[float]) -> list[list[float]]:
    machine = spec["machine"]
    chips = machine["nodes"] * machine["chips_per_node"]
    return [first + [0.0] * (chips - len(first)), [0.0] * chips]


def ask(spec: dict[str, Any], busy: object) -> list[dict[str, Any]]:
    answer = json.loads(_engine.price(json.dumps(spec), json.dumps(busy)))
    found: list[dict[str, Any]] = answer["partitions"]
    return found


def test_books_add_up_to_the_time_of_an_instruction(spec: dict[str, Any]) -> None:
    web, spare = ask(spec, matrix(spec, [3.0, 1.0]))
    assert web["name"] == "web"
    assert set(web["books"]) == set(_engine.BOOKS)
    assert set(web["lines"]) == set(_engine.LINES)
    assert sum(web["books"].values()) == pytest.approx(web["ns"], rel=1e-12)
    assert web["cpi"] == pytest.approx(web["ns"] * spec["machine"]["clock_hz"] * 1e-9, rel=1e-12)
    assert [(chip["chip"], chip["cores"]) for chip in web["by_chip"]] == [(0, 3.0), (1, 1.0)]
    # A partition's mean weighs each chip with its instructions.
    rate = sum(chip["cores"] / chip["ns"] for chip in web["by_chip"])
    assert web["ns"] == pytest.approx(4.0 / rate, rel=1e-12)
    assert spare["ns"] is None
    assert spare["by_chip"] == []


@pytest.mark.parametrize(
    ("busy", "reason"),
    [
        ([], "0 partitions are given, 2 are there"),
        ([[1.0], [0.0]], "chips of partition web"),
        ("many", "busy cores: invalid type"),
    ],
)
def test_cores_that_do_not_fit_are_refused(spec: dict[str, Any], busy: object, reason: str) -> None:
    with pytest.raises(_engine.SpecError, match=reason):
        ask(spec, busy)


def test_more_cores_than_a_chip_has_are_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(_engine.SpecError, match="partition web keeps 99 cores"):
        ask(spec, matrix(spec, [99.0]))


def test_an_unsound_spec_is_refused(spec: dict[str, Any]) -> None:
    busy = matrix(spec, [1.0])
    spec["partitions"][0]["data_bytes"] = 0
    with pytest.raises(_engine.SpecError, match="partition web: data_bytes is 0"):
        ask(spec, busy)
