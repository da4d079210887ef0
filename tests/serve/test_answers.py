"""What the server answers about layouts: the solver's figures, words for what is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode.cli.demo import _on_the_page
from homenode.serve import layouts
from homenode.serve.examples import EXAMPLES, example_path
from homenode.simulate.solved.figures import Solved
from homenode.simulate.solved.solve import solve_scenario

FRAME = "example:frame"
LPAR4 = "partition.lpar4"


def layout(base: str = FRAME, **edits: object) -> dict[str, Any]:
    return {"base": base, "edits": {f"{LPAR4}.{key}": value for key, value in edits.items()}}


def test_the_first_screen_offers_examples_and_bounds(visitor: Any) -> None:
    told = visitor.get("/api/start").json()
    assert [one["name"] for one in told["examples"]] == list(EXAMPLES)
    assert all(one["title"] and one["platform"] for one in told["examples"])
    assert told["local"]
    assert told["limits"]["upload_bytes"] > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_shown_and_solved_or_says_why_not(visitor: Any, name: str) -> None:
    told = visitor.ask("/api/layout", layout(f"example:{name}")).json()
    names = set(told["fields"])
    assert names == set(told["moves"])
    assert names
    assert bool(told["solved"]) != bool(told["unsolved"])
    if told["solved"]:
        cores = [one["cores"] for one in told["solved"]["partitions"].values()]
        assert told["solved"]["cores"] == pytest.approx(sum(cores))
    for one in told["moves"].values():
        assert bool(one["to"]) != bool(one["why_not"])


def test_a_layout_is_what_the_command_line_solves_and_shows(
    visitor: Any, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    told = visitor.ask("/api/layout", layout()).json()
    shown = json.loads(command("show", example_path("frame"), "--json").stdout)
    assert told["map"] == shown
    solved = json.loads(command("solve", example_path("frame"), "--json").stdout)["partitions"]
    for name, one in told["solved"]["partitions"].items():
        assert one["cores"] == solved[name]["physc"]["mean"]


def test_of_two_balances_the_least_is_shown_and_both_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def two(scenario: Any, run: str) -> Solved:
        found = solve_scenario(scenario, run=run)
        found.answer["partitions"][0]["balances"] = [3.0, 4.0]
        return found

    monkeypatch.setattr(layouts, "solve_scenario", two)
    told = layouts.answer(str(example_path("frame")), {})
    first, second = told["solved"]["partitions"].values()
    assert first["cores"] == 3.0
    assert told["solved"]["cores"] == pytest.approx(3.0 + second["cores"])
    assert "3.0 or 4.0 cores" in told["unsolved"]


def test_the_demo_tells_what_the_page_shows_of_its_first_example() -> None:
    said = _on_the_page()
    path = str(example_path("frame"))
    before, after = (layouts.answer(path, of) for of in ({}, {f"{LPAR4}.home": "book0"}))
    back = before["solved"]["cores"] - after["solved"]["cores"]
    assert said.startswith(f"with lpar4 in book0 the page shows {back:.1f} cores fewer, lpar3 ")


def test_every_field_can_be_set_to_what_it_is(visitor: Any) -> None:
    told = visitor.ask("/api/layout", layout()).json()
    same = {one["path"]: one["value"] for one in told["fields"]["lpar4"]}
    again = visitor.ask("/api/layout", {"base": FRAME, "edits": same}).json()
    assert again["solved"]["partitions"] == told["solved"]["partitions"]


@given(st.sampled_from([f"book{number}" for number in range(8)]))
def test_who_is_moved_away_and_back_costs_what_he_did(book: str) -> None:
    path = str(example_path("frame"))
    before = layouts.answer(path, {})
    home = before["moves"]["lpar4"]["at"]
    away = layouts.answer(path, {f"{LPAR4}.home": book})
    assert away["moves"]["lpar4"]["at"] == book
    back = layouts.answer(path, {f"{LPAR4}.home": book} | {f"{LPAR4}.home": home})
    assert back["solved"]["partitions"] == before["solved"]["partitions"]
    if book != home:
        assert away["solved"]["cores"] < before["solved"]["cores"]


def test_the_rows_of_a_difference_go_from_left_to_right(visitor: Any) -> None:
    asked = {"left": layout(), "right": layout(home="book6")}
    told = visitor.ask("/api/difference", asked).json()
    assert told["left"]["cores"] > told["right"]["cores"]
    assert told["rows"]
    assert told["picture"].startswith("<svg")
    assert "fewer" in told["says"]
    for row in told["rows"]:
        assert row["right"] - row["left"] == pytest.approx(row["difference"])
    none = visitor.ask("/api/difference", {"left": layout(), "right": layout()}).json()
    assert none["rows"] == []
    assert none["left"]["cores"] == none["right"]["cores"]


WRONG: dict[str, tuple[object, int]] = {
    "a node that there is not": (layout(home="book99"), 400),
    "no number": (layout(**{"processors.entitlement": float("nan")}), 400),
    "far too many": (layout(**{"processors.virtual": 10**30}), 400),
    "an unknown key": ({"base": FRAME, "edits": {"nothing": 1}}, 400),
    "no path": ({"base": FRAME, "edits": {"": 1}}, 400),
    "edits that are a list": ({"base": FRAME, "edits": [1]}, 400),
    "a list": ([], 400),
    "no base": ({}, 404),
    "an unknown example": (layout("example:nothing"), 404),
    "an example by a path": (layout("example:../../frame"), 404),
    "an unknown run": (layout("run:nothing"), 404),
    "a run by a path": (layout("run:../../etc"), 404),
    "a run without a name": (layout("run:"), 404),
    "a run of a name with a NUL": (layout("run:\0"), 404),
    "a run of a very long name": (layout("run:" + 5000 * "a"), 404),
    "a scenario by a path": (layout("scenario:/etc/passwd"), 404),
    "a file of the server": (layout(**{"workload.profile": "/etc/passwd"}), 400),
    "a file above": (layout(**{"workload.profile": "../../pyproject.toml"}), 400),
    "a file, deep in": (layout(processors={"mode": ["a", "/etc/passwd"]}), 400),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_words(visitor: Any, what: str) -> None:
    asked, status = WRONG[what]
    told = visitor.ask("/api/layout", asked)
    assert told.status_code == status
    error = told.json()["error"]
    assert set(error) == {"message", "next_step", "where"}
    assert len(error["message"]) > 5
    assert "Traceback" not in told.text
    assert "root:" not in told.text


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", 100_000 * b"["])
def test_what_is_no_json_is_said(visitor: Any, content: bytes) -> None:
    told = visitor.send("/api/layout", content)
    assert told.status_code == 400
    assert "JSON" in told.json()["error"]["message"]


def test_too_much_json_is_refused(visitor: Any) -> None:
    assert visitor.send("/api/layout", (2 << 20) * b" ").status_code == 413


PATHS = (
    "/nothing",
    "/api/nothing",
    "/assets/../app.py",
    "/assets/%2e%2e/app.py",
    "/assets/..%2f..%2f..%2fpyproject.toml",
    "/api/runs/..%2f..%2fetc",
    "/api/runs/%00",
    "/api/studies/..%2f..",
    "/api/studies/nothing",
    "/api/jobs/nothing/events",
)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_there_is_said(visitor: Any, path: str) -> None:
    told = visitor.get(path)
    assert told.status_code == 404
    assert told.json()["error"]["message"]


def test_studies_are_listed_and_each_can_be_read(visitor: Any) -> None:
    listed = visitor.get("/api/studies").json()
    one = visitor.get(f"/api/studies/{listed[0]['name']}").json()
    assert one["title"] == listed[0]["title"]
    assert one["tables"][0]["rows"]


def test_a_scenario_is_downloaded_with_its_edits(visitor: Any) -> None:
    told = visitor.ask("/api/download", {**layout(home="book6"), "what": "scenario"})
    assert "attachment" in told.headers["content-disposition"]
    brought = visitor.send("/api/upload", told.content, content_type="application/toml").json()
    again = visitor.ask("/api/layout", layout(f"scenario:{brought['scenario']}")).json()
    assert again["moves"]["lpar4"]["at"] == "book6"
    assert visitor.ask("/api/download", {**layout(), "what": "all"}).status_code == 400
