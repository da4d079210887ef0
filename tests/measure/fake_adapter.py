"""An adapter whose tool is a line of Python, told by the case's parameters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements
from homenode.hosts.adapters import registry
from homenode.hosts.errors import MeasureError

KNOWN = {"code", "server", "load", "needs", "disk_bytes", "memory_bytes", "net"} | {
    "plug_in",
    "loose",
    "limit",
}
SPIN = "import time; t = time.process_time() + {}\nwhile time.process_time() < t: pass\nprint(10)"


class Fake:
    """Runs `code`, whose last printed number is the work; a `server` beside it if asked."""

    name = "fake"
    title = "a line of Python"
    stands_for = "nothing: for tests"
    limit_s = 60.0

    def requires(self, case: Case) -> Requirements:
        needs = (Need("python3", "python3"),)
        if "needs" in case.parameters:
            plug_in = bool(case.parameters.get("plug_in", False))
            name = str(case.parameters["needs"])
            needs += (Need(name, f"{name}-package", plug_in=plug_in),)
        return Requirements(
            needs=needs,
            disk_bytes=int(case.parameters.get("disk_bytes", 0)),
            memory_bytes=int(case.parameters.get("memory_bytes", 0)),
            network_namespace=bool(case.parameters.get("net", False)),
        )

    def case(self, name: str, parameters: Parameters) -> Case:
        for key in parameters:
            if key not in KNOWN:
                raise MeasureError(f"fake takes no {key}", there=f"it takes {sorted(KNOWN)}")
        return Case(
            name=name,
            title=f"fake {name}",
            metric="things",
            unit="things/s",
            better="higher",
            parameters=parameters,
            load=float(parameters.get("load", 0)),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        (bench.data / "prepared").touch(exist_ok=False)

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        assert (bench.data / "prepared").exists()
        assert not list(bench.folder.iterdir())
        (bench.folder / "used").touch()
        if "server" in case.parameters:
            port = bench.free_port()
            argv = [sys.executable, "-c", str(case.parameters["server"]), str(port)]
            server = bench.start(argv, role="server")
            bench.wait_for_port(port, limit_s=30, of=server)
        limit = float(case.parameters.get("limit", 30.0))
        bench.measuring()
        done = bench.run([sys.executable, "-c", str(case.parameters["code"])], limit_s=limit)
        bench.measured()
        if case.parameters.get("loose"):
            return Output(work=1.0, seconds=1e-3, score=1.0)
        output = self.parse(case, done.stdout)
        return Output(output.work, done.seconds, output.work / done.seconds)

    def parse(self, case: Case, text: bytes) -> Output:
        try:
            work = float(text.split()[-1])
        except (IndexError, ValueError) as error:
            raise MeasureError(f"fake printed no number but {text!r}") from error
        return Output(work, 1.0, work)

    def version(self, bench: Bench) -> str:
        done = bench.run([sys.executable, "--version"], limit_s=30)
        return done.stdout.decode().strip()


def register(patch: pytest.MonkeyPatch) -> None:
    """Make it known to suites."""
    patch.setitem(registry.ADAPTERS, "fake", "fake_adapter:Fake")


def write_suite(folder: Path, *rows: str, defaults: str = "repeats = 2\nseconds = 0.1") -> Path:
    """A suite of the fake's cases; each row is the body of a `[[case]]`."""
    head = f'schema = 1\nname = "fakes"\ntitle = "Fakes"\n\n[defaults]\n{defaults}\n'
    body = "".join(f'\n[[case]]\nadapter = "fake"\n{row}\n' for row in rows)
    path = folder / "fakes.toml"
    path.write_text(head + body)
    return path


def row(name: str, code: str, extra: str = "", **parameters: object) -> str:
    """The body of a case."""
    import json

    inner = {"code": code, **parameters}
    # JSON strings, numbers and booleans are TOML's too.
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in inner.items())
    return f'name = "{name}"\n{extra}\nparameters = {{ {table} }}'
