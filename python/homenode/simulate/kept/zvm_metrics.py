"""Figures of a partition that runs z/VM, in the words of its performance reports.

A percentage here is one of a logical processor, and sums over processors go beyond 100, as those
reports have it; what is divided by the external throughput is therefore percent by transactions a
second (0.2 is 2 ms of a processor). Busy time is guest time, which the virtual machines execute,
and time of the Control Program, chargeable to one of them or not; the three add up to it. An
average logical processor is one of those online, parked or not.

Sources: "Eighty Logical Processors" in IBM's z/VM performance report, Tables 4 to 11 and the
excerpt of report FCX108 in it, for the columns and how they follow from each other.
"""

from __future__ import annotations

from homenode.simulate.kept.metric import Formula, Metric
from homenode.simulate.kept.totals import NS_PER_S, Totals, ratio

BUSY = ("guest_ns", "chargeable_ns", "system_ns")
"""What a busy processor does: guest, Control Program for a guest, Control Program for itself."""
CONTROL_PROGRAM = BUSY[1:]
_BUSY_DECIMALS = 1
"""Decimals to which percent busy is rounded before the internal throughput is computed."""


def internal_rate(totals: Totals) -> float | None:
    """Transactions a second if every processor were always busy: the external throughput by the
    average processor's busy share, which is rounded to 0.1 % first, as published.
    """
    busy, done = busy_pct(totals), ratio(totals["tx_done"], totals.seconds)
    if busy is None or not done:
        return None
    return ratio(done, round(busy, _BUSY_DECIMALS), 100.0)


def busy_pct(totals: Totals) -> float | None:
    """Percent busy of the average logical processor that is online."""
    return ratio(_logical_ns(totals, *BUSY), _online_ns(totals), 100.0)


def _logical_ns(totals: Totals, *counters: str) -> float:
    """Time of logical processors [ns]. The engine counts time of cores; where two threads share
    them, each of both is busy as long as it runs.
    """
    spent, cores = totals.sum(*counters), totals.sum(*BUSY)
    if totals.shape.smt == 1 or not cores or not totals["thread_ns"]:
        return spent
    return spent * totals["thread_ns"] / cores


def _online_ns(totals: Totals) -> float:
    return totals.shape.logical_cpus * totals.seconds * NS_PER_S


def _of_zvm(formula: Formula) -> Formula:
    """The same, without a value where no z/VM runs."""
    return lambda t: formula(t) if t.shape.runs_guests else None


def _percent(*counters: str) -> Formula:
    return _of_zvm(lambda t: ratio(t.sum(*counters), t.seconds * NS_PER_S, 100.0))


def _busy_pct(*counters: str) -> Formula:
    return _of_zvm(lambda t: ratio(_logical_ns(t, *counters), t.seconds * NS_PER_S, 100.0))


def _per_transaction(*counters: str) -> Formula:
    """Percent of a processor by transactions a second."""
    return _of_zvm(lambda t: ratio(_logical_ns(t, *counters), t["tx_done"] * NS_PER_S, 100.0))


def _rate(*counters: str) -> Formula:
    return _of_zvm(lambda t: ratio(t.sum(*counters), t.seconds))


def _unparked(t: Totals) -> float | None:
    """Logical cores; only where any decision is made are all of them told."""
    return ratio(t["unparked_ns"], t.seconds * NS_PER_S)


def _unparked_busy(t: Totals) -> float | None:
    return ratio(_logical_ns(t, *BUSY), t["unparked_ns"] * t.shape.smt, 100.0)


def _freed(t: Totals) -> float | None:
    unparked = _unparked(t)
    return None if unparked is None else max(t.shape.processors - unparked, 0.0)


def _wait(role: str) -> Formula:
    return _of_zvm(lambda t: ratio(t.guest(role, "wait_ns"), t.guest(role, "dispatches") * 1e3))


def _page_wait(t: Totals) -> float | None:
    """Of partitions that page at all."""
    if not t.shape.volumes:
        return None
    return ratio(t.guest("server", "page_wait_ns"), t["tx_done"] * 1e6)


def _volume_mean(*counters: str, scale: float) -> Formula:
    """Of all volumes' requests."""
    return _of_zvm(
        lambda t: ratio(
            sum(t.guest("volume", c) for c in counters), t.guest("volume", "ios"), scale
        )
    )


def _volume_rate(counter: str, scale: float) -> Formula:
    """Of the average volume."""
    return _of_zvm(lambda t: ratio(t.guest("volume", counter), t.seconds * t.shape.volumes, scale))


_BUSY = [
    Metric("busy_pct", "%", "average logical processor busy", _of_zvm(busy_pct)),
    Metric("total_busy_pct", "%", "busy, sum over logical processors", _busy_pct(*BUSY)),
    Metric("guest_busy_pct", "%", "of it in virtual machines", _busy_pct("guest_ns")),
    Metric(
        "chargeable_busy_pct",
        "%",
        "of it in the Control Program for a virtual machine",
        _busy_pct("chargeable_ns"),
    ),
    Metric("system_busy_pct", "%", "of it in the Control Program itself", _busy_pct("system_ns")),
    Metric(
        "tv_ratio",
        "",
        "total busy time by guest time (T/V)",
        _of_zvm(lambda t: ratio(t.sum(*BUSY), t["guest_ns"])),
    ),
    Metric(
        "thread_busy_pct",
        "%",
        "busy time of threads, raw",
        _percent("thread_ns"),
    ),
    Metric(
        "mt1_busy_pct",
        "%",
        "the same as it would be with one thread a core (MT-1 equivalent)",
        _percent("mt1_ns"),
    ),
    Metric(
        "prorated_busy_pct",
        "%",
        "the same as a share of the cores' time (prorated core)",
        _percent("prorated_ns"),
    ),
    Metric("unparked", "cores", "logical cores not parked, mean", _of_zvm(_unparked)),
    Metric("unparked_busy_pct", "%", "average unparked processor busy", _of_zvm(_unparked_busy)),
    Metric("freed_cores", "cores", "logical cores parked, mean", _of_zvm(_freed)),
]

_TRANSACTION = [
    Metric(
        f"{name}_busy_per_tx", "% s", f"{what} of a transaction", _per_transaction(*counters), True
    )
    for name, what, counters in (
        ("guest", "guest time", ("guest_ns",)),
        ("chargeable", "chargeable time of the Control Program", ("chargeable_ns",)),
        ("system", "time of the Control Program not chargeable", ("system_ns",)),
        ("cp", "all time of the Control Program", CONTROL_PROGRAM),
    )
]

_WAIT = [
    Metric(
        "client_wait_us",
        "us",
        "ready virtual processor of a client waiting for dispatch, mean",
        _wait("client"),
    ),
    Metric("server_wait_us", "us", "the same, of a server", _wait("server")),
]

_PAGING = [
    Metric("paging_per_s", "1/s", "pages read and written", _rate("pages_in", "pages_out")),
    Metric(
        "pages_per_tx",
        "",
        "pages read and written of a transaction",
        _of_zvm(lambda t: ratio(t.sum("pages_in", "pages_out"), t["tx_done"])),
        True,
    ),
    Metric(
        "page_wait_ms",
        "ms",
        "servers waiting for pages, a transaction; time, no processor is busy with it",
        _of_zvm(_page_wait),
        True,
    ),
    Metric("volume_io_per_s", "1/s", "requests of a paging volume", _volume_rate("ios", 1.0)),
    *(
        Metric(f"volume_{name}_ms", "ms", meaning, _volume_mean(*counters, scale=1e-6))
        for name, meaning, counters in (
            ("pend", "until such a request starts at the volume, mean", ("pend_ns",)),
            ("disc", "disconnected, while the storage server reads its disks", ("disc_ns",)),
            ("conn", "connected, while data are transferred", ("conn_ns",)),
            ("serv", "service: the three together", ("pend_ns", "disc_ns", "conn_ns")),
            (
                "resp",
                "response: service and queueing before it",
                ("pend_ns", "disc_ns", "conn_ns", "queue_ns"),
            ),
        )
    ),
    Metric("volume_qued", "", "requests queued at a volume, mean", _volume_rate("queue_ns", 1e-9)),
    Metric("volume_busy_pct", "%", "volume busy", _volume_rate("busy_ns", 100.0 / NS_PER_S)),
    Metric("volume_read_pct", "%", "of the requests reads", _volume_mean("reads", scale=100.0)),
    Metric(
        "read_hit_pct",
        "%",
        "of the reads served by the storage server's cache",
        _of_zvm(
            lambda t: ratio(t.guest("volume", "cache_hits"), t.guest("volume", "reads"), 100.0)
        ),
    ),
]

METRICS = (*_BUSY, *_TRANSACTION, *_WAIT, *_PAGING)
"""In the order they are shown."""
