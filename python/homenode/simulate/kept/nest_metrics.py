"""How hard work uses the levels beyond its own caches, as capacity planning for Z counts it.

L1MP is the lines written into the first level for 100 instructions; L2P to MEMP say in percent
where these came from: the second level, the chip's L3, the node's L4 and caches, other nodes'
caches, memory. The relative nest intensity weighs them with the latencies of a generation, and a
rule on both makes a category of it. The weights come with the machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from homenode.model.estimate import Told
from homenode.simulate.kept.books import SOURCES
from homenode.simulate.kept.totals import Totals, ratio

SHARES: dict[str, tuple[str, ...]] = {
    "l2p": ("l2",),
    "l3p": ("l3", "cache_chip"),
    "l4lp": ("l4", "cache_near"),
    "l4rp": ("cache_far",),
    "memp": ("memory_local", "memory_near", "memory_far"),
}
"""Sources of lines by the name of their share. A line that another core of the chip has changed is
handed over by the L3, one of another chip by the L4 of its node."""
_WITHOUT_L3 = {**SHARES, "l3p": ("l3",), "l4lp": ("l4", "cache_chip", "cache_near")}
"""Of a machine whose weights know no L3: there the node's cache hands over both."""
_WEIGHED = {"l3p": "l3", "l4lp": "l4_local", "l4rp": "l4_remote", "memp": "memory"}

_FEW_MISSES, _MANY_MISSES = 3.0, 6.0
_INTENSE, _VERY_INTENSE, _LIGHT = 0.75, 1.0, 0.6


def l1mp(totals: Totals) -> float | None:
    """Lines written into the first level for 100 instructions."""
    if totals.rni is None:
        return None
    return ratio(_lines(totals, SOURCES), totals["instructions"], 100.0)


def share(totals: Totals, name: str) -> float | None:
    """Percent of these lines that came from there."""
    if totals.rni is None:
        return None
    shares = SHARES if "l3" in totals.rni else _WITHOUT_L3
    return ratio(_lines(totals, shares[name]), _lines(totals, SOURCES), 100.0)


def rni(totals: Totals) -> float | None:
    """Relative nest intensity: the shares weighed by how far away their source is."""
    weights = totals.rni
    if weights is None:
        return None
    shares = {name: share(totals, name) for name in _WEIGHED}
    weighed = [weights.get(_WEIGHED[name], 0.0) * s for name, s in shares.items() if s is not None]
    return weights["scale"] * sum(weighed) / 100.0 if weighed else None


def category(l1mp: float, rni: float) -> str:
    """LOW, AVERAGE or HIGH, by the published rule.

    IBM, "LSPR workload categories" (support document 6952525): by L1MP below 3, from 3 to 6, and
    above.
    """
    if l1mp < _FEW_MISSES:
        return "AVERAGE" if rni >= _INTENSE else "LOW"
    if l1mp <= _MANY_MISSES:
        return "HIGH" if rni > _VERY_INTENSE else "AVERAGE" if rni >= _LIGHT else "LOW"
    return "HIGH" if rni >= _INTENSE else "AVERAGE"


def categories(metrics: Mapping[str, Mapping[str, Told]]) -> dict[str, str]:
    """Of each partition of a summary that has both figures."""
    found = {}
    for partition, values in metrics.items():
        misses, intensity = (values[name]["mean"] for name in ("l1mp", "rni"))
        if isinstance(misses, float) and isinstance(intensity, float):
            found[partition] = category(misses, intensity)
    return found


def _lines(totals: Totals, sources: tuple[str, ...]) -> float:
    return totals.sum(*(f"lines_{source}" for source in sources))
