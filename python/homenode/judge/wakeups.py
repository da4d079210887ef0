"""What it costs here to wake a thread on another processor, measured alone.

Two processes send each other a byte over TCP on loopback, the way clients and servers talk: once
both bound to one processor, where a message costs its way through the kernel and a switch, and once
to two, where each also wakes a processor that went idle in between. Nothing else differs. The
processor time of a message is larger by what its sender needs for the interrupt; the message takes
longer by the time from the wake-up until the other runs.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.hosts.adapters.kernel_process import kernel_command
from homenode.hosts.bench import HostBench, Place
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import Setting

if TYPE_CHECKING:
    from homenode.hosts.bench import HostBench
    from homenode.hosts.live import Host
    from homenode.hosts.live.cgroups import Group

_SECONDS = 1.0
_REPEATS = 3
_START_UP_S = 1.0
"""Time for the client to load before it begins; what it uses by then is not counted."""
_LIMIT_S = 60.0
_BYTE = {"request": 1, "response": 1}


@dataclass(frozen=True)
class Exchanged:
    """A request with its answer, by both processes together."""

    cpu_s: float
    """Processor time of both processes for it [s]."""
    lasts_s: float
    """Time from a request to the end of its answer [s]."""


@dataclass(frozen=True)
class WakeUp:
    """What a wake-up on another processor that idles adds to one on the same processor."""

    interrupt_s: float
    """Processor time of the waker [s]."""
    idle_s: float
    """From the wake-up until the woken one runs [s]."""


def measure(host: Host, processors: Sequence[int], folder: Path) -> WakeUp:
    """Medians of a few turns of a second on one processor and on two.

    Raises `MeasureError` where there are no two processors or the processes do not run.
    """
    if len(processors) < 2:
        raise MeasureError(
            "a wake-up on another processor needs two",
            there=f"{len(processors)} is used",
            next_step="ask for --processors 2",
        )
    here, there = processors[0], processors[1]
    near, far = [], []
    for turn in range(_REPEATS):
        near.append(_exchanged(host, (here, here), folder / f"one-{turn}"))
        far.append(_exchanged(host, (here, there), folder / f"two-{turn}"))
    return between(near, far)


def between(near: Sequence[Exchanged], far: Sequence[Exchanged]) -> WakeUp:
    """What the exchanges on two processors have more than those on one; there are two messages in
    each.
    """

    def more(value: Callable[[Exchanged], float]) -> float:
        one, two = (statistics.median(value(each) for each in some) for some in (near, far))
        return max(0.0, (two - one) / 2.0)

    return WakeUp(more(lambda each: each.cpu_s), more(lambda each: each.lasts_s))


def _exchanged(host: Host, places: tuple[int, int], folder: Path) -> Exchanged:
    (folder / "raw").mkdir(parents=True)
    control = host.group(f"wake-up-{folder.name}", Setting(cpus=tuple(sorted(set(places)))))
    try:
        place = Place(folder=folder, data=folder, cache=folder, raw=folder / "raw")
        bench = HostBench(host, control, place, places, time.monotonic() + _LIMIT_S)
        return _between_two(host, control, bench, places, folder)
    finally:
        host.end(control)


def _between_two(
    host: Host, control: Group, bench: HostBench, places: tuple[int, int], folder: Path
) -> Exchanged:
    port = bench.free_port()
    server = host.start(
        kernel_command("answer", {"port": port, **_BYTE}), group=control, cpus=places[1:]
    )
    bench.wait_for_port(port, limit_s=15.0, of=server)
    start_ns = time.monotonic_ns() + round(_START_UP_S * 1e9)
    order = {"port": port, **_BYTE, "connections": 1, "seconds": _SECONDS}
    client = host.start(
        [*kernel_command("ask", order), str(start_ns)],
        group=control,
        cpus=places[:1],
        stdout=folder / "client",
        stderr=folder / "client.err",
    )
    time.sleep(max(0.0, (start_ns - time.monotonic_ns()) / 1e9))
    before = control.usage()
    ended = client.wait(limit_s=_SECONDS + 30.0)
    used = control.usage().since(before)
    if ended.code != 0:
        shown = (folder / "client.err").read_text("utf-8", "replace").strip()
        raise MeasureError(f"the processes that wake each other ended with {ended.code}: {shown}")
    return exchanged((folder / "client").read_bytes(), used.total_s)


def exchanged(told: bytes, cpu_s: float) -> Exchanged:
    """What the client prints at its end, and the processor time of both processes [s].

    Raises `MeasureError` for other words, and where no request was answered.
    """
    try:
        found = json.loads(told)
        done, seconds = int(found["transactions"]), float(found["seconds"])
    except (ValueError, TypeError, LookupError) as error:
        raise MeasureError(
            "the client of the processes that wake each other did not tell what it did",
            there=told[-200:].decode("utf-8", "replace").strip() or "nothing",
            next_step="see whether it was ended from outside, and measure again",
        ) from error
    if done < 1 or seconds <= 0.0:
        raise MeasureError(
            f"the processes that wake each other exchanged nothing in {_SECONDS:g} s",
            there=f"{done} requests in {seconds:g} s",
            next_step="see whether something else took the processors, and measure again",
        )
    return Exchanged(cpu_s / done, seconds / done)
