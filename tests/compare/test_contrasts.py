"""What tells classes of the shipped suite apart: each contrast has a cause, and goes its way."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.evidence.compare import CaseResult, MachineComparison, compare_machines


def compared(*only: str) -> MachineComparison:
    return compare_machines("ibm-z196", "ibm-zec12", only=list(only))


def gains(case: CaseResult | None) -> list[float]:
    """Gain at each load, in their order [percent]."""
    assert case is not None
    found = [pair.gain_pct.mean for pair in case.pairs]
    assert None not in found
    return [gain for gain in found if gain is not None]


@pytest.fixture(scope="module")
def networks() -> MachineComparison:
    return compared("osa-rr-1x1", "hs-rr-1x1", "hs-stream-read")


@pytest.mark.parametrize("name", ["osa-rr-1x1", "hs-rr-1x1", "hs-stream-read"])
def test_more_connections_gain_more(networks: MachineComparison, name: str) -> None:
    """With few the time outside processors counts, which is the same on both machines; with many
    they are busy, and what connections go through needs the larger caches.
    """
    found = gains(networks.case(name))
    # Where all processors are busy already the rest is chance.
    assert all(more > fewer - 0.1 for fewer, more in itertools.pairwise(found)), found
    assert found[-1] > 1.15 * found[0]


def test_a_shorter_way_outside_processors_leaves_more_to_gain(networks: MachineComparison) -> None:
    osa, within = (gains(networks.case(name)) for name in ("osa-rr-1x1", "hs-rr-1x1"))
    assert osa[0] < within[0] / 2


def test_databases_answer_sooner_by_what_processors_gain() -> None:
    """All six setups keep processors busy: Little's law, whatever they wait for beside."""
    result = compared("oltp")
    assert len(result.cases) == 6
    for case in result.cases:
        assert case.ratio is not None
        assert case.response_saving_pct == pytest.approx(100 * (1 - 1 / case.ratio), abs=0.5)
    reads = [result.case(f"oltp-read-{cores}") for cores in (2, 8, 16)]
    ratios = [case.ratio for case in reads if case is not None and case.ratio is not None]
    # What more processors share (L4, locks) the newer machine has no faster.
    assert ratios == sorted(ratios, reverse=True)
    assert len(ratios) == 3
