"""What adapters say that they take is what they take."""

from __future__ import annotations

import json
import re

import pytest

from homenode.cli import call
from homenode.hosts.adapters.described import Parameter, meaning_of, parameters_of
from homenode.hosts.adapters.registry import ADAPTERS, adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

SHIPPED = sorted(name for name in ADAPTERS if name != "fake")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_parameter_is_told_and_explained(name: str) -> None:
    one = adapter(name)
    found = parameters_of(one)
    assert found
    for parameter in found:
        assert f"`{parameter.name}`" in meaning_of(one)


@pytest.mark.parametrize("name", SHIPPED)
def test_bounds_are_those_that_are_checked(name: str) -> None:
    """What is beyond a bound is refused, with the words that the list has."""
    one = adapter(name)
    found = parameters_of(one)
    chosen = {
        p.name: p.takes.removeprefix("one of ").split(", ")[0] for p in found if p.default is None
    }
    for parameter in found:
        bounds = re.search(r"number from (\S+) to (\S+)", parameter.takes)
        if bounds is None:
            continue
        given = chosen | _where(parameter)
        with pytest.raises(MeasureError) as raised:
            one.case("case", {**given, parameter.name: float(bounds[2]) * 2 + 1})
        assert parameter.takes in str(raised.value)


def _where(parameter: Parameter) -> dict[str, str]:
    if not parameter.only_where:
        return {}
    key, _, choices = parameter.only_where.partition(" = ")
    return {key: choices.split(" or ")[0]}


def test_what_depends_on_a_choice_says_on_which() -> None:
    found = {(p.name, p.only_where): p for p in parameters_of(adapter("kernels"))}
    assert found["kernel", ""].default is None
    assert found["operation", "kernel = memory"].default == "read"
    assert found["load", "kernel = context"].default == 2
    assert "chains" not in {name for name, where in found if "memory" in where and where}


def test_adapters_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["measure", "adapters", "--json"]) == 0
    found = {one["adapter"]: one for one in json.loads(capsys.readouterr().out)}
    assert set(SHIPPED) <= set(found)
    assert call(["measure", "adapters", "fio"]) == 0
    out = capsys.readouterr().out
    assert all(one["parameter"] in out for one in found["fio"]["parameters"])
    assert call(["measure", "adapters", "fioo"]) == 2
    assert "did you mean fio?" in capsys.readouterr().err
