"""Random scenarios, a platform each, that are like those people write: shipped machines and
profiles, loads from a tenth to all of what the processors can do.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any, cast

from beside import PROFILES, turns

Table = dict[str, object]

POWER = {
    "ibm-power-795": ("book", 8, 32, 4),
    "ibm-power-770": ("drawer", 4, 16, 4),
    "ibm-power-e880": ("node", 4, 48, 8),
    "ibm-power-e1080": ("node", 4, 60, 8),
    "ibm-p5-570": ("building block", 3, 4, 2),
}
"""Node's name, nodes, cores of each, threads of a core."""


def toml(data: Table) -> str:
    """The document: JSON's scalars and inline arrays are TOML's, tables are written inline."""
    lines = [f"{key} = {_value(value)}" for key, value in data.items() if not _nested(value)]
    for key, value in data.items():
        if isinstance(value, dict):
            lines += [f"[{key}]", *(f"{k} = {_value(v)}" for k, v in value.items())]
        elif _nested(value):
            for table in value:  # type: ignore[attr-defined]
                lines += [f"[[{key}]]", *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _nested(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)


def workload(dice: random.Random, processors: int, threads: int) -> tuple[Table, float]:
    """A workload, and the share of its processors that it is to keep busy (0: all it can)."""
    kind = dice.choice(["transactions", "transactions", "users", "warehouses", "loops"])
    profile = {
        "base": dice.choice(PROFILES),
        "instructions": dice.choice([1e5, 1e6, 5e6, 22e6, 1e8]),
    }
    share = dice.choice([0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9])
    if kind == "loops":
        most = max(1, processors * threads)
        count = dice.choice([1, processors, max(1, processors // 2), most])
        return {"kind": kind, "count": count, "endless": True, "profile": profile}, 0.0
    if kind == "warehouses":
        return {"kind": kind, "count": dice.randint(1, 2 * processors), "profile": profile}, 0.0
    bursts: Table = {}
    if dice.random() < 0.6:
        bursts = {"bursts": dice.choice([4, 20, 100]), "wait": dice.choice(["1 ms", "5 ms"])}
    if kind == "users":
        return {"kind": kind, "count": 0, "think": "200 ms", "profile": profile, **bursts}, share
    return {"kind": kind, "rate": "0/s", "profile": profile, **bursts}, share


def powervm(dice: random.Random, *, dedicated: bool = False) -> tuple[Table, list[float]]:
    """Partitions of a Power machine; with homes that collide in every other scenario."""
    model = dice.choice(list(POWER))
    node, nodes, cores, threads = POWER[model]
    left = nodes * cores if not dedicated else (nodes - 1) * cores
    partitions: list[Table] = []
    shares: list[float] = []
    collide = dice.random() < 0.5
    entitled = 0.0
    for at in range(dice.randint(1, 8)):
        virtual = min(dice.choice([1, 2, 4, 6, 8, 12, 16, 30]), nodes * cores)
        one: Table = {"name": f"p{at}"}
        if dedicated:
            virtual = min(virtual, left, cores)
            if virtual < 1:
                break
            left -= virtual
            one["processors"] = {"mode": "dedicated", "cores": virtual}
        else:
            entitlement = round(virtual * dice.choice([0.1, 0.3, 0.5, 0.8]), 2)
            if entitled + entitlement > 0.9 * nodes * cores:
                break
            entitled += entitlement
            one["processors"] = {
                "mode": "shared",
                "entitlement": entitlement,
                "virtual": virtual,
                "weight": dice.choice([64, 128, 200]),
                "capped": dice.random() < 0.15,
            }
            if collide:
                one["home"] = f"{node.replace(' ', '')}{dice.randrange(min(2, nodes))}"
        smt = dice.choice([t for t in (1, 2, 4, 8) if t <= threads])
        one["smt"] = smt
        one["memory"] = "16 GiB"
        guest: Table = {"os": "aix", "throughput_mode": dice.choice([0, 0, 1, 2, 4])}
        guest["folding"] = dice.random() < 0.5
        if dice.random() < 0.3:
            guest = {"os": "linux"}
        one["guest"] = guest
        one["workload"], share = workload(dice, virtual, smt)
        partitions.append(one)
        shares.append(share)
    data: Table = {"machine": {"model": model}, "partition": partitions}
    return data, shares


def prsm(dice: random.Random) -> tuple[Table, list[float]]:
    """Linux partitions of a Z machine, by weight in both polarizations."""
    model = dice.choice(["ibm-z10", "ibm-z196", "ibm-zec12", "ibm-z13", "ibm-z14", "ibm-z15"])
    cores = dice.choice([4, 8, 16, 32])
    partitions: list[Table] = []
    shares: list[float] = []
    for at in range(dice.randint(1, 6)):
        virtual = min(cores, dice.choice([1, 2, 4, 8, 12, 16]))
        processors: Table = {
            "mode": "shared",
            "virtual": virtual,
            "weight": dice.choice([50, 100, 300]),
            "polarization": dice.choice(["vertical", "horizontal"]),
        }
        if dice.random() < 0.15:
            processors["capped"] = True
        work, share = workload(dice, virtual, 1)
        partitions.append(
            {
                "name": f"p{at}",
                "processors": processors,
                "memory": "16 GiB",
                "guest": {"os": "linux"},
                "workload": work,
            }
        )
        shares.append(share)
    return {"machine": {"model": model, "active_cores": cores}, "partition": partitions}, shares


def several(dice: random.Random) -> tuple[Table, list[float]]:
    """Partitions of a Power machine or of PR/SM, of which most have two or three workloads."""
    kind = dice.choice(["shared", "dedicated", "weights"])
    data, shares = prsm(dice) if kind == "weights" else powervm(dice, dedicated=kind == "dedicated")
    return data, _with_several(dice, data, shares)


def _with_several(dice: random.Random, data: Table, shares: list[float]) -> list[float]:
    """Gives most partitions two or three workloads; the shares of processors that these want."""
    partitions: Any = data["partition"]
    for at, one in enumerate(partitions):
        count = dice.choice([1, 2, 2, 3])
        processors = one["processors"]
        virtual = processors.get("virtual", processors.get("cores"))
        if count == 1:
            continue
        loads = [workload(dice, virtual, one.get("smt", 1)) for _ in range(count)]
        for work, _ in loads:
            if work["kind"] in ("loops", "warehouses"):
                work["count"] = dice.randint(1, max(1, virtual // 2))
        one["workload"] = [{"name": f"w{n}", **work} for n, (work, _) in enumerate(loads)]
        shares[at] = max(share for _, share in loads)
    return shares


def limited(dice: random.Random) -> tuple[Table, list[float]]:
    """The same within caps of partitions and of a group, and defined capacities."""
    data, shares = prsm(dice)
    partitions: Any = data["partition"]
    for one in partitions:
        processors = one["processors"]
        most = round(processors["virtual"] * dice.choice([0.3, 0.5, 0.8]), 2)
        kind = dice.choice(["cap", "group", "group", "defined_capacity", "none"])
        if kind == "cap":
            processors["cap"] = most
        elif kind == "group":
            processors["group"] = "several"
        elif kind == "defined_capacity":
            processors[kind] = {"cores": most, "window": "1 s", "start": most}
    members = [one for one in partitions if "group" in one["processors"]]
    if members:
        virtual = sum(one["processors"]["virtual"] for one in members)
        data["group"] = [{"name": "several", "cap": round(0.4 * virtual, 2)}]
    return data, shares


def types(dice: random.Random) -> tuple[Table, list[float]]:
    """The same on CPs and IFLs."""
    data, shares = prsm(dice)
    partitions: Any = data["partition"]
    machine: Any = data["machine"]
    half = machine["active_cores"]
    machine["active_cores"] = 2 * half
    machine["characterized"] = {"cp": half, "ifl": half}
    for one in partitions:
        one["processors"]["type"] = dice.choice(["cp", "ifl"])
    return data, shares


def zvm(dice: random.Random) -> tuple[Table, list[float]]:
    """A z/VM with virtual machines of several kinds, beside partitions of Linux or alone."""
    beside, _ = prsm(dice)
    cores = dice.choice([4, 8, 14, 20])
    smt, guest = dice.choice([1, 1, 2]), {"os": "zvm"}
    guest["polarization"] = dice.choice(["vertical", "vertical", "horizontal"])
    guest["smt"] = "off" if smt == 1 else "smt-2"
    if guest["polarization"] == "vertical":
        guest["unparking"] = dice.choice(["large", "medium", "small"])
    processors: Table = {"mode": "dedicated", "cores": cores}
    if dice.random() < 0.5:
        processors = {"mode": "shared", "virtual": cores, "weight": 400}
    share = dice.choice([0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9])
    kinds = dice.randint(1, 4)
    machines = [_machine(dice, at, share * cores / kinds) for at in range(kinds)]
    one: Table = {
        "name": "zvm",
        "processors": processors,
        "memory": "512 GiB",
        "guest": guest,
        "workload": {"kind": "idle", "profile": dice.choice(["oltp", "java", "integer-suite"])},
        "virtual_machine": machines,
    }
    models = ["ibm-z14", "ibm-z15"] if smt == 2 else ["ibm-z13", "ibm-z14", "ibm-z15"]
    there = cores + dice.choice([4, 8])
    few: Any = beside["partition"] if dice.random() < 0.5 else []
    few = [one for one in few if one["processors"]["virtual"] <= 4]
    comes = ("transactions", "users")
    shares = [0.0, *(0.3 if of["workload"]["kind"] in comes else 0.0 for of in few)]
    machine: Table = {"model": dice.choice(models), "active_cores": there}
    return {"machine": machine, "partition": [one, *few]}, shares


def tiles(dice: random.Random) -> tuple[Table, list[float]]:
    """Clients and servers of z/VM, on virtual switches of both layers."""
    count, layer = dice.randint(1, 3), dice.choice([2, 3])
    work: Table = {"kind": "web", "profile": "web-small", "request": "300 B", "file": "8 KiB"}
    work["files"] = dice.choice([2, 8])
    if dice.random() < 0.5:
        work["think"] = dice.choice(["1 ms", "5 ms"])
    guest = {"os": "zvm", "polarization": dice.choice(["vertical", "horizontal"])}
    sides = [("client", dice.choice([3, 9])), ("server", dice.choice([9, 36]))]
    one: Table = {
        "name": "zvm",
        "processors": {"mode": "dedicated", "cores": dice.choice([6, 12, 19, 38]), "type": "ifl"},
        "memory": "512 GiB",
        "guest": guest,
        "workload": work,
        "switch": [{"name": "tile", "count": count, "layer": layer}],
        "virtual_machine": [
            {"name": side, "count": of, "memory": "1 GiB", "role": side, "switch": "tile"}
            for side, of in sides
        ],
    }
    return {"machine": {"model": "ibm-z14"}, "partition": [one]}, [0.0]


_NS = 0.24
"""About what an instruction takes, so that loads are as meant."""


def _machine(dice: random.Random, at: int, cores: float) -> Table:
    """Virtual machines of a kind that are to use so many cores together."""
    count, cpus = dice.choice([1, 2, 6, 12]), dice.choice([1, 2, 4])
    instructions = dice.choice([1e6, 5e6, 22e6])
    each_s = instructions * _NS * 1e-9
    wanted = min(cores / count, 0.85 * cpus)
    work: Table = {"kind": "transactions", "rate": f"{wanted / each_s:.4f}/s"}
    if dice.random() < 0.3:
        users = max(1, round(wanted * (0.5 + 1.5 * each_s) / each_s))
        work = {"kind": "users", "count": users, "think": "500 ms"}
    return {
        "name": f"m{at}n",
        "count": count,
        "cpus": cpus,
        "memory": "1 GiB",
        "share": {"relative": dice.choice([100, 100, 300])},
        "workload": {**work, "instructions": int(instructions)},
    }


def host(dice: random.Random, policy: str) -> tuple[Table, list[float]]:
    """Virtual machines of a host with two sockets."""
    model = dice.choice(["intel-xeon-6240-2s", "intel-xeon-6140-2s", "amd-epyc-7742-2s"])
    partitions: list[Table] = []
    shares: list[float] = []
    for at in range(dice.randint(1, 10)):
        virtual = dice.choice([1, 2, 4, 8, 16])
        processors: Table = {"mode": "shared", "virtual": virtual}
        if policy == "credit2" or dice.random() < 0.5:
            processors["weight"] = dice.choice([100, 200, 400])
        work, share = workload(dice, virtual, 1)
        one: Table = {"name": f"p{at}", "processors": processors, "memory": "8 GiB"}
        if policy == "linux":
            one["kvm"] = {}
        partitions.append({**one, "workload": work})
        shares.append(share)
    machine: Table = {"model": model, "policy": policy, "threads": dice.choice([1, 2])}
    return {"machine": machine, "partition": partitions}, shares


def soft(dice: random.Random) -> tuple[Table, list[float]]:
    """Domains of a Xen host, most of which prefer some of its processors."""
    data, shares = host(dice, "credit2")
    machine, partitions = cast(Any, data["machine"]), cast(Any, data["partition"])
    cores = 64 if "epyc" in machine["model"] else 18
    socket = cores * machine["threads"]
    for one in partitions:
        if dice.random() < 0.3:
            continue
        first = dice.choice([0, 0, socket])
        count = dice.choice([socket, one["processors"]["virtual"], 4, 8])
        if dice.random() < 0.3:
            first += dice.randrange(0, socket - count + 1, 2)
        one["processors"]["soft_pins"] = [f"{first}-{first + count - 1}"]
    return data, shares


def cpusets(dice: random.Random) -> tuple[Table, list[float]]:
    """Guests and plain processes of a Linux host, some kept to a few of its processors, some held
    by a quota.
    """
    data, shares = host(dice, "linux")
    machine, partitions = cast(Any, data["machine"]), cast(Any, data["partition"])
    cores = 64 if "epyc" in machine["model"] else 18
    socket = cores * machine["threads"]
    for at, one in enumerate(partitions):
        processors = one["processors"]
        virtual = processors["virtual"]
        if dice.random() < 0.3:
            del one["kvm"]
        if dice.random() < 0.5:
            count = min(socket, dice.choice([socket, virtual, 2 * virtual, max(2, virtual // 2)]))
            first = dice.choice([0, 0, socket])
            if dice.random() < 0.3:
                first += dice.randrange(0, socket - count + 1)
            processors["cpuset"] = f"{first}-{first + count - 1}"
            shares[at] *= min(1.0, count / virtual)
        if dice.random() < 0.25:
            most = dice.choice([0.3, 0.6, 0.9])
            processors["quota"] = f"{round(100 * most * virtual)} ms"
            processors["period"] = "100 ms"
            shares[at] = min(shares[at], 0.8 * most)
    return data, shares


def groups(dice: random.Random) -> tuple[Table, list[float]]:
    """The same, most of them in control groups whose quotas bind, some within other groups, with
    own weights, or with quotas of their own.
    """
    data, shares = host(dice, "linux")
    partitions: Any = data["partition"]
    names = ["outer", "inner"] if dice.random() < 0.4 else ["outer"]
    members: dict[str, list[int]] = {name: [] for name in names}
    for at, one in enumerate(partitions):
        if dice.random() < 0.4:
            del one["kvm"]
        one["processors"].pop("weight", None)
        if dice.random() < 0.75:
            members[dice.choice(names)].append(at)
    if dice.random() < 0.4:
        machine: Any = data["machine"]
        machine |= {"active_cores": 16, "threads": 1}
    tables: list[Table] = []
    within: list[int] = []
    for name in reversed(names):
        within += members[name]
        virtual = sum(partitions[at]["processors"]["virtual"] for at in within)
        most = max(0.2, dice.choice([0.15, 0.3, 0.5]) * virtual)
        tables.insert(0, {"name": name, "quota": f"{round(100 * most)} ms", "period": "100 ms"})
    if len(tables) > 1:
        tables[1]["parent"] = "outer"
    data["cgroup"] = tables
    for name, own in members.items():
        for at in own:
            _join(dice, partitions[at]["processors"], name)
    return data, shares


def _join(dice: random.Random, processors: Any, group: str) -> None:
    """Puts a partition into a group."""
    virtual = processors["virtual"]
    processors["cgroup"] = group
    if dice.random() < 0.5:
        processors["weight"] = dice.choice([50, 100, 400])
    if dice.random() < 0.2:
        processors["quota"] = f"{round(100 * dice.choice([0.2, 0.5]) * virtual)} ms"
    if dice.random() < 0.2:
        processors["cpuset"] = f"0-{max(1, virtual // 2) - 1}"


def interrupts(dice: random.Random) -> tuple[Table, list[float]]:
    """Partitions of any of these, most with devices whose interrupts cost something."""
    kind = dice.choice(["powervm", "dedicated", "prsm", "linux"])
    data, shares = PLATFORMS[kind](dice)
    partitions: Any = data["partition"]
    for at, one in enumerate(partitions):
        if dice.random() < 0.2:
            continue
        processors = one["processors"]
        own = processors.get("virtual", processors.get("cores")) * one.get("smt", 1)
        told: Table = {
            "instructions": dice.choice([500, 1_000, 5_000]),
            "soft_instructions": dice.choice([1_000, 4_000, 40_000]),
            "rate": dice.choice(["0/s", "2000/s"]),
        }
        if dice.random() < 0.5:
            last = min(4, own) - 1
            told["to"] = f"0-{dice.randint(0, last)}" if last else "0"
        if "rate" not in one["workload"] and "think" not in one["workload"]:
            told["rate"] = "2000/s"
        one["interrupts"] = told
        if shares[at] > 0.7:
            shares[at] = 0.7
    return data, shares


def locks(dice: random.Random) -> tuple[Table, list[float]]:
    """Partitions of any of these, most of whose threads sleep for a lock."""
    kind = dice.choice(["dedicated", "powervm", "prsm", "linux", "credit2"])
    data, shares = PLATFORMS[kind](dice)
    partitions: Any = data["partition"]
    for at, one in enumerate(partitions):
        if dice.random() < 0.2:
            continue
        processors, work = one["processors"], one["workload"]
        own = processors.get("virtual", processors.get("cores")) * one.get("smt", 1)
        # So many of them have the lock or want it while all work.
        kept = dice.choice([0.2, 0.5, 0.9, 1.5]) / own
        work["profile"] |= {
            "lock_kind": "sleeping",
            "lock_share": round(min(kept, 0.5), 4),
            "lock_hold_instructions": dice.choice([500, 2_000, 10_000]),
            "lock_switch_instructions": 2_500,
        }
        shares[at] = min(shares[at], 0.55)
        if "count" in work and work["count"] > own:
            work["count"] = own
    return data, shares


def io_threads(dice: random.Random) -> tuple[Table, list[float]]:
    """Guests of a Linux host, most with threads of the host that do their input and output."""
    data, shares = host(dice, "linux")
    partitions: Any = data["partition"]
    servers = 0
    for one in partitions:
        work = one["workload"]
        if dice.random() < 0.3 or ("rate" not in work and "think" not in work):
            continue
        times = ["5 us", "20 us", "60 us"]
        told: Table = {"io_threads": dice.choice([0, 1, 2, 4])}
        told["io_request"], told["io_answer"] = dice.choice(times), dice.choice(times)
        if dice.random() < 0.3:
            told["emulator_pins"] = dice.choice(["0", "0-3", "4-7"])
        one["kvm"] = told
        servers += 1
    return data, [*shares, *([0.0] * servers)]


def guests(dice: random.Random) -> tuple[Table, list[float]]:
    """Guests of hosts, of which most have two or three workloads."""
    data, shares = host(dice, dice.choice(["linux", "credit2"]))
    return data, _with_several(dice, data, shares)


def busy(dice: random.Random, platform: str) -> tuple[Table, list[float]]:
    """The same of a platform, of which work that comes and goes uses most of the active cores."""
    data, shares = PLATFORMS[platform](dice)
    partitions, machine = cast(Any, data["partition"]), cast(Any, data["machine"])
    wanted = least = 0.0
    for at, one in enumerate(partitions):
        one.pop("home", None)
        processors = one["processors"]
        processors.pop("capped", None)
        virtual = processors["virtual"]
        while one["workload"]["kind"] not in ("transactions", "users"):
            one["workload"], shares[at] = workload(dice, virtual, one.get("smt", 1))
        wanted += shares[at] * virtual
        if platform == "powervm":
            least += processors["entitlement"]
        elif platform == "prsm":
            least = max(least, virtual)
    # Hosts have as many cores on each of two sockets, an EPYC whole chips of four.
    step = {"intel": 2, "amd-e": 8}.get(machine["model"][:5], 1)
    wanted /= dice.choice([0.65, 0.75, 0.85]) * machine.get("threads", 1)
    active = step * math.ceil(max(wanted, least, 1.0) / step)
    machine["active_cores"] = min(active, _cores(machine["model"]))
    return data, shares


def _cores(model: str) -> int:
    """Cores of a machine, or as many as some of its partitions use at most."""
    if model in POWER:
        _, nodes, cores, _ = POWER[model]
        return nodes * cores
    return 36 if "intel" in model else 128 if "epyc" in model else 96


PLATFORMS: dict[str, Callable[[random.Random], tuple[Table, list[float]]]] = {
    "powervm": powervm,
    "dedicated": lambda dice: powervm(dice, dedicated=True),
    "prsm": prsm,
    "several": several,
    "limited": limited,
    "types": types,
    "zvm": zvm,
    "tiles": tiles,
    "linux": lambda dice: host(dice, "linux"),
    "credit2": lambda dice: host(dice, "credit2"),
    "interrupts": interrupts,
    "io_threads": io_threads,
    "guests": guests,
    "locks": locks,
    "soft": soft,
    "cpusets": cpusets,
    "groups": groups,
    "turns": turns,
    "busy_powervm": lambda dice: busy(dice, "powervm"),
    "busy_prsm": lambda dice: busy(dice, "prsm"),
    "busy_linux": lambda dice: busy(dice, "linux"),
    "busy_credit2": lambda dice: busy(dice, "credit2"),
}
