"""What an instruction takes of the core alone: the twin of the engine's `cost/pipeline.rs`, for
metrics that tell it apart from what caches and memory take, and for work that is told in time.
"""

from __future__ import annotations

from homenode.model.spec import DrainsSpec, MachineSpec, ProfileSpec

_BRANCHES_AT_TARGETS = 8192.0


def core_cycles(profile: ProfileSpec, machine: MachineSpec) -> float:
    """Cycles of an instruction of this work with an infinite cache on this machine's core."""
    eicpi, rate = float(profile["eicpi"]), float(machine["core_rate"])
    told = machine.get("pipeline")
    if told is None:
        return eicpi / rate
    flows = eicpi - _drains(told["reference"], profile)
    return flows / rate + _drains(told["own"], profile)


def _drains(core: DrainsSpec, profile: ProfileSpec) -> float:
    """Cycles of an instruction in which the pipelines of a core are empty."""
    known = _BRANCHES_AT_TARGETS / core["branch_targets"]
    missed = profile.get("branch_misses", 0.0) * known ** profile["miss_exponent"]
    control = profile.get("control_share", 0.0) * core["control_cycles"]
    return float(control + min(missed, 1.0) * core["branch_cycles"])
