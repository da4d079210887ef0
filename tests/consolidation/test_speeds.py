"""What a recorded core is worth: by ratings someone says, or by the cost model."""

from __future__ import annotations

import pytest
from uses_made import demand, server

from facts_made import at
from homenode.errors import HomenodeError, InputError, NotFoundError
from homenode.planner.consolidation.core_rates import core_rate
from homenode.planner.consolidation.demand import Demand
from homenode.planner.consolidation.speeds import Speed, ratings_of, speeds
from homenode.records.importing.facts import Told
from homenode.records.importing.opening.sources import Notice

OLD, NEW = "ibm-power-770", "ibm-power-e1080"


def on(model: str | None, clock_hz: float | None = None, name: str = "a") -> Demand:
    return demand(name, [1.0], system=server(f"S-{name}", model, clock_hz))


def told(found: list[Demand], target: str = NEW, **more: object) -> list[Speed]:
    given: dict[str, object] = {"ratings": {}, "named": {}, "profile": "oltp", "notices": []}
    return speeds(found, target, **{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a=10"], {"a": 10}),
        (["a=61.2/8"], {"a": 7.65}),
        (["a=1,234.5 rPerf / 10", "b=2 rperf"], {"a": 123.45, "b": 2}),
        (["a=1_000/4"], {"a": 250}),
        (["x=y=3"], {"x=y": 3}),
        ([], {}),
    ],
)
def test_ratings_are_of_a_core(texts: list[str], expected: dict[str, float]) -> None:
    assert ratings_of(texts) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a"], "--rating a is no rating"),
        (["=3"], "is no rating"),
        (["a=fast"], "is no rating"),
        (["a=-3"], "is no rating"),
        (["a=1/2/3"], "is no rating"),
        (["a=0"], "a rating is above 0"),
        (["a=5/0"], "a rating is above 0"),
        (["a=1.2.3"], "a rating is above 0"),
        (["a=5 SAPS", "b=5 rPerf"], "a in saps, b in rperf"),
        (["a=5 SAPS", "b=5"], "cannot be compared"),
    ],
)
def test_what_is_no_rating_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match="--rating") as caught:
        ratings_of(texts)
    assert message in str(caught.value)


def test_a_rating_divides_by_that_of_the_target() -> None:
    found = [on(None, name="a"), on("9117-MMC", name="b")]
    ratings = ratings_of(["a=30/4", "9117-MMC=20", f"{NEW}=40"])
    one, other = told(found, ratings=ratings)
    assert (one.factor, other.factor) == pytest.approx((7.5 / 40, 0.5))
    assert other.source == "rating 20 of 40"


def test_a_target_without_a_rating_and_strangers_are_refused() -> None:
    with pytest.raises(InputError, match=f"--rating {NEW}=") as caught:
        told([on(None)], ratings={"a": 7.0})
    assert f"the target {NEW} has no rating" in str(caught.value)
    for more in ({"ratings": {"nobody": 1.0, NEW: 2.0}}, {"named": {"nobody": OLD}}):
        with pytest.raises(NotFoundError, match="nothing that was recorded is called nobody"):
            told([on(None)], **more)


def test_the_same_machine_is_one_and_its_model_names_it() -> None:
    (same,) = told([on("9117-MMC")], OLD)
    assert same == Speed(1.0, OLD)
    (named,) = told([on(None)], OLD, named={"a": OLD})
    assert named == same


def test_a_faster_target_makes_a_recorded_core_worth_less() -> None:
    factors = [told([on("9117-MMC")], target)[0].factor for target in (OLD, "ibm-power-e880", NEW)]
    assert factors[0] > factors[1] > factors[2] > 0
    there, back = told([on("9117-MMC")], NEW)[0], told([on(None)], OLD, named={"a": NEW})[0]
    assert there.factor * back.factor == pytest.approx(1)


def test_the_recorded_clock_counts() -> None:
    own = 3.3e9
    (usual,) = told([on("9117-MMC")])
    slow, fast = (told([on("9117-MMC", hertz)])[0] for hertz in (own * 0.8, own * 1.2))
    assert slow.factor < usual.factor < fast.factor
    # Memory is no faster with the clock, so work grows by less than the clock does.
    assert usual.factor / slow.factor < 1.25
    assert fast.factor / usual.factor < 1.2


def test_a_model_without_description_counts_as_one_of_its_generation() -> None:
    notices: list[Notice] = []
    power7 = server("S1", "8205-E6C")
    power7.processor = Told("POWER7", at(1))
    (speed,) = told([demand("a", [1.0], system=power7)], notices=notices)
    assert speed.source == OLD
    assert "8205-E6C has no description" in notices[0].text
    assert "--from or --rating" in notices[0].text


def test_servers_of_unknown_speed_are_all_named() -> None:
    found = [
        on("1234-X", name="a"),
        on("5678-Y", name="b"),
        on(None, name="c"),
        demand("solo", [1.0]),
    ]
    with pytest.raises(InputError) as caught:
        told([*found, on("9117-MMC", name="e")])
    message = str(caught.value)
    for part in ("S-a (1234-X)", "S-b (5678-Y)", "S-c", "solo", OLD, "--from", "--rating"):
        assert part in message
    assert "S-e" not in message


def test_rates_are_positive_of_every_platform_and_refusals_say_what_to_do() -> None:
    rates = {name: core_rate(name, "oltp") for name in (OLD, NEW, "ibm-z14", "hp-rx8640")}
    assert all(rate > 0 for rate in rates.values())
    with pytest.raises(HomenodeError, match="ibm-power"):
        core_rate("ibm-power-999", "oltp")


def test_instructions_of_another_set_are_no_measure_and_that_is_said_once() -> None:
    """A rating is one; and a machine of which no description tells the set says nothing."""
    found = [on(None, name="a"), on(None, name="b")]
    notices: list[Notice] = []
    told(found, "amd-epyc-7742-2s", named={"*": OLD}, notices=notices)
    (one,) = notices
    assert "instructions of POWER and of x86-64 count as the same work" in one.text
    assert f"rate a core of {OLD} and of amd-epyc-7742-2s with --rating" in one.text
    notices.clear()
    told(found, named={"*": OLD}, notices=notices)
    ratings = {"a": 1.0, "b": 1.0, "amd-epyc-7742-2s": 0.6}
    told(found, "amd-epyc-7742-2s", ratings=ratings, notices=notices)
    assert notices == []
