"""Commands for what may change on a Linux or Xen host: of a domain of libvirt, of Xen's toolstack,
of plain processes in a control group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from shlex import quote

from homenode.model.scenario.host.esxi import ESXI
from homenode.planner.advice import Change
from homenode.planner.reasons import plain
from homenode.records.exporting.libvirt import Domain, domain_of
from homenode.records.exporting.root_tree import cpu_list
from homenode.simulate.run import Run

Says = Callable[[str, Domain], Iterator[str]]
_WORDS = {"virtual": "virtual", "weight": "weight", "cpuset": "pins", "pins": "pins"}


def on_host(after: Run, changes: Sequence[Change]) -> Iterator[str]:
    """What brings the partitions of a host to what they are in a run; as comments what no command
    of theirs does, and all under ESXi, whose own tools are none of these.
    """
    policy = after.spec["machine"]["hypervisor"]["policy"]
    xen = policy == "credit2"
    for change in changes:
        domain = domain_of(after, change.partition)
        host = None if domain.shared is None else domain.shared.get("host")
        if host is None or change.word not in _WORDS or policy == ESXI:
            yield f"# {change.path}: {plain(change.before)} -> {plain(change.after)}"
            continue
        kind = _XL if xen else _PROCESSES if host["kvm"] is None else _VIRSH
        yield from kind[_WORDS[change.word]](quote(domain.name), domain)


def _pins(domain: Domain) -> list[str]:
    """The processors of each virtual processor; where nothing keeps it, all of the host."""
    every = range(int(domain.host.machine["active_cores"]) * domain.host.threads)
    return [cpu_list(pins or every) for pins in domain.kept_to]


def _weight(domain: Domain) -> object:
    own = domain.own_group
    return own["weight"] if own is not None else domain.shared and domain.shared["weight"]


def _alike(pins: Sequence[str]) -> str | None:
    return pins[0] if len(set(pins)) == 1 else None


def _virsh_pins(name: str, domain: Domain) -> Iterator[str]:
    pins = _pins(domain)
    same, how = _alike(pins), "--live --config"
    if same is not None:
        yield (
            f'for vcpu in $(seq 0 {len(pins) - 1}); do virsh vcpupin {name} "$vcpu" {same} {how};'
            " done"
        )
        return
    yield from (f"virsh vcpupin {name} {vcpu} {cpus} {how}" for vcpu, cpus in enumerate(pins))


def _xl_pins(name: str, domain: Domain) -> Iterator[str]:
    pins = _pins(domain)
    same = _alike(pins)
    told = enumerate(pins) if same is None else [("all", same)]
    yield from (f"xl vcpu-pin {name} {vcpu} {cpus}" for vcpu, cpus in told)


def _process_pins(name: str, domain: Domain) -> Iterator[str]:
    pins = _pins(domain)
    same = _alike(pins)
    if same is not None:
        yield f"systemctl set-property {name}.scope AllowedCPUs={same}"
        return
    yield f"# threads of {name}, one after the other, by their ids in TID0, TID1, ..."
    yield from (f'taskset --cpu-list --pid {cpus} "$TID{at}"' for at, cpus in enumerate(pins))


def _one(line: str) -> Says:
    def says(name: str, domain: Domain) -> Iterator[str]:
        virtual = domain.cores * domain.smt
        yield line.format(name=name, virtual=virtual, weight=_weight(domain))

    return says


_VIRSH: dict[str, Says] = {
    "virtual": _one("virsh setvcpus {name} {virtual} --live --config"),
    "weight": _one("virsh schedinfo {name} --live --config --set cpu_shares={weight}"),
    "pins": _virsh_pins,
}
_XL: dict[str, Says] = {
    "virtual": _one("xl vcpu-set {name} {virtual}"),
    "weight": _one("xl sched-credit2 --domain={name} --weight={weight}"),
    "pins": _xl_pins,
}
_PROCESSES: dict[str, Says] = {
    "virtual": _one("# {name}: {virtual} threads, as the program itself is told"),
    "weight": _one("systemctl set-property {name}.scope CPUWeight={weight}"),
    "pins": _process_pins,
}
