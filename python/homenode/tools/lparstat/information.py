"""`lparstat -i`: what the partition was given, one line a fact.

`Unallocated Capacity` and `Unallocated Weight` are what the hypervisor's H_GET_PPP tells: what is
left in the partition's group to raise its entitlement with (`lparcfg(5)` of powerpc-utils). Every
partition is a group of its own, so it is 0. The manual of 5.3 says the first is what the pool has
left, but recordings print 0.00 beside pools with 0.70 to 2.00 cores that nobody is
entitled to. Two facts of the manual stand in no recorded listing; `documented` has them for
`--json`.
"""

from __future__ import annotations

from homenode.tools.configuration import FIRST_GROUP_ID, SystemConfiguration

LABEL_WIDTH = 43
NOTHING = "-"

Facts = list[tuple[str, str]]


def information(configuration: SystemConfiguration) -> Facts:
    """Label and value of every line, in the order and number of the level of AIX."""
    facts = _identity(configuration) + _processors_and_memory(configuration)
    facts += _capacity(configuration) + _physical(configuration)
    if configuration.at_least(6, 1):
        facts += _pool(configuration)
    facts += [("Unallocated Capacity", _unallocated(configuration, "0.00"))]
    facts += [("Physical CPU Percentage", _physical_pct(configuration))]
    if configuration.at_least(6, 1):
        facts += [("Unallocated Weight", _unallocated(configuration, "0"))]
    if configuration.at_least(7, 1):
        facts += _memory_pool()
    if configuration.at_least(6, 1):
        facts += _desired(configuration)
    if configuration.at_least(7, 1):
        facts += _modes(configuration)
    return facts


def documented(configuration: SystemConfiguration) -> Facts:
    """Facts that the manual names and no recorded level of AIX prints: the longest time between
    dispatches [ns], the least entitlement a virtual processor needs [cores].
    """
    if not configuration.is_shared:
        return []
    return [
        ("Maximum Dispatch Latency", str(configuration.dispatch_latency_ns)),
        ("Minimum Virtual Processor Required Capacity", f"{configuration.vp_minimum:.2f}"),
    ]


def lines(facts: Facts) -> list[str]:
    """The listing; a label as long as the column touches its colon."""
    return [f"{label:<{LABEL_WIDTH}}: {value}" for label, value in facts]


def _identity(c: SystemConfiguration) -> Facts:
    group = FIRST_GROUP_ID + c.number if c.group is None else c.group
    return [
        ("Node Name", c.node_name or c.name),
        ("Partition Name", c.name),
        ("Partition Number", str(c.number)),
        ("Type", _type(c)),
        ("Mode", c.mode),
        ("Entitled Capacity", f"{c.ent:.2f}"),
        ("Partition Group-ID", str(group)),
        ("Shared Pool ID", str(c.pool) if c.is_shared else NOTHING),
    ]


def _type(c: SystemConfiguration) -> str:
    """`Shared`, `Shared-SMT` (two threads, or the only word a level knows) or `Shared-SMT-4`."""
    if c.smt <= 1:
        return c.kind
    return f"{c.kind}-SMT" if c.smt_text == "On" else f"{c.kind}-SMT-{c.smt}"


def _processors_and_memory(c: SystemConfiguration) -> Facts:
    processors, memory = c.processor_limits, c.memory_limits
    return [
        ("Online Virtual CPUs", str(c.vps)),
        ("Maximum Virtual CPUs", f"{processors.maximum:.0f}"),
        ("Minimum Virtual CPUs", f"{processors.minimum:.0f}"),
        ("Online Memory", f"{c.mem_mb} MB"),
        ("Maximum Memory", f"{memory.maximum:.0f} MB"),
        ("Minimum Memory", f"{memory.minimum:.0f} MB"),
    ]


def _capacity(c: SystemConfiguration) -> Facts:
    capacity = c.capacity_limits
    return [
        ("Variable Capacity Weight", _weight(c)),
        ("Minimum Capacity", f"{capacity.minimum:.2f}"),
        ("Maximum Capacity", f"{capacity.maximum:.2f}"),
        ("Capacity Increment", "0.01" if c.is_shared else "1.00"),
    ]


def _physical(c: SystemConfiguration) -> Facts:
    return [
        ("Maximum Physical CPUs in system", str(c.system_cores)),
        ("Active Physical CPUs in system", str(c.active_cores)),
        ("Active CPUs in Pool", str(c.psize) if c.is_shared else NOTHING),
    ]


def _pool(c: SystemConfiguration) -> Facts:
    """Capacities of a pool are printed in hundredths of a core."""
    if not c.is_shared:
        values = [NOTHING] * 3
    else:
        values = [
            str(c.shared_cores),
            f"{100 * c.pool_maximum:.0f}",
            f"{100 * c.pool_entitled:.0f}",
        ]
    labels = (
        "Shared Physical CPUs in system",
        "Maximum Capacity of Pool",
        "Entitled Capacity of Pool",
    )
    return list(zip(labels, values, strict=True))


def _memory_pool() -> Facts:
    """Active memory sharing is not modelled: memory is always dedicated."""
    labels = (
        "Total I/O Memory Entitlement",
        "Variable Memory Capacity Weight",
        "Memory Pool ID",
        "Physical Memory in the Pool",
        "Hypervisor Page Size",
        "Unallocated Variable Memory Capacity Weight",
        "Unallocated I/O Memory entitlement",
        "Memory Group ID of LPAR",
    )
    return [("Memory Mode", "Dedicated"), *((label, NOTHING) for label in labels)]


def _desired(c: SystemConfiguration) -> Facts:
    return [
        ("Desired Virtual CPUs", f"{c.processor_limits.desired:.0f}"),
        ("Desired Memory", f"{c.memory_limits.desired:.0f} MB"),
        ("Desired Variable Capacity Weight", _weight(c)),
        ("Desired Capacity", f"{c.capacity_limits.desired:.2f}"),
    ]


def _modes(c: SystemConfiguration) -> Facts:
    return [
        ("Target Memory Expansion Factor", NOTHING),
        ("Target Memory Expansion Size", NOTHING),
        ("Power Saving Mode", c.power),
        ("Sub Processor Mode", NOTHING),
    ]


def _weight(c: SystemConfiguration) -> str:
    """A capped partition has the weight 0, a dedicated one has none."""
    if not c.is_shared:
        return NOTHING
    return str(c.weight if c.mode == "Uncapped" else 0)


def _unallocated(c: SystemConfiguration, nothing: str) -> str:
    """What a group of one partition has not given to it."""
    return nothing if c.is_shared else NOTHING


def _physical_pct(c: SystemConfiguration) -> str:
    """How much of a core a virtual processor stands for."""
    return f"{100 * c.ent / c.vps if c.vps else 0.0:.2f}%"
