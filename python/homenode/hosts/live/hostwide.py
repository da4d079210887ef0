"""What a whole host did, beside what its groups are charged for: interrupts and network.

What comes in over a network is handled in interrupts, which the kernel charges to whoever happens
to run, or to nobody. Time in them is counted by ticks (`/proc/stat`), except where the kernel is
built to measure it; counts are exact.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from homenode.hosts.live.gate import IRQ, SOFTIRQ, not_idle

_DEVICE = ("rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped")
_DEVICE_AT = (0, 1, 3, 8, 9, 11)
"""Places in a line of `/proc/net/dev`."""

_GET_ADDRESS = 0x8915
_ADDRESS_AT = slice(20, 24)

Counts = dict[str, float]


def read_counts(device: str | None = None, proc: Path = Path("/proc")) -> Counts:
    """Everything since the host began, by name: `busy_s`, `irq_s`, `softirq_s`, `interrupts`,
    `switches`, `net_rx_softirqs`, `net_tx_softirqs`, `tcp_sent`, `tcp_resent` (segments), and
    `rx_bytes`, `tx_packets` and so on of a network device, of all but loopback without one.
    """
    found = dict(_stat(proc / "stat"))
    found |= _softirqs(proc / "softirqs")
    found |= _tcp(proc / "net" / "snmp")
    return found | _network(proc / "net" / "dev", device)


def device_of(address: str) -> str | None:
    """The network device whose address of IPv4 this is; None for one that is a second one
    (netdevice(7)).
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            try:
                answer = fcntl.ioctl(any_socket, _GET_ADDRESS, request)
            except OSError:  # it has none
                continue
            if socket.inet_ntoa(answer[_ADDRESS_AT]) == address:
                return name
    return None


def since(before: Counts, now: Counts) -> Counts:
    """What was added."""
    return {name: max(0.0, value - before.get(name, 0.0)) for name, value in now.items()}


def _stat(path: Path) -> Iterator[tuple[str, float]]:
    ticks = os.sysconf("SC_CLK_TCK")
    yield "busy_s", not_idle(path)[0]
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(" ")
        words = rest.split()
        if name == "cpu":
            yield "irq_s", int(words[IRQ]) / ticks
            yield "softirq_s", int(words[SOFTIRQ]) / ticks
        elif name == "intr":
            yield "interrupts", float(words[0])
        elif name == "ctxt":
            yield "switches", float(words[0])


def _softirqs(path: Path) -> Counts:
    """How often packets were handled and sent in software interrupts, all processors together."""
    found = {}
    for line in _lines(path):
        name, _, counts = line.strip().partition(":")
        if name in ("NET_RX", "NET_TX"):
            found[f"{name.lower()}_softirqs"] = float(sum(map(int, counts.split())))
    return found


def _tcp(path: Path) -> Counts:
    rows = [line.split()[1:] for line in _lines(path) if line.startswith("Tcp:")]
    if len(rows) != 2:
        return {}
    told = dict(zip(*rows, strict=False))
    names = {"tcp_sent": "OutSegs", "tcp_resent": "RetransSegs"}
    return {ours: float(told[theirs]) for ours, theirs in names.items() if theirs in told}


def _network(path: Path, device: str | None) -> Counts:
    found = dict.fromkeys(_DEVICE, 0.0)
    for line in _lines(path)[2:]:
        name, _, rest = line.strip().partition(":")
        if name == device or (device is None and name != "lo"):
            words = rest.split()
            for key, place in zip(_DEVICE, _DEVICE_AT, strict=True):
                found[key] += float(words[place])
    return found


def _lines(path: Path) -> list[str]:
    """Of a file that a kernel may not have."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
