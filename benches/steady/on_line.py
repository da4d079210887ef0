"""Queues solved by LINE, exactly: cases come as JSON, throughput and time there of each go back."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

from line_solver import (
    MAM,
    NC,
    ClosedClass,
    Delay,
    Exp,
    Network,
    OpenClass,
    Queue,
    SchedStrategy,
    Sink,
    Source,
)


def queue(model: Network, case: dict[str, Any]) -> Queue:
    """First come, first served, as many servers as cores."""
    cores = Queue(model, "cores", SchedStrategy.FCFS)
    cores.set_number_of_servers(case["cores"])
    return cores


def closed(case: dict[str, Any]) -> tuple[float, float]:
    """Users who are away for a while and come back: by the normalizing constant."""
    model = Network("users")
    away, cores = Delay(model, "away"), queue(model, case)
    users = ClosedClass(model, "users", case["users"], away, 0)
    away.set_service(users, Exp(1.0 / case["away_ms"]))
    cores.set_service(users, Exp(1.0 / case["service_ms"]))
    model.link(Network.serial_routing(away, cores))
    return told(NC(model, verbose=False))


def opened(case: dict[str, Any]) -> tuple[float, float]:
    """Arrivals that come whatever is there: by matrix-analytic methods."""
    model = Network("arrivals")
    source, cores, sink = Source(model, "source"), queue(model, case), Sink(model, "sink")
    arrivals = OpenClass(model, "arrivals")
    source.set_arrival(arrivals, Exp(case["rate_per_ms"]))
    cores.set_service(arrivals, Exp(1.0 / case["service_ms"]))
    model.link(Network.serial_routing(source, cores, sink))
    return told(MAM(model, verbose=False))


def told(solver: Any) -> tuple[float, float]:
    """Throughput [1/ms] and mean time at the cores [ms]."""
    solver.run_analyzer()
    return float(solver.get_avg_tput()[1][0]), float(solver.get_avg_resp_t()[1][0])


if __name__ == "__main__":
    answers = [
        closed(case) if case["rate_per_ms"] is None else opened(case)
        for case in json.load(sys.stdin)
    ]
    json.dump({"library": f"LINE {version('line-solver')}", "answers": answers}, sys.stdout)
