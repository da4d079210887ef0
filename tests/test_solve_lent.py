"""Cores that dedicated partitions lend and those on which AIX polls, solved and simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from homenode import _engine
from homenode.simulate.scenario import Scenario

HEAD = """
[machine]
model = "ibm-power-795"
active_cores = 8
[run]
warmup = "2 s"
duration = "3 s"
"""
OWNER = """
[[partition]]
name = "owner"
processors = {{ mode = "dedicated", cores = 4, {lends} }}
memory = "16 GiB"
home = "book0"
workload = {{ kind = "{kind}", profile = "oltp", {work} }}
"""
POOL = """
[[partition]]
name = "pool"
processors = { mode = "shared", entitlement = 2.0, virtual = 8 }
smt = 1
memory = "16 GiB"
home = "book0"
workload = { kind = "loops", count = 8, endless = true, profile = "xorshift-loop" }
"""
POLLS = """
[[partition]]
name = "aix"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 6, capped = {capped} }}
smt = 4
memory = "16 GiB"
home = "book0"
guest = {{ os = "aix", folding = false, snooze_delay = "{snooze}" }}
workload = {{ kind = "transactions", rate = "200/s", bursts = 10, wait = "2 ms", profile = "oltp" }}
"""
SOME = {"kind": "transactions", "work": 'rate = "200/s", bursts = 10, wait = "2 ms"'}
MUCH = {"kind": "transactions", "work": 'rate = "550/s", bursts = 10, wait = "2 ms"'}


def both(*partitions: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is solved and what is simulated of each partition."""
    words = json.dumps(Scenario.from_toml(HEAD + "".join(partitions)).spec())
    told = json.loads(_engine.solve(words))["partitions"]
    return told, json.loads(_engine.simulate(words, 0, lambda _: True))["partitions"]


def cores(ran: dict[str, Any]) -> float:
    return float(ran["totals"]["busy_ns"]) / 3e9


def test_what_a_dedicated_partition_lends_is_the_pools() -> None:
    (owner, pool), (ran, beside) = both(OWNER.format(lends="donating = true", **SOME), POOL)
    assert pool["cores"] == pytest.approx(8.0 - owner["cores"], rel=0.01)
    assert pool["cores"] == pytest.approx(cores(beside), rel=0.03)
    assert owner["cores"] == pytest.approx(cores(ran), rel=0.1)


def test_who_lends_nothing_or_is_busier_than_its_threshold_keeps_its_cores() -> None:
    for lends, load in [
        ("donating = false", SOME),
        ('donating = true, donate_threshold = "20 %"', SOME),
        ('donating = true, donate_threshold = "50 %"', MUCH),
    ]:
        (_, pool), (_, beside) = both(OWNER.format(lends=lends, **load), POOL)
        assert pool["cores"] == pytest.approx(4.0, rel=0.01), lends
        assert cores(beside) == pytest.approx(4.0, rel=0.02), lends


def test_the_busier_an_owner_is_the_less_it_lends() -> None:
    left = []
    for rate in (50, 200, 350):
        work = {"kind": "transactions", "work": f'rate = "{rate}/s", bursts = 10, wait = "2 ms"'}
        (owner, pool), _ = both(OWNER.format(lends="donating = true", **work), POOL)
        left.append(pool["cores"])
        assert owner["cores"] + pool["cores"] == pytest.approx(8.0, rel=0.01)
    assert left == sorted(left, reverse=True)


@pytest.mark.parametrize(("snooze", "most"), [("never", 0.01), ("1 ms", 0.12), ("100 us", 0.1)])
def test_virtual_processors_that_poll_use_their_cores(snooze: str, most: float) -> None:
    (told,), (ran,) = both(POLLS.format(capped="false", snooze=snooze))
    assert told["cores"] == pytest.approx(cores(ran), rel=most)
    # Polling executes nothing: an instruction takes what it takes without.
    (without,), _ = both(POLLS.format(capped="false", snooze="0 us"))
    each = [one["busy_threads"] / one["instructions"] for one in (told, without)]
    assert each[0] == pytest.approx(each[1], rel=0.03)


def test_a_cap_that_polling_uses_up_is_simulated_only() -> None:
    spec = json.dumps(Scenario.from_toml(HEAD + POLLS.format(capped="true", snooze="never")).spec())
    with pytest.raises(_engine.SpecError, match="snooze_delay"):
        _engine.solve(spec)
