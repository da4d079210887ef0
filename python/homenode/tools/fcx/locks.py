"""Reports on a z/VM partition's spin locks: FCX265 LOCKLOG, FCX326 LOCKACT.

The heading of FCX265 LOCKLOG is that of IBM's documentation of z/VM 7.3. A simulation knows how
long processors spin for a lock, and neither how often one was found taken nor who took it shared.
"""

from __future__ import annotations

from typing import TypedDict

from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools.fcx.heading import heading, narrow
from homenode.tools.fcx.plain import BLANK, Cells, PlainTable
from homenode.tools.fcx.processors import busy_ns, intervals
from homenode.tools.guestview import GuestView, clock

_NAMED = {"scheduler": "scheduler", "vector": "dispatch vectors", "page": "pages"}


_COLUMNS = "   Colls AvgSpin  Spin  CADs"
_UNITS = "    /sec    usec %Busy  /sec"


class Spinning(TypedDict):
    """How long processors spun for a lock in an interval."""

    end: str
    lock: str
    spin_busy_pct: float
    """Of one processor."""


def _by_interval(view: GuestView, partition: str) -> list[tuple[str, float, dict[str, int]]]:
    """Of each interval its end, its length [ns], and the time spun for each lock [ns]."""
    switches = view.rows("switch", partition)
    of_switches: dict[int, int] = {}
    for row in switches.iter_rows(named=True):
        of_switches[row["time_ns"]] = of_switches.get(row["time_ns"], 0) + row["lock_spin_ns"]
    found = []
    for row, span in intervals(view, partition):
        spun = {name.split()[-1]: row[f"{one}_spin_ns"] for one, name in _NAMED.items()}
        if switches.height:
            spun["switches"] = of_switches.get(row["time_ns"], 0)
        found.append((clock(row["time_ns"]), span, {**spun, ">>Total>": sum(spun.values())}))
    return found


def locklog(view: GuestView, partition: str, _every: bool = False) -> list[Spinning]:
    """Interval by interval; locks of one kind are one."""
    return [
        {"end": end, "lock": lock, "spin_busy_pct": 100.0 * spent / span}
        for end, span, spun in _by_interval(view, partition)
        for lock, spent in spun.items()
    ]


def _means(view: GuestView, partition: str) -> list[Spinning]:
    sums: dict[str, int] = {}
    for _, _, spun in _by_interval(view, partition):
        for lock, spent in spun.items():
            sums[lock] = sums.get(lock, 0) + spent
    scale = 100.0 / (view.seconds * NS_PER_S)
    return [
        {"end": ">>Mean>>", "lock": lock, "spin_busy_pct": spent * scale}
        for lock, spent in sums.items()
    ]


_HEAD = "\n".join(
    first + second
    for first, second in (
        ("", ""),
        (f"{'':23}<--------------------- Spin Lock Collision Ac", "tivity " + "-" * 27 + ">"),
        (
            f"{'':23}<----- Combined -------->  <------ Exclusive ",
            "------>  <-------- Shared -------->",
        ),
        ("  Interval             Colls AvgSpin  Spin  CADs  Colls AvgSpin  Spin  CADs", _COLUMNS),
        ("  End Time LockName     /sec    usec %Busy  /sec   /sec    usec %Busy  /sec", _UNITS),
    )
)


_CLOCK = len("00:00:00")
"""An interval that is no whole seconds ends in the second that its line tells."""


def render_locklog(view: GuestView, partition: str, _every: bool = False) -> str:
    """The report: means of all intervals, then the intervals."""
    rows = [*_means(view, partition), *locklog(view, partition)]
    return "\n".join([heading(view, "FCX265"), _HEAD, *map(_line, rows)]) + "\n"


def _line(row: Spinning) -> str:
    spin = narrow(row["spin_busy_pct"])
    combined = f"{BLANK:>5}{BLANK:>8}{spin:>6}{BLANK:>6}"
    others = f"{BLANK:>8}{BLANK:>6}{BLANK:>6}"
    return (
        f"  {row['end'][:_CLOCK]} {row['lock']:<12}{combined}{BLANK:>7}{others}{BLANK:>8}{others}"
    )


def _lockact(view: GuestView, partition: str) -> list[Cells]:
    row = view.total("partition", partition)
    done, busy = row["tx_done"], busy_ns(row)
    locks = {name: (row[f"{one}_locks"], row[f"{one}_spin_ns"]) for one, name in _NAMED.items()}
    for at, switch in enumerate(view.zvm(partition)["switches"]):
        one = view.total("switch", partition, switch=at)
        locks[f"switch {switch['name']}"] = (one.get("locks", 0), one.get("lock_spin_ns", 0))
    takes, spun = (sum(column) for column in zip(*locks.values(), strict=True))
    locks[">>Total>>"] = (takes, spun)
    return [
        {
            "LockName": name,
            "Taken /s": takes / view.seconds,
            "AvgSpin usec": spun / 1e3 / takes if takes else None,
            "Spin usec/s": spun / 1e3 / view.seconds,
            "Spin % of busy": 100.0 * spun / busy if busy else None,
            "Spin usec/tx": spun / 1e3 / done if done else None,
        }
        for name, (takes, spun) in locks.items()
    ]


LOCKACT = PlainTable(
    _lockact,
    {"AvgSpin usec": 3, "Spin % of busy": 2, "Spin usec/tx": 3, "Taken /s": 0},
    "A take's spinning counts when it begins; of pages it is with asking the other processors.",
)
