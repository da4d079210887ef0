"""The command in a process of its own: stopped, killed and started again, its port taken."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from homenode.staging import LOCK, PREFIX

PATIENCE_S = 60
JSON = {"content-type": "application/json"}
FRAME = {"base": "example:frame", "edits": {}}


@contextlib.contextmanager
def served(folder: Path, *words: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """A server that ends with the test, and who asks it; what is brought lies in `brought`."""
    said = [sys.executable, "-m", "homenode", "serve", "--no-browser", "--port", "0", *words]
    (folder / "brought").mkdir(exist_ok=True)
    world = {**os.environ, "TMPDIR": str(folder / "brought")}
    with subprocess.Popen(
        said, cwd=folder, stderr=subprocess.PIPE, text=True, env=world
    ) as running:
        try:
            assert running.stderr is not None
            line = next(one for one in running.stderr if "http://" in one)
            address = re.search(r"http://[\w.:]+", line)
            assert address is not None
            with httpx.Client(base_url=address[0], timeout=PATIENCE_S) as client:
                client.get("/")
                yield client, running
        finally:
            running.kill()


def children(process: int) -> set[int]:
    """All that a process started, and they."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (folder / "stat").read_text().rpartition(")")[2].split()
            if told[0] != "Z":
                parents[int(folder.name)] = int(told[1])
    found = {process}
    while more := {one for one, above in parents.items() if above in found} - found:
        found |= more
    return found - {process}


def begun(client: httpx.Client, **more: Any) -> str:
    told = client.post("/api/run", json={**FRAME, **more})
    assert told.status_code == 200, told.text
    job: str = told.json()["job"]
    return job


def until_simulating(client: httpx.Client, job: str) -> None:
    with client.stream("GET", f"/api/jobs/{job}/events") as told:
        assert any("simulating" in line for line in told.iter_lines())


def brought(folder: Path) -> list[str]:
    """Files of visitors that lie about."""
    found = (folder / "brought").rglob("*")
    return [one.name for one in found if one.is_file() and one.name != LOCK]


@contextlib.contextmanager
def sending(client: httpx.Client, folder: Path) -> Iterator[None]:
    """A recording that is on its way, of which the beginning has been written down."""
    over = threading.Event()

    def slowly() -> Iterator[bytes]:
        while not over.wait(0.05):
            yield b"AAA,progname,topas_nmon\n" * 1000

    def send() -> None:
        with contextlib.suppress(httpx.HTTPError):
            headers = {"content-type": "application/octet-stream", "x-name": "half.nmon"}
            client.post("/api/recordings", content=slowly(), headers=headers)

    at_work = threading.Thread(target=send)
    at_work.start()
    try:
        end = time.monotonic() + PATIENCE_S
        while "half.nmon" not in brought(folder):
            assert time.monotonic() < end
            time.sleep(0.02)
        yield
    finally:
        over.set()
        at_work.join(PATIENCE_S)


def until_gone(processes: set[int]) -> None:
    end = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{one}/stat").exists() and not _dead(one) for one in processes):
        assert time.monotonic() < end
        time.sleep(0.05)


def _dead(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_after_a_kill_all_that_was_kept_is_there_and_nothing_half_written(tmp_path: Path) -> None:
    with served(tmp_path) as (client, running):
        told = client.get(f"/api/jobs/{begun(client, replications=1)}/events").text
        assert "event: done" in told
        until_simulating(client, begun(client, replications=1000))
        searches = client.post("/api/advise", json={**FRAME, "time_s": 300})
        assert searches.status_code == 200, searches.text
        kept = client.get("/api/start").json()["runs"]
        with sending(client, tmp_path):
            below = children(running.pid)
            os.kill(running.pid, signal.SIGKILL)
            running.wait(PATIENCE_S)
    until_gone(below)
    for half in (f"{PREFIX}half", "frame2-00000000"):
        (tmp_path / "runs" / half).mkdir()
        (tmp_path / "runs" / half / "scenario.toml").touch()
    with served(tmp_path) as (client, _):
        again = client.get("/api/start").json()["runs"]
        assert len(kept) == 1
        assert again == kept
        assert client.get(f"/api/runs/{again[0]['id']}").json()["sections"]
        assert brought(tmp_path) == []


def test_ctrl_c_ends_it_and_its_work(tmp_path: Path) -> None:
    with served(tmp_path) as (client, running):
        job = begun(client, replications=1000)
        with client.stream("GET", f"/api/jobs/{job}/events") as told:
            assert any("simulating" in line for line in told.iter_lines())
            below = children(running.pid)
            running.send_signal(signal.SIGINT)
            assert running.stderr is not None
            rest = running.stderr.read()
        assert running.wait(PATIENCE_S) in (0, 130)
    assert "Traceback" not in rest
    until_gone(below)
    assert [*(tmp_path / "brought").iterdir()] == []


def test_a_port_that_is_taken_is_said(command: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = command("serve", "--no-browser", "--port", port)
    assert done.returncode == 2
    assert port in done.stderr
    assert "--port" in done.stderr


def test_a_scenario_that_it_is_started_with_is_open_to_all(tmp_path: Path, small: bytes) -> None:
    (tmp_path / "mine.toml").write_bytes(small)
    with served(tmp_path, "mine.toml") as (client, _):
        told = client.post("/api/layout", json={"base": "scenario:mine", "edits": {}}).json()
        assert told["solved"]


def test_elsewhere_than_on_loopback_it_makes_a_token(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0") as (client, _):
        assert client.get("/").status_code == 401
        assert client.get("/api/start").status_code == 401
