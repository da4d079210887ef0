"""Whatever a mainframe's scenario says: the engine takes it, or it is refused with its place."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from homenode import HomenodeError, Scenario, _engine

TEXTS = [
    Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8") for name in ("zvm", "prsm")
]
VALUES = [
    "0", "1", "-1", "65", "1000", "4097", "2.5", "true", '""', '"x"', "[]", "{}", "[1]",
    '{ value = 1, why = "x" }', '"100 %"', '"0 %"', '"64 GiB"', '"1 MiB"', '"2 s"', '"cp"', '"ifl"',
    '"zvm"', '"linux"', '"aix"', '"smt-2"', '"z/vm"', '"general"', '"vertical"', '"tile"',
    "{ ifl = 0 }", "{ cp = 2, ifl = 14 }", "{ ifl = 4 }", '"client"', '"loop"', '"idle"', '"web"',
]  # fmt: skip


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A scenario with some of its values replaced or lines taken out."""
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[row].partition(" = ")
        what = draw(st.sampled_from(["value", "inner", "drop", "twice"]))
        if what == "drop" or not equals:
            lines[row] = "" if not lines[row].startswith("[") else lines[row]
        elif what == "inner" and "{ " in lines[row]:
            parts = lines[row].split(", ")
            spot = draw(st.integers(0, len(parts) - 1))
            inner, _, _ = parts[spot].rpartition(" = ")
            end = " }" if parts[spot].endswith(" }") else ""
            parts[spot] = f"{inner} = {draw(st.sampled_from(VALUES))}{end}"
            lines[row] = ", ".join(parts)
        else:
            lines[row] = f"{key} = {draw(st.sampled_from(VALUES))}"
    return "\n".join(lines)


@given(changed())
@settings(max_examples=200, deadline=None)
def test_a_change_is_taken_by_the_engine_or_refused_with_its_place(text: str) -> None:
    try:
        scenario = Scenario.from_toml(text, "s.toml")
    except HomenodeError as refused:
        message = str(refused)
    else:
        message = "s.toml: "
        _engine.check(scenario.spec_json())  # what is loaded, the engine takes
    assert message.startswith("s.toml:")
