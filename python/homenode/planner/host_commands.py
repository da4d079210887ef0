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
_WORDS = {
    "virtual": "virtual", "weight": "weight", "cpuset": "pins", "pins": "pins", "pages": "page",
}  # fmt: skip
_SMALL_PAGE = 4096


def on_host(before: Run, after: Run, changes: Sequence[Change]) -> Iterator[str]:
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
        if change.word == "virtual" and _is_more(change):
            yield from kind["more"](quote(domain.name), domain)
        if _WORDS[change.word] == "pins" and _nodes(domain) != _nodes(
            domain_of(before, domain.name)
        ):
            yield from kind["memory"](quote(domain.name), domain)


def _is_more(change: Change) -> bool:
    """Whether there are more virtual processors than before."""
    return float(str(change.after)) > float(str(change.before))


def _nodes(domain: Domain) -> list[int]:
    """Nodes of the host on which its memory is, all where nothing keeps it anywhere."""
    if any(domain.kept_to):
        return [*domain.memory_kib]
    machine = domain.host.machine
    chips = int(machine["chips_per_node"]) if machine["memory_beside"] == "chip" else 1
    return [*range(int(machine["nodes"]) * chips)]


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


def _one(*lines: str) -> Says:
    def says(name: str, domain: Domain) -> Iterator[str]:
        virtual = domain.cores * domain.smt
        told = {
            "virtual": virtual,
            "threads": f"{virtual} thread{'' if virtual == 1 else 's'}",
            "weight": _weight(domain),
            "nodes": cpu_list(_nodes(domain)),
            "cpus": _alike(_pins(domain)) or "those of each virtual processor",
        }
        yield from (line.format(name=name, **told) for line in lines)

    return says


def _page(name: str, domain: Domain) -> Iterator[str]:
    """What maps a guest's memory stands in its definition, and large pages are set aside before."""
    walks = None if domain.shared is None else domain.shared["host"].get("virtualized")
    size = 0 if walks is None else int(walks["page_bytes"])
    yield f"# In `virsh edit {name}`, <memoryBacking>, for its next start:"
    if size <= _SMALL_PAGE:
        yield "#   no <hugepages>"
        return
    kib = size // 1024
    count = -(-domain.memory_mb * 1024 // kib)
    yield f'#   <hugepages><page size="{kib}" unit="KiB"/></hugepages>'
    there = f"/sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages"
    yield f"# {count:,} of them must be set aside before, for this guest alone: {there}"


_VIRSH: dict[str, Says] = {
    "virtual": _one("virsh setvcpus {name} {virtual} --live --config"),
    "more": _one(
        "# (up to its maximum; beyond it both without --live, for its next start, and before:",
        "#  virsh setvcpus {name} {virtual} --maximum --config)",
    ),
    "memory": _one(
        "virsh numatune {name} --nodeset {nodes} --config",
        "# (from its next start on: until then its memory is where it was)",
    ),
    "page": _page,
    "weight": _one("virsh schedinfo {name} --live --config --set cpu_shares={weight}"),
    "pins": _virsh_pins,
}
_XL: dict[str, Says] = {
    "virtual": _one("xl vcpu-set {name} {virtual}"),
    "more": _one(
        "# (up to maxvcpus of its configuration; beyond it write that and create it anew)"
    ),
    "memory": _one(
        '# Memory goes with cpus = "{cpus}" in its configuration, when it is created anew;',
        "# until then it is where it was.",
    ),
    "weight": _one("xl sched-credit2 --domain={name} --weight={weight}"),
    "pins": _xl_pins,
}
_PROCESSES: dict[str, Says] = {
    "virtual": _one("# {name}: {threads}, as the program itself is told"),
    "more": _one(),
    "memory": _one("systemctl set-property {name}.scope AllowedMemoryNodes={nodes}"),
    "weight": _one("systemctl set-property {name}.scope CPUWeight={weight}"),
    "pins": _process_pins,
}
