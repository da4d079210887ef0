"""Commands for what may change on a Linux or Xen host: of a domain of libvirt, of Xen's toolstack,
of plain processes in a control group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from homenode.model.scenario.host.esxi import ESXI
from homenode.planner.advice import Change
from homenode.planner.reasons import plain
from homenode.records.exporting.libvirt import Domain, domain_of
from homenode.records.exporting.root_tree import cpu_list
from homenode.simulate.run import Run

Says = Callable[[str, Domain], Iterator[str]]
Pins = Callable[[str, Domain, int], Iterator[str]]
"""Pins virtual processors, from one of them on."""
_WORDS = {
    "virtual": "virtual", "weight": "weight", "cpuset": "pins", "pins": "pins", "pages": "page",
}  # fmt: skip
_SMALL_PAGE = 4096


@dataclass(frozen=True)
class Tool:
    """What runs partitions of a host."""

    says: Mapping[str, Says]
    """By what changes, its lines."""
    pins: Pins


def on_host(
    before: Run, after: Run, changes: Sequence[Change], *, back: bool = False
) -> Iterator[str]:
    """What brings the partitions of a host to what they are in a run, or `back` to it; as comments
    what no command of theirs does, and all under ESXi, whose own tools are none of these.
    """
    policy = after.spec["machine"]["hypervisor"]["policy"]
    xen = policy == "credit2"
    # What is pinned must be there: more virtual processors come first.
    for change in sorted(changes, key=lambda one: not _is_more(one)):
        domain = domain_of(after, change.partition)
        host = None if domain.shared is None else domain.shared.get("host")
        if host is None or change.word not in _WORDS or policy == ESXI:
            yield f"# {change.path}: {plain(change.before)} -> {plain(change.after)}"
            continue
        kind = _XL if xen else _PROCESSES if host["kvm"] is None else _VIRSH
        if _WORDS[change.word] == "pins":
            yield from _kept(kind, domain, domain_of(before, domain.name))
            continue
        yield from kind.says[_WORDS[change.word]](quote(domain.name), domain)
        if _is_more(change):
            if not back:
                yield from kind.says["more"](quote(domain.name), domain)
            if not any(
                one.partition == domain.name and _WORDS.get(one.word) == "pins" for one in changes
            ):
                yield from _new_ones(kind, domain, int(str(change.before)))


def _kept(kind: Tool, domain: Domain, before: Domain) -> Iterator[str]:
    """Other processors, and memory beside them."""
    yield from kind.pins(quote(domain.name), domain, 0)
    if _nodes(domain) != _nodes(before):
        yield from kind.says["memory"](quote(domain.name), domain)


def _new_ones(kind: Tool, domain: Domain, first: int) -> Iterator[str]:
    """Virtual processors that were not there are kept where the others are: a pin of each of them
    is none of a new one.
    """
    if any(domain.kept_to[first:]):
        yield from kind.pins(quote(domain.name), domain, first)


def _is_more(change: Change) -> bool:
    """Whether there are more virtual processors than before."""
    return change.word == "virtual" and float(str(change.after)) > float(str(change.before))


def _nodes(domain: Domain) -> list[int]:
    """Nodes of the host on which its memory is, all where nothing keeps it anywhere."""
    return [*domain.memory_kib] if any(domain.kept_to) else _all_nodes(domain)


def _all_nodes(domain: Domain) -> list[int]:
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


def _virsh_pins(name: str, domain: Domain, first: int) -> Iterator[str]:
    pins = _pins(domain)
    same, how = _alike(pins[first:]), "--live --config"
    if same is not None:
        each = f"$(seq {first} {len(pins) - 1})"
        yield f'for vcpu in {each}; do virsh vcpupin {name} "$vcpu" {same} {how}; done'
        return
    for vcpu, cpus in enumerate(pins[first:], start=first):
        yield f"virsh vcpupin {name} {vcpu} {cpus} {how}"


def _xl_pins(name: str, domain: Domain, first: int) -> Iterator[str]:
    pins = _pins(domain)
    same = _alike(pins)
    if same is not None:
        yield f"xl vcpu-pin {name} all {same}"
        return
    for vcpu, cpus in enumerate(pins[first:], start=first):
        yield f"xl vcpu-pin {name} {vcpu} {cpus}"


def _process_pins(name: str, domain: Domain, first: int) -> Iterator[str]:
    pins = _pins(domain)
    same = _alike(pins)
    if same is not None:
        if not first:  # new threads are in the group as they come
            yield f"systemctl set-property {name}.scope AllowedCPUs={same}"
        return
    yield f"# threads of {name}, one after the other, by their ids in TID0, TID1, ..."
    for at, cpus in enumerate(pins[first:], start=first):
        yield f'taskset --cpu-list --pid {cpus} "$TID{at}"'


def _one(*lines: str) -> Says:
    def says(name: str, domain: Domain) -> Iterator[str]:
        virtual = domain.cores * domain.smt
        told = {
            "virtual": virtual,
            "threads": f"{virtual} thread{'' if virtual == 1 else 's'}",
            "weight": _weight(domain),
            "nodes": cpu_list(_nodes(domain)),
            "cpus": _cpus(domain),
        }
        yield from (line.format(name=name, **told) for line in lines)

    return says


def _cpus(domain: Domain) -> str:
    """The value of `cpus` in a configuration of Xen's: a list has a place for each virtual
    processor.
    """
    pins = [f'"{cpus}"' for cpus in _pins(domain)]
    return _alike(pins) or f"[{', '.join(pins)}]"


def _virsh_memory(name: str, domain: Domain) -> Iterator[str]:
    """A policy over all nodes is another one than none, and `virsh numatune` takes none away."""
    if _nodes(domain) == _all_nodes(domain):
        yield f"# In `virsh edit {name}`, no <numatune>, for its next start: a policy over all"
        yield "# nodes, as virsh numatune makes it, is another one. Until then its memory is"
        yield "# where it was."
        return
    yield f"virsh numatune {name} --nodeset {cpu_list(_nodes(domain))} --config"
    yield "# (from its next start on: until then its memory is where it was)"


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


_VIRSH = Tool(
    {
        "virtual": _one("virsh setvcpus {name} {virtual} --live --config"),
        "more": _one(
            "# (up to its maximum; beyond it all without --live, for its next start, and before:",
            "#  virsh setvcpus {name} {virtual} --maximum --config)",
        ),
        "memory": _virsh_memory,
        "page": _page,
        "weight": _one("virsh schedinfo {name} --live --config --set cpu_shares={weight}"),
    },
    _virsh_pins,
)
_XL = Tool(
    {
        "virtual": _one("xl vcpu-set {name} {virtual}"),
        "more": _one(
            "# (up to maxvcpus of its configuration; beyond it write that and create it anew)"
        ),
        "memory": _one(
            "# Memory goes with cpus = {cpus} in its configuration, when it is created anew;",
            "# until then it is where it was.",
        ),
        "weight": _one("xl sched-credit2 --domain={name} --weight={weight}"),
    },
    _xl_pins,
)
_PROCESSES = Tool(
    {
        "virtual": _one("# {name}: {threads}, as the program itself is told"),
        "more": _one(),
        "memory": _one("systemctl set-property {name}.scope AllowedMemoryNodes={nodes}"),
        "weight": _one("systemctl set-property {name}.scope CPUWeight={weight}"),
    },
    _process_pins,
)
