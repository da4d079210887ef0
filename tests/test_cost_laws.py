"""What must hold of the cost of an instruction on every shipped machine, for random work, through
the compiled engine: which way it goes when somebody comes, goes or moves, and that it never jumps.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from homenode.model.catalog.flatten import machine_spec
from homenode.model.catalog.names import machine, machines

_engine = pytest.importorskip("homenode._engine", reason="the engine is not built")

LEAST = 1.0 - 1e-7
"""What rounding and the end of an iteration may take."""


class Hardware:
    """A shipped machine, on which partitions keep cores of nodes busy."""

    def __init__(self, base: dict[str, Any], name: str) -> None:
        self._base = base
        # Of hosts the hardware only: cores of one's own are not to be had there.
        hypervisor = base["machine"]["hypervisor"]
        self.spec = {**machine_spec(machine(name)), "hypervisor": hypervisor}
        self.nodes = range(self.spec["nodes"])
        self.chips = self.spec["chips_per_node"]
        self.node_cores = self.chips * self.spec["cores_per_chip"]

    def rates(self, *parts: tuple[range, float, dict[str, Any]], **changed: Any) -> list[float]:
        """Instructions a nanosecond of each partition: the nodes that it is on, with its memory and
        so many busy cores in each of their chips, and its work.
        """
        return [cores / one["ns"] for one, cores in self._priced(parts, changed)]

    def traffic(self, *parts: tuple[range, float, dict[str, Any]], **changed: Any) -> float:
        """Bytes a second that all partitions bring in from memory."""
        from_memory = ("memory_local", "memory_near", "memory_far")
        lines = (
            cores / one["ns"] * sum(one["lines"][source] for source in from_memory)
            for one, cores in self._priced(parts, changed)
        )
        return sum(lines) * float(self.spec["line_bytes"]) * 1e9

    def _priced(
        self, parts: tuple[tuple[range, float, dict[str, Any]], ...], changed: dict[str, Any]
    ) -> list[tuple[dict[str, Any], float]]:
        """Of each partition its price and how many cores it keeps busy."""
        partitions, busy = [], []
        for number, (nodes, per_chip, work) in enumerate(parts):
            partitions.append(self._partition(number, nodes, work))
            chips = range(nodes.start * self.chips, nodes.stop * self.chips)
            every = range(len(self.nodes) * self.chips)
            busy.append([per_chip if chip in chips else 0.0 for chip in every])
        spec = {**self._base, "machine": {**self.spec, **changed}, "partitions": partitions}
        answer = json.loads(_engine.price(json.dumps(spec), json.dumps(busy)))
        return list(zip(answer["partitions"], map(sum, busy), strict=True))

    def _partition(self, number: int, nodes: range, work: dict[str, Any]) -> dict[str, Any]:
        one = self._base["partitions"][0]
        beside_chips = self.spec["memory_beside"] == "chip"
        places = [
            domain
            for node in nodes
            for domain in (
                range(node * self.chips, (node + 1) * self.chips) if beside_chips else [node]
            )
        ]
        memory = [{**one["memory"][0], "domains": places}]
        processors = {**one["processors"], "cores": [number]}
        return {
            **one,
            "name": f"p{number}",
            "processors": processors,
            "memory": memory,
            "profile": work,
            "smt": 1,
            "page_bytes": one["data_bytes"],
        }


def works(base: dict[str, Any], seed: str) -> list[dict[str, Any]]:
    """Work that anybody might have; all of it hides less than a twentieth of nothing and more."""
    draw = random.Random(seed)
    oltp = base["partitions"][0]["profile"]
    return [
        {
            **oltp,
            "name": f"w{number}",
            "eicpi": draw.uniform(0.3, 3.0),
            "miss_m0": draw.uniform(0.0, 0.2),
            "miss_exponent": draw.choice([0.3, 0.5, 0.7]),
            "sharing": draw.choice([0.0, draw.uniform(0.0, 0.5)]),
            "footprint_common": draw.uniform(0.0, 1.0),
            "overlap": draw.choice([0.0, 0.25, 0.9, 0.99]),
            "dirty_share": draw.choice([0.0, 0.5]),
            "store_share": 0.0,
        }
        for number in range(4)
    ]


@pytest.fixture(params=machines())
def hardware(base: dict[str, Any], request: pytest.FixtureRequest) -> Hardware:
    """Every shipped machine in turn."""
    return Hardware(base, str(request.param))


def test_more_cores_do_more(base: dict[str, Any], hardware: Hardware) -> None:
    """But for caches: of what a cache divided among more misses, a full controller brings less."""
    first = range(1)
    for work in works(base, hardware.spec["name"]):
        cores = hardware.spec["cores_per_chip"]
        steps = [0.25 * cores * part for part in (1, 2, 3, 4)]
        patient = {**work, "overlap": 0.0}
        rates = [hardware.rates((first, each, patient))[0] for each in steps]
        assert all(b >= a * LEAST for a, b in itertools.pairwise(rates)), work


def test_a_neighbour_never_helps(base: dict[str, Any], hardware: Hardware) -> None:
    first, last = range(1), range(hardware.nodes[-1], hardware.nodes[-1] + 1)
    half = 0.5 * hardware.spec["cores_per_chip"]
    mine, other, *_ = works(base, hardware.spec["name"])
    alone = hardware.rates((first, half, mine))[0]
    for place in (first, last):
        beside = hardware.rates((first, half, mine), (place, half, other))[0]
        assert beside <= alone / LEAST


def test_no_more_is_read_than_memory_delivers(base: dict[str, Any], hardware: Hardware) -> None:
    greedy = {**works(base, "greedy")[0], "miss_m0": 0.5, "overlap": 0.99, "sharing": 0.0}
    greedy = {**greedy, "miss_exponent": 0.0, "dirty_share": 0.0}
    everywhere = range(len(hardware.nodes))
    domains = len(everywhere) * (hardware.chips if hardware.spec["memory_beside"] == "chip" else 1)
    for part in (1.0, 0.1):
        delivers = part * hardware.spec["memory_bytes_per_s"]
        read = hardware.traffic(
            (everywhere, float(hardware.spec["cores_per_chip"]), greedy),
            memory_bytes_per_s=delivers,
        )
        assert read <= domains * delivers * 1.000001


def test_scattering_never_wins_where_it_fits(base: dict[str, Any], hardware: Hardware) -> None:
    """Of work that has its data in common, where nothing is asked for faster than it comes:
    strangers have more cache where they are apart, and who streams has more controllers and links.
    """
    nodes = len(hardware.nodes)
    if nodes == 1:
        pytest.skip("it has one node")
    wide = {
        name: 1e3 * hardware.spec[name]
        for name in ("memory_bytes_per_s", "chip_link_bytes_per_s", "node_link_bytes_per_s")
    }
    quarter = 0.25 * hardware.spec["cores_per_chip"]
    for work in works(base, hardware.spec["name"]):
        own = {**work, "footprint_common": 1.0, "overlap": 0.25}
        together = hardware.rates((range(1), quarter, own), **wide)[0]
        apart = hardware.rates((range(nodes), quarter / nodes, own), **wide)[0]
        assert apart <= together / LEAST


def test_no_cost_jumps(base: dict[str, Any], hardware: Hardware) -> None:
    """A thousandth more of any number moves the cost by little more than a thousandth of it."""
    first = range(1)
    cores = 0.7 * hardware.spec["cores_per_chip"]
    for work in works(base, hardware.spec["name"]):
        before = hardware.rates((first, cores, work))[0]
        for name in ("eicpi", "miss_m0", "sharing", "overlap", "footprint_common", "dirty_share"):
            value = float(work[name])
            # Of what is hidden a thousandth of the rest, which is what costs.
            step = 1.0 - value if name == "overlap" else value
            moved = {**work, name: value + 0.001 * step}
            after = hardware.rates((first, cores, moved))[0]
            assert after == pytest.approx(before, rel=0.004), name
