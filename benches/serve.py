"""How soon the page's server answers: clients who change layouts at once, of 20 partitions on 256
cores. Prints answers' times, refusals, and the memory of the server and its workers before and
after. Each moves a partition, waits for the answer, and thinks.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
import time
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
                address = _address(server)
                asyncio.run(_clients(address, 2, 3, 0))
                before = _memory_mib(server.pid)
                times, refused = asyncio.run(
                    _clients(address, asked.clients, asked.seconds, asked.think)
                )
                after = _memory_mib(server.pid)
            finally:
                server.terminate()
    median, most = np.percentile(times, [50, 95])
    print(f"{asked.clients} clients, {len(times)} answers, {refused} refused")
    print(f"p50 {median:.0f} ms, p95 {most:.0f} ms (aim {AIM_MS})")
    print(f"memory of server and workers: {before:.0f} MiB, then {after:.0f} MiB")


def _address(server: subprocess.Popen[str]) -> str:
    if server.stderr is None:
        raise SystemExit("no server")
    line = next(line for line in server.stderr if "http://" in line)
    return re.findall(r"http://[\w.:]+", line)[0]


async def _clients(
    address: str, count: int, seconds: float, think: float
) -> tuple[list[float], int]:
    end = time.monotonic() + seconds
    told = await asyncio.gather(*(_client(address, one, end, think) for one in range(count)))
    times = [each for one, _ in told for each in one]
    return times, sum(refused for _, refused in told)


async def _client(address: str, number: int, end: float, think: float) -> tuple[list[float], int]:
    draw, times, refused = random.Random(number), [], 0
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        await client.get("/")
        await asyncio.sleep(draw.random() * think)
        while time.monotonic() < end:
            path = f"partition.shop{draw.randint(1, PARTITIONS)}.home"
            edits = {path: f"book{draw.randrange(BOOKS)}"}
            began = time.monotonic()
            body = {"base": "scenario:twenty", "edits": edits}
            answer = await client.post("/api/layout", json=body)
            times.append(1000 * (time.monotonic() - began))
            refused += answer.status_code != 200 or answer.json()["solved"] is None
            await asyncio.sleep(think)
    return times, refused


def _memory_mib(server: int) -> float:
    """Of a process and those that it started."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True
    ).stdout
    rows = [[int(word) for word in line.split()] for line in listed.splitlines()]
    return sum(size for own, above, size in rows if server in (own, above)) / 1024


if __name__ == "__main__":
    main()
