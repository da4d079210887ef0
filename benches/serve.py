"""How soon the page's server answers: clients who change layouts at once, of 20 partitions on 256
cores. Prints answers' times, refusals, processor time an answer, and the memory of the server and
its workers before and after. Each asks as the page does: moves partitions, waits for the figures,
asks for the whole layout, and thinks; who moves on drops what has not come. Three times:
layouts of which none was asked for before, three partitions moved of 20 to one of 8 places, by
clients who think for a second; by such who look at each answer for some seconds, as people do; then
one moved, so that most were asked for by somebody before.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import numpy as np

SCENARIO = """
[machine]
model = "ibm-power-795"

[[partition]]
name = "shop"
count = 20
processors = { mode = "shared", entitlement = 6.0, virtual = 12 }
smt = 2
memory = "40 GiB"
home = "book0"
workload = { kind = "users", count = 400, think = "200 ms", profile = "oltp" }
"""
BOOKS = 8
PARTITIONS = 20
AIM_MS = 500
LOOKS = 5
"""So many times as long as between two hasty moves somebody looks at an answer."""


def main() -> None:
    """Starts a server, lets clients come, tells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--think", type=float, default=1, help="seconds between two moves")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "twenty.toml").write_text(SCENARIO)
        words = ["serve", "--no-browser", "--port", "0", "twenty.toml"]
        with subprocess.Popen(
            [sys.executable, "-m", "homenode", *words],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                address = address_of(server)
                asyncio.run(_clients(address, 2, 3, 0, 3))
                for moved, think, what in (
                    (3, asked.think, "new layouts"),
                    (3, LOOKS * asked.think, "new layouts that are looked at"),
                    (1, asked.think, "layouts known before, most of them"),
                ):
                    before, _ = memory_mib(server.pid)
                    begun, used = time.monotonic(), _processor_s(server.pid)
                    times, whole, refused = asyncio.run(
                        _clients(address, asked.clients, asked.seconds, think, moved)
                    )
                    _tell(f"{what}, {think:g} s between", times, refused, time.monotonic() - begun)
                    _tell_whole(whole, len(times))
                    used, (after, _) = _processor_s(server.pid) - used, memory_mib(server.pid)
                    print(
                        f"  {1000 * used / len(times):.0f} ms of processor time an answer; ", end=""
                    )
                    print(f"server and workers: {before:.0f} MiB, then {after:.0f} MiB")
            finally:
                server.terminate()


def _tell(what: str, times: list[float], refused: int, seconds: float) -> None:
    median, most = np.percentile(times, [50, 95])
    print(f"{what}: {len(times)} answers, {len(times) / seconds:.1f} a second, {refused} refused")
    print(f"  p50 {median:.0f} ms, p95 {most:.0f} ms (aim {AIM_MS})")


def _tell_whole(whole: list[float], of: int) -> None:
    if whole:
        median, most = np.percentile(whole, [50, 95])
        print(f"  whole layouts: {len(whole)} of {of} moves, p50 {median:.0f}, p95 {most:.0f} ms")


def address_of(server: subprocess.Popen[str]) -> str:
    """Where a server that was started says it is."""
    if server.stderr is None:
        raise SystemExit("no server")
    line = next(line for line in server.stderr if "http://" in line)
    return re.findall(r"http://[\w.:]+", line)[0]


async def _clients(
    address: str, count: int, seconds: float, think: float, moved: int
) -> tuple[list[float], list[float], int]:
    # One for all: each of its own would take the server's processors for tens of milliseconds.
    context = httpx.create_ssl_context()
    end = time.monotonic() + seconds
    told = [_Client(f"{number} {moved} {think}", moved) for number in range(count)]
    await asyncio.gather(*(one.moves(address, end, think, context) for one in told))
    times = [each for one in told for each in one.times]
    whole = [each for one in told for each in one.whole]
    return times, whole, sum(one.refused for one in told)


class _Client:
    """A reader who moves partitions, as the page does for him."""

    def __init__(self, seed: str, moved: int) -> None:
        self.draw = random.Random(seed)
        self.moved = moved
        self.times: list[float] = []
        """Until figures came [ms]."""
        self.whole: list[float] = []
        """Until the whole layout came, where it did before the next move [ms]."""
        self.refused = 0

    async def moves(self, address: str, end: float, think: float, context: ssl.SSLContext) -> None:
        """Until its time is over."""
        async with httpx.AsyncClient(base_url=address, timeout=60, verify=context) as client:
            await client.get("/")
            await asyncio.sleep(self.draw.random() * think)
            while time.monotonic() < end:
                edits = {
                    f"partition.shop{one}.home": f"book{self.draw.randrange(BOOKS)}"
                    for one in self.draw.sample(range(1, PARTITIONS + 1), self.moved)
                }
                body = {"base": "scenario:twenty", "edits": edits}
                began = time.monotonic()
                answer = await client.post("/api/figures", json=body)
                self.times.append(1000 * (time.monotonic() - began))
                told = answer.json() if answer.status_code == 200 else {}
                self.refused += not told.get("solved")
                settles = asyncio.create_task(self._settles(client, body, began, "map" in told))
                await asyncio.sleep(think)
                settles.cancel()

    async def _settles(
        self, client: httpx.AsyncClient, body: Mapping[str, object], began: float, is_known: bool
    ) -> None:
        if not is_known:
            answer = await client.post("/api/layout", json=body)
            if answer.status_code != 200:  # busy: asked again later
                return
        self.whole.append(1000 * (time.monotonic() - began))


def _processor_s(server: int) -> float:
    """Of a process and those that it started, now."""
    pids = [server, *(int(one) for one in _children(server))]
    fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def _children(of: int) -> list[str]:
    return Path(f"/proc/{of}/task/{of}/children").read_text().split()


def memory_mib(server: int) -> tuple[float, int]:
    """Of a process and those that it started, and how many they are."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True
    ).stdout
    rows = [[int(word) for word in line.split()] for line in listed.splitlines()]
    sizes = [size for own, above, size in rows if server in (own, above)]
    return sum(sizes) / 1024, len(sizes)


if __name__ == "__main__":
    main()
