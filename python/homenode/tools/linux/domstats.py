"""`virsh domstats`: counters of each KVM guest since the start.

`domstats [ -p NAME ]`. Shown are state, processor time and memory; block devices, networks and
the waits of single virtual processors are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from homenode.simulate.kept.rows import select
from homenode.simulate.kept.store import table_path
from homenode.tools.linux.domains import Domain, moments
from homenode.tools.linux.system import Group, LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar

GRAMMAR = Grammar(
    tool="domstats", synopsis="[ -p domain ]", flags="", takes_interval=False, combine=True
)
_RUNNING, _BOOTED = 1, 1
"""`VIR_DOMAIN_RUNNING`, reason `VIR_DOMAIN_RUNNING_BOOTED`; of a virtual processor `running`."""

_PAGE_KIB = 4
"""What is swapped at a time: large pages are split before."""


def figures(system: LinuxSystem, domain: Domain) -> dict[str, int]:
    """Counters by libvirt's names; times are nanoseconds, memory KiB. Time in the guest counts as
    the user's, as the kernel accounts it.
    """
    group = domain.reading.group
    busy = domain.reading.cpu or 1.0
    kernel = round(domain.total_ns * domain.reading.sys / busy)
    found = {
        "state.state": _RUNNING,
        "state.reason": _BOOTED,
        "cpu.time": domain.total_ns,
        "cpu.user": domain.total_ns - kernel,
        "cpu.system": kernel,
        **_memory(system, domain),
        "vcpu.current": group.virtual,
        "vcpu.maximum": group.virtual,
    }
    for number, used in _by_processor(system, group.name, domain.total_ns):
        found |= {f"vcpu.{number}.state": _RUNNING, f"vcpu.{number}.time": used}
    return found


def _memory(system: LinuxSystem, domain: Domain) -> dict[str, int]:
    """What its balloon has left it; of a guest with memory elsewhere also what its balloon's driver
    tells and what of it is on the host. Each page that comes in drives another one out.
    """
    memory, group = domain.memory, domain.reading.group
    found = {"balloon.current": memory.current_kib, "balloon.maximum": memory.maximum_kib}
    told = system.run.details.get(group.name, {})
    if not memory.balloon and not memory.swapped:
        return found
    each = zip(told["guest_page_ins"], _transactions(system, group), strict=True)
    pages = round(sum(pages * done for pages, done in each))
    kib = pages * _PAGE_KIB
    return found | {
        "balloon.swap_in": kib,
        "balloon.swap_out": kib,
        "balloon.major_fault": pages,
        "balloon.unused": int(told["untouched"]) >> 10,
        "balloon.rss": memory.resident_kib,
    }


def _transactions(system: LinuxSystem, group: Group) -> list[int]:
    """That each of its workloads has done since the start."""
    if "beside" not in group.spec:
        (sample,) = system.samples(group.name, None, None, "partition")
        return [sample.partition["tx_done"]]
    found = select(
        "workload, sum(tx_done)",
        table_path(system.run.path, "workload"),
        "WHERE replication = $replication AND partition = $partition GROUP BY ALL ORDER BY ALL",
        replication=system.view.replication,
        partition=group.index,
    )
    return [int(done) for _, done in found]


def _by_processor(system: LinuxSystem, name: str, total_ns: int) -> Iterator[tuple[int, int]]:
    """Time of each virtual processor; what KVM itself took is spread like the guest's own."""
    (sample,) = system.samples(name, None, None, "partition", "cpu")
    charged = [cpu["user_ns"] + cpu["sys_ns"] for cpu in sample.cpus]
    whole = sum(charged) or 1
    for number, own in enumerate(charged):
        yield number, total_ns * own // whole


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print."""
    lines: list[str] = []
    for domain in _domains(system, argv):
        lines.append(f"Domain: '{domain.name}'")
        lines += [f"  {name}={value}" for name, value in figures(system, domain).items()]
        lines.append("")
    return page(lines)


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same, a dict a domain."""
    return [{"Domain": domain.name, **figures(system, domain)} for domain in _domains(system, argv)]


def _domains(system: LinuxSystem, argv: Sequence[str]) -> list[Domain]:
    refuse_foreign(system, GRAMMAR.tool)
    (moment,) = moments(GRAMMAR, system, argv)[1]
    return moment.domains
