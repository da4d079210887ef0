"""Every invariant of a machine description, checked in one place with a message for each."""

from __future__ import annotations

from itertools import pairwise

from homenode.errors import hint
from homenode.model.catalog.machine_model import Distances, MachineDescription
from homenode.model.catalog.streams import check_streams
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.shipped import shipped_names

_MOST_CORES = 4096


def check_machine(machine: MachineDescription, problems: Problems, prefix: Path = ()) -> None:
    """Add every breach to `problems`; `prefix` is where the description lies in the document."""
    _check_counts(machine, problems, prefix)
    for name, distances in (("memory", machine.memory), ("cache_to_cache", machine.cache_to_cache)):
        _check_distances(machine, distances, problems, (*prefix, name))
    _check_caches(machine, problems, prefix)
    _check_turbo(machine, problems, prefix)
    _check_smt(machine, problems, prefix)
    _check_reference(machine, problems, prefix)
    _check_pipeline(machine, problems, prefix)
    _check_node_distance(machine, problems, prefix)
    if machine.streams is not None:
        levels = [level.name for level in machine.cache]
        check_streams(machine.streams, levels, problems, (*prefix, "streams"))
    _check_platform(machine, problems, prefix)


def _check_counts(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    built = machine.cores
    tree = (
        f"{machine.nodes} x {machine.chips_per_node} x {machine.cores_per_chip} = {built} cores are"
        " built in"
    )
    if built > _MOST_CORES:
        problems.add(
            (*prefix, "topology"), there=tree, next_step=f"at most {_MOST_CORES} can be simulated"
        )
    elif machine.active_cores > built:
        path: Path = (*prefix, "topology", "active_cores")
        if prefix and "active_cores" in (problems.document.value(prefix) or {}):
            path = (*prefix, "active_cores")
        problems.add(path, there=tree, next_step=f"activate at most {built}")


def _check_distances(
    machine: MachineDescription, distances: Distances, problems: Problems, path: Path
) -> None:
    clock = machine.clock.value
    steps = [("local", distances.local), ("near", distances.near), ("far", distances.far)]
    for (inner, closer), (outer, further) in pairwise(steps):
        nearer_ns, further_ns = closer.value.nanoseconds(clock), further.value.nanoseconds(clock)
        if further_ns < nearer_ns:
            there = f"{outer} ({further_ns:g} ns) is faster than {inner} ({nearer_ns:g} ns)"
            problems.add(
                (*path, outer),
                there=there,
                next_step="latency never falls with distance; correct one of the two",
            )


def _check_caches(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    clock = machine.clock.value
    order = ("part", "core", "chip", "node")
    names = [level.name for level in machine.cache]
    for index, level in enumerate(machine.cache):
        path: Path = (*prefix, "cache", index if not prefix else level.name)
        if names.index(level.name) != index:
            problems.add(
                path,
                f"two caches are called {level.name}",
                next_step="give each level a name of its own",
            )
        if index == 0:
            continue
        inner = machine.cache[index - 1]
        inner_ns, outer_ns = (
            inner.latency.value.nanoseconds(clock),
            level.latency.value.nanoseconds(clock),
        )
        if outer_ns < inner_ns:
            there = (
                f"{level.name} ({outer_ns:g} ns) lies outside {inner.name} ({inner_ns:g} ns) but is"
                " faster"
            )
            problems.add(
                (*path, "latency"), there=there, next_step="list the caches from the core outwards"
            )
        if order.index(level.scope) < order.index(inner.scope):
            there = (
                f"{level.name} is shared by a {level.scope}, {inner.name} inside it by a"
                f" {inner.scope}"
            )
            problems.add(
                (*path, "scope"), there=there, next_step="list the caches from the core outwards"
            )


def _check_turbo(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    clocks = [] if machine.turbo is None else machine.turbo.value
    for cores, (before, after) in enumerate(pairwise(clocks), 2):
        if after > before:
            problems.add(
                (*prefix, "turbo"),
                there=f"{cores} busy cores have {after / 1e9:g} GHz, one less {before / 1e9:g}",
                next_step="one more busy core never makes the others faster; correct one",
            )
            return


def _check_reference(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    names, asked = shipped_names("profiles"), machine.smt.reference
    if asked not in names:
        problems.add(
            (*prefix, "smt", "reference"),
            there=f'no profile is called "{asked}"{hint(asked, names)}',
            next_step="name the profile of the work that the gain was published for: oltp, mostly",
        )


def _check_pipeline(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    names, told = shipped_names("machines"), machine.pipeline
    if told is not None and told.reference not in names:
        problems.add(
            (*prefix, "pipeline", "reference"),
            there=f'no machine is called "{told.reference}"{hint(told.reference, names)}',
            next_step="name the machine for whose core profiles state eicpi: ibm-z196",
        )


def _check_smt(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    gain, threads = machine.smt.gain.value, machine.threads_per_core
    path = (*prefix, "smt", "gain")
    parts = 1 if machine.smt.parts is None else machine.smt.parts.value
    if threads % parts:
        problems.add(
            (*prefix, "smt", "parts"),
            there=f"{parts} parts for {threads} threads a core",
            next_step="give a number that divides the threads evenly",
        )
    if len(gain) != threads:
        problems.add(
            path,
            there=f"{len(gain)} values for {threads} threads a core",
            next_step=f"give {threads} values, the first 1",
        )
    elif gain[0] != 1:
        problems.add(
            path,
            there=f"it begins with {gain[0]:g}",
            next_step="the gain of one thread is 1 by definition",
        )
    elif any(later < earlier for earlier, later in pairwise(gain)):
        problems.add(
            path,
            there="it falls",
            next_step="a further busy thread never lowers a core's throughput here",
        )


def _check_node_distance(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    if machine.node_distance is None:
        return
    rows = machine.node_distance.value
    if len(rows) != machine.nodes or any(len(row) != machine.nodes for row in rows):
        there = f"{len(rows)} rows for {machine.nodes} nodes"
        problems.add(
            (*prefix, "node_distance"),
            there=there,
            next_step="give a row a node with a factor for each node",
        )


def _check_platform(machine: MachineDescription, problems: Problems, prefix: Path) -> None:
    """Cell-local memory is memory beside a cell, and granules are powers of two."""
    platform = machine.platform
    if platform is None:
        return
    path = (*prefix, "platform")
    if machine.memory.beside != "node":
        problems.add(
            path,
            "no cells without memory beside them",
            there=f'memory.beside is "{machine.memory.beside}"',
            next_step='write beside = "node" in [memory], or leave [platform] out',
            at_key=True,
        )
    for key, granule in (
        ("granule_minimum", platform.granule_minimum.value),
        ("granule_default", platform.granule_default.value),
    ):
        if granule & (granule - 1):
            there = "a granule is a power of two"
            problems.add((*path, key), there=there, next_step="write 64 MiB, 128 MiB or more")
