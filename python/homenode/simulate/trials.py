"""What fewer virtual processors or more entitlement would bring: tried, for no price of an
instruction tells it.

A trial is the run's own input with the partition's processors changed, simulated anew and briefly,
beside the run's input as it is, simulated as briefly. Only partitions that share processors by
entitlement under PowerVM have such trials; the others of the run stay as they are.
"""

from __future__ import annotations

import copy
import json
import math
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from homenode.errors import HomenodeError
from homenode.model.spec import Spec, works_of
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.runner.running import run_scenario

WARMUP_NS: Final = 4_000_000_000
DURATION_NS: Final = 10_000_000_000
"""At most so much of a trial: long enough for folding to follow a change of the processors."""
_PARTS: Final = (5 / 6, 2 / 3, 1 / 2)
"""Of the virtual processors that are tried."""
_MORE: Final = (2.0, 4.0)
"""Times the entitlement that are tried."""
AS_IT_IS: Final = "as it is"


@dataclass(frozen=True)
class Trial:
    """A change, and what came of it."""

    change: str
    """In words; `as it is` is what the others are held against."""
    physc: float | None
    """Cores."""
    etr_per_s: float | None
    """Transactions a second; none where a backlog grows or there are no transactions."""
    cpu_per_tx_us: float | None
    """Core time of a transaction [us]."""
    response_ms: float | None
    """Mean response time [ms]."""
    ilcs_per_s: float | None
    """Involuntary switches of logical processors [1/s]."""

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return asdict(self)


@dataclass(frozen=True)
class _Changed:
    """The input of a run with some numbers replaced."""

    text: str
    spec: Spec
    replications: int = 1

    def spec_json(self) -> str:
        """The engine's input."""
        return json.dumps(self.spec)


def tried(
    run: KeptRun,
    partition: str | None = None,
    *,
    each: Callable[[float, str], None] = lambda _, __: None,
    stop: threading.Event | None = None,
) -> list[Trial]:
    """The trials of a partition, the run as it is first. `each` is told of every trial before it
    begins, with the share that is done [0..1].
    """
    name = run.partition(partition)
    index = run.partitions.index(name)
    spec = _shortened(run.spec)
    changes = [(AS_IT_IS, spec), *_changes(spec, index)]
    if len(changes) == 1:
        raise HomenodeError(
            f"there is nothing to try for {name}: it does not share processors by entitlement",
            next_step="change the scenario, run it and compare: homenode compare RUN RUN",
        )
    with tempfile.TemporaryDirectory(prefix="homenode-trials-") as folder:
        trials: list[Trial] = []
        for words, changed in changes:
            each(len(trials) / len(changes), f"trying {words}")
            scenario = _Changed(f"# tried: {words}\n", changed)
            kept = run_scenario(scenario, out=folder, stop=stop)
            trials.append(_trial(words, kept, name))
        return trials


def _shortened(spec: Spec) -> Spec:
    short: Spec = copy.deepcopy(spec)
    short["warmup_ns"] = min(spec["warmup_ns"], WARMUP_NS)
    if not _goes_by_time(spec):
        short["duration_ns"] = min(spec["duration_ns"], DURATION_NS)
    short["record_dispatches"] = False
    return short


def _goes_by_time(spec: Spec) -> bool:
    """Whether its first seconds are not like the others: work is played step by step, or an
    operator changes something.
    """
    steps = [
        len(work["lengths_ns"])
        for one in spec["partitions"]
        for work in works_of(one)
        if work["kind"] == "trace"
    ]
    return max(steps, default=0) > 1 or "changes" in spec


def _changes(spec: Spec, index: int) -> Iterator[tuple[str, Spec]]:
    """What may be tried: fewer virtual processors as long as each gets no more than a core of
    entitlement, more entitlement as long as the pool has it.
    """
    processors = spec["partitions"][index]["processors"]
    if spec["machine"]["hypervisor"]["policy"] != "phyp" or processors["mode"] != "shared":
        return
    entitlement, virtual = processors["entitlement"], processors["virtual"]
    for part in _PARTS:
        fewer = math.ceil(part * virtual)
        if fewer < virtual and fewer >= entitlement:
            yield f"{fewer} virtual processors", _with(spec, index, virtual=fewer)
    for times in _MORE:
        more = times * entitlement
        if more <= virtual and more - entitlement <= _unentitled(spec):
            yield f"entitlement {more:g}", _with(spec, index, entitlement=more)


def _with(spec: Spec, index: int, **numbers: float) -> Spec:
    changed: Spec = copy.deepcopy(spec)
    processors: Any = changed["partitions"][index]["processors"]
    processors.update(numbers)
    changed["name"] = f"{spec['name']}-tried"
    return changed


def _unentitled(spec: Spec) -> float:
    """Cores that nobody is entitled to."""
    taken = 0.0
    for one in spec["partitions"]:
        processors: Any = one["processors"]
        taken += processors.get("entitlement", len(processors.get("cores", ())))
    machine: Any = spec["machine"]
    all_cores = math.prod(machine[key] for key in ("nodes", "chips_per_node", "cores_per_chip"))
    active: int = machine.get("active_cores") or all_cores
    return active - taken


def _trial(words: str, run: KeptRun, name: str) -> Trial:
    def mean(metric: str) -> float | None:
        return run.metric(name, metric).mean

    return Trial(
        words,
        mean("physc"),
        mean("etr_per_s"),
        mean("cpu_per_tx_us"),
        mean("response_ms_mean"),
        mean("ilcs_per_s"),
    )
