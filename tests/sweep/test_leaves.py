"""Axes that only put a number into the engine's input: its text is that of the point read alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import _engine
from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.runner.job import freeze
from homenode.simulate.sweep.leaves import Leaves
from homenode.simulate.sweep.order import order_of

EXAMPLES = Path(__file__).parents[2] / "examples"
RATES = '"partition.{}.workload.rate" = ["900/s", "1/s", "2.5/ms"]'
VIRTUAL = '"partition.{}.processors.virtual" = [8, 4]'


def swept(example: str, *axes: str) -> Scenario:
    head, _, _ = (EXAMPLES / example).read_text(encoding="utf-8").partition("[sweep]")
    text = head + "\n[sweep]\n" + "\n".join(axes)
    return Scenario.from_toml(text, "x.toml", EXAMPLES)


def by_leaves(base: Scenario) -> list[bool]:
    """Of which points the input is made without reading them; all are held against the others."""
    order = order_of(base, None, None)
    leaves, made = Leaves(base, order), []
    for number in range(base.points):
        job = leaves.job(number)
        made.append(job is not None)
        if job is not None:
            whole = freeze(base.nth(number), None, None, order.version, kept=False)
            assert (job.spec_text, job.id, job.spec) == (whole.spec_text, whole.id, whole.spec)
            assert (job.machine, job.point) == (whole.machine, whole.point)
    return made


@pytest.mark.parametrize(
    ("example", "axes"),
    [
        ("p795-shared-book.toml", (RATES.format("lpar1"), RATES.format("lpar2"))),
        ("p795-shared-book.toml", (RATES.format("lpar"),)),
        ("p795-shared-book.toml", (RATES.format("lpar2"), VIRTUAL.format("lpar2"))),
        ("p795-shared-book.toml", (VIRTUAL.format("lpar"), RATES.format("lpar"))),
        (
            "sweep-virtual-processors.toml",
            (
                VIRTUAL.format("shop"),
                '"partition.shop.guest.throughput_mode" = [0, 2]',
                '"partition.shop.guest.snooze_delay" = ["never", "1 ms"]',
            ),
        ),
        (
            "database-and-batch.toml",
            ('"run.seed" = [1, 2]', '"machine.memory.local" = ["100 ns", "110 ns"]'),
        ),
    ],
)
def test_the_input_is_that_of_the_point_read_alone(example: str, axes: tuple[str, ...]) -> None:
    made = by_leaves(swept(example, *axes))
    plain = any(".workload." in axis or ".guest." in axis for axis in axes)
    assert all(made) if plain else not any(made)


@pytest.mark.parametrize(
    "axis",
    [
        '"partition.lpar.workload.rate" = ["100/s"]',
        '"partition.lpar1.workload.kind" = ["transactions"]',
        '"partition.lpar1.name" = ["other"]',
        '"partition.lpar1.workload" = [{ kind = "loops", count = 2, profile = "oltp" }]',
    ],
)
def test_what_makes_another_table_of_it_is_read(axis: str) -> None:
    base = swept("p795-shared-book.toml", axis, RATES.format("lpar1"))
    assert Leaves(base, order_of(base, None, None)).job(1) is None


def test_points_that_cannot_be_are_read_by_themselves() -> None:
    base = swept("p795-shared-book.toml", VIRTUAL.format("lpar1"), RATES.format("lpar1"))
    base.axes["partition.lpar1.processors.virtual"][1] = 2  # less than it is entitled to
    leaves = Leaves(base, order_of(base, None, None))
    assert leaves.job(2) is not None
    assert leaves.job(3) is None
    with pytest.raises(HomenodeError, match="entitled"):
        base.nth(3)


def test_what_the_engine_refuses_is_read_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    base = swept("p795-shared-book.toml", RATES.format("lpar1"))
    leaves = Leaves(base, order_of(base, None, None))
    assert leaves.job(1) is not None

    def refusing(_: str) -> None:
        raise _engine.SpecError("too much")

    monkeypatch.setattr(_engine, "check", refusing)
    assert leaves.job(2) is None
