"""N equal loops with a common start: how evenly and how fast a host turns N over its processors.

Each loop does the same number of turns of a computation that needs no memory, so that with P
processors the last should end after `max(1, N/P)` times what one takes alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from homenode.hosts.adapter import Bench, Case, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.kernel_process import engine_version, run_kernel
from homenode.hosts.adapters.reading import json_object, number, optional, positive, unreadable

_NS = 1e-9
_SLOWEST = 1e7
"""Turns a second that any host does; bounds the wait."""
_LATE_S, _LATE_EACH_S = 0.2, 0.002
"""The common start lies 20 ms and 1 ms a loop behind the process's own, for forking them."""


class Loops:
    """The loop test."""

    name = "loops"
    title = "N equal processor-bound loops with a common start"
    stands_for = "1 to 24 parallel loops under micro-partitioning: the elapsed time of all"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """Nothing but this package."""
        return Requirements()

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` loops of `turns`, the same work each time, however long it takes."""
        given = Given(self.name, name, parameters)
        count = given.count("load", 1, least=1, most=4096)
        turns = given.count("turns", 740_000_000, least=1_000_000, most=10**12)
        given.no_others()
        loops = "a loop" if count == 1 else f"{count} loops"
        return Case(
            name=name,
            title=f"{loops} of {turns / 1e6:g} million turns, until the last has ended",
            metric="loops",
            unit="s",
            better="lower",
            parameters=given.taken,
            load=float(count),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """All loops once; `seconds` does not change their work."""
        turns, count = int(case.parameters["turns"]), int(case.load)
        words = {"count": count, "iterations": turns}
        longest = seconds + turns * count / _SLOWEST
        late = _LATE_S + _LATE_EACH_S * count
        told = run_kernel(bench, "loops", words, seconds=longest, late_s=late)
        return self.parse(case, told)

    def parse(self, case: Case, text: bytes) -> Output:
        """One JSON object with a row a loop."""
        found = json_object(self.name, text)
        rows = found.get("loops")
        if found.get("kernel") != "loops" or not isinstance(rows, list):
            raise unreadable(self.name, "it is not of the loops", text)
        if len(rows) != int(case.load):
            raise unreadable(self.name, f"it has {len(rows)} loops of {case.load:g}", text)
        turns = case.parameters["turns"]
        if any(positive(self.name, row, "iterations") != turns for row in rows):
            raise unreadable(self.name, f"not all its loops did {turns} turns", text)
        elapsed = positive(self.name, found, "elapsed_ns") * _NS
        return Output(
            work=case.load,
            seconds=elapsed,
            score=elapsed,
            details=_details(found, rows),
        )

    def version(self, bench: Bench) -> str:
        """The engine's, whose part the loops are."""
        return engine_version()


def _details(found: Mapping[str, object], rows: list[Mapping[str, object]]) -> dict[str, object]:
    """Each loop's elapsed and processor time, involuntary switches, run delay."""
    start = positive("loops", found, "start_ns")
    details: dict[str, object] = {
        "elapsed_s": [(positive("loops", row, "end_ns") - start) * _NS for row in rows],
        "cpu_s": [positive("loops", row, "cpu_ns") * _NS for row in rows],
        "nvcsw": [number("loops", row, "nvcsw") for row in rows],
        "nivcsw": [number("loops", row, "nivcsw") for row in rows],
    }
    delays = [optional(row, "run_delay_ns") for row in rows]
    if None not in delays:
        details["run_delay_s"] = [delay * _NS for delay in delays if delay is not None]
    return details
