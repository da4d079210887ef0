"""Small scenarios with an answer that can be told beforehand."""

from __future__ import annotations

from typing import Any

from homenode.planner.problem import Problem, problem_of
from homenode.simulate.scenario import Scenario

HEAD = """\
name = "{name}"

[machine]
model = "ibm-power-770"
active_cores = 48

[run]
warmup = "200 ms"
duration = "1 s"
replications = 3
"""
PARTITION = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", entitlement = {entitlement}, virtual = {virtual}{more} }}
memory = "{memory}"
{home}
workload = {{ kind = "transactions", rate = "{rate}/s", bursts = 4, profile = "oltp" }}
"""


def partition(
    name: str,
    home: str | None = "drawer0",
    *,
    rate: float = 600,
    entitlement: float = 2.0,
    virtual: int = 8,
    memory: str = "16 GiB",
    more: str = "",
) -> str:
    """A partition; at 600/s it takes between four and five cores."""
    told = "" if home is None else f'home = "{home}"'
    return PARTITION.format(
        name=name, home=told, rate=rate, entitlement=entitlement, virtual=virtual, memory=memory,
        more=more,
    )  # fmt: skip


def scenario(*partitions: str, advise: str = "", name: str = "small", head: str = HEAD) -> Scenario:
    """Of tables of partitions and of `[advise]`."""
    text = head.format(name=name) + "".join(partitions)
    return Scenario.from_toml(text + (f"\n[advise]\n{advise}" if advise else ""))


def crowded(advise: str = "", **options: Any) -> Scenario:
    """Four partitions at home in one drawer of sixteen cores, of four."""
    return scenario(*(partition(f"lpar{n}", **options) for n in range(1, 5)), advise=advise)


def problem(told: Scenario, **asked: Any) -> Problem:
    """What a search needs."""
    return problem_of(told, asked)


POOLS = (
    HEAD
    + """
[[pool]]
name = "small"
maximum = 8
"""
)


def recorded(problem: Problem) -> list[dict[int, Any]]:
    """By partition, the forms that its options stand for."""
    forms: list[dict[int, Any]] = [{0: one} for one in problem.space.base]
    add = problem.space.solver.add

    def adding(index: int, form: Any) -> int | None:
        number = add(index, form)
        if number is not None:
            forms[index][number] = form
        return number

    problem.space.solver.add = adding  # type: ignore[method-assign]
    return forms
