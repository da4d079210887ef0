"""Commands for what may change on a Linux or Xen host: of a domain of libvirt, of Xen's toolstack,
of plain processes in a control group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import Any

from homenode.model.spec import shared_of
from homenode.planner.advice import Change
from homenode.records.exporting.libvirt import domain_of
from homenode.records.exporting.root_tree import cpu_list
from homenode.simulate.run import Run

Says = Callable[[str, Any], Iterator[str]]
_WORDS = ("virtual", "weight", "cpuset", "pins")


def on_host(after: Run, changes: Sequence[Change]) -> Iterator[str]:
    """What brings the partitions of a host to what they are in a run; as comments what no command
    of theirs does.
    """
    xen = after.spec["machine"]["hypervisor"]["policy"] == "credit2"
    for change in changes:
        shared = shared_of(after.partition_spec(change.partition))
        host = None if shared is None else shared.get("host")
        if shared is None or host is None or change.word not in _WORDS:
            yield f"# {change.path}: {change.before} -> {change.after}"
            continue
        kind = _XL if xen else _PROCESSES if host["kvm"] is None else _VIRSH
        name, word = quote(change.partition), change.word
        if word in ("cpuset", "pins"):
            yield from kind["pins"](name, _pinned(after, change.partition))
        else:
            yield from kind[word](name, shared["virtual" if word == "virtual" else "weight"])


def _pinned(run: Run, name: str) -> list[str]:
    """The processors of each virtual processor; where nothing keeps it, all of the host."""
    domain = domain_of(run, name)
    count = len(range(domain.cores * domain.smt))
    allowed = next((group["cpuset"] for group in domain.groups if group["cpuset"]), None)
    every = domain.host.machine
    last = int(every["active_cores"]) * domain.host.threads
    shared: Any = domain.shared
    pins = shared["host"]["pins"] or [allowed or range(last)] * count
    return [cpu_list(pins[at] or allowed or range(last)) for at in range(count)]


def _alike(pins: Sequence[str]) -> str | None:
    return pins[0] if len(set(pins)) == 1 else None


def _virsh_pins(name: str, pins: Sequence[str]) -> Iterator[str]:
    same, how = _alike(pins), "--live --config"
    if same is not None:
        yield (
            f'for vcpu in $(seq 0 {len(pins) - 1}); do virsh vcpupin {name} "$vcpu" {same} {how};'
            " done"
        )
        return
    yield from (f"virsh vcpupin {name} {vcpu} {cpus} {how}" for vcpu, cpus in enumerate(pins))


def _xl_pins(name: str, pins: Sequence[str]) -> Iterator[str]:
    same = _alike(pins)
    told = enumerate(pins) if same is None else [("all", same)]
    yield from (f"xl vcpu-pin {name} {vcpu} {cpus}" for vcpu, cpus in told)


def _process_pins(name: str, pins: Sequence[str]) -> Iterator[str]:
    same = _alike(pins)
    if same is not None:
        yield f"systemctl set-property {name}.scope AllowedCPUs={same}"
        return
    yield f"# threads of {name}, one after the other, by their ids in TID0, TID1, ..."
    yield from (f'taskset --cpu-list --pid {cpus} "$TID{at}"' for at, cpus in enumerate(pins))


def _one(line: str) -> Says:
    def says(name: str, value: object) -> Iterator[str]:
        yield line.format(name=name, value=value)

    return says


_VIRSH: dict[str, Says] = {
    "virtual": _one("virsh setvcpus {name} {value} --live --config"),
    "weight": _one("virsh schedinfo {name} --live --config --set cpu_shares={value}"),
    "pins": _virsh_pins,
}
_XL: dict[str, Says] = {
    "virtual": _one("xl vcpu-set {name} {value}"),
    "weight": _one("xl sched-credit2 --domain={name} --weight={value}"),
    "pins": _xl_pins,
}
_PROCESSES: dict[str, Says] = {
    "virtual": _one("# {name}: {value} threads, as the program itself is told"),
    "weight": _one("systemctl set-property {name}.scope CPUWeight={value}"),
    "pins": _process_pins,
}
