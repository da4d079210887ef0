"""A real program run once over its input: seconds, with the same work on every host.

The product's sum stands beside the time: where it differs between two hosts, versions of the
program do, and so does the work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from homenode.hosts.adapter import Bench, Case, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.integer.programs import PROGRAMS, Program
from homenode.hosts.adapters.reading import json_object, number, positive, unreadable
from homenode.hosts.errors import MeasureError

_SIZES = ("small", "large")
_ROOM = 256 << 20
"""More than the largest input and product [bytes]."""
_PRODUCT = "product"


class Integer:
    """Programs, one copy each."""

    name = "integer"
    title = "real programs on generated inputs, one copy each"
    stands_for = "the integer suite's single copies: per cent per case, geometric mean"
    limit_s = 300.0
    programs: ClassVar[Mapping[str, Program]] = PROGRAMS

    def requires(self, case: Case) -> Requirements:
        """The program."""
        return Requirements(needs=self._program(case).needs(), disk_bytes=_ROOM)

    def case(self, name: str, parameters: Parameters) -> Case:
        """`program`, the case's name if left out; `size` of its input, small or large."""
        given = Given(self.name, name, parameters)
        program = given.choice(
            "program", tuple(self.programs), name if name in self.programs else ""
        )
        size = given.choice("size", _SIZES, "small")
        given.no_others()
        return Case(
            name=name,
            title=f"{self.programs[program].title} ({size} input)",
            metric="runs",
            unit="s",
            better="lower",
            parameters=given.taken,
            load=1.0,
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Make the input, the same on every host."""
        program = self._program(case)
        program.make(bench.data, program.sizes[_SIZES.index(str(case.parameters["size"]))])
        if program.ready is not None:
            bench.run(program.ready(bench.data), limit_s=60.0)

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """The program once; `seconds` does not change its work."""
        program = self._program(case)
        product = bench.folder / _PRODUCT
        command = program.command(bench.data, product)
        bench.measuring()
        done = bench.run(command, limit_s=self.limit_s + seconds, good=program.good)
        bench.measured()
        made = _made(product) if program.to_file else done.stdout
        told = {
            "program": case.parameters["program"],
            "seconds": done.seconds,
            "bytes": len(made),
            "sha256": _sum(made, program),
        }
        return self.parse(case, json.dumps(told).encode())

    def parse(self, case: Case, text: bytes) -> Output:
        """Our own account of a run: the program's name, its seconds, the product's size and sum."""
        told = json_object(self.name, text)
        if told.get("program") != case.parameters["program"]:
            raise unreadable(self.name, f"it is not of {case.parameters['program']}", text)
        if number(self.name, told, "bytes") == 0.0:
            raise MeasureError(
                f"{told['program']} made nothing", next_step="run its command by hand"
            )
        seconds = positive(self.name, told, "seconds")
        return Output(
            work=1.0,
            seconds=seconds,
            score=seconds,
            details={"product_bytes": told["bytes"], "product_sha256": told.get("sha256")},
        )

    def _program(self, case: Case) -> Program:
        return self.programs[str(case.parameters["program"])]

    def version(self, bench: Bench) -> str:
        """Of each program's package, where Debian's list tells it."""
        packages = sorted({program.package for program in self.programs.values()})
        asked = ["dpkg-query", "--show", "--showformat=${Package} ${Version}, ", *packages]
        try:
            said = bench.run(asked, limit_s=20.0, good=(0, 1)).stdout
        except MeasureError:
            return "unknown: this host has no list of packages"
        return said.decode("utf-8", "replace").strip(", ")


def _made(product: Path) -> bytes:
    """What the program wrote; nothing if there is no file."""
    try:
        return product.read_bytes()
    except FileNotFoundError:
        return b""


def _sum(made: bytes, program: Program) -> str | None:
    """SHA-256 of what of the product is the same everywhere, lines of remarks left out."""
    if program.kept is None:
        return None
    if program.remarks is not None:
        lines = made.splitlines(keepends=True)
        made = b"".join(line for line in lines if not line.startswith(program.remarks))
    return hashlib.sha256(program.kept(made)).hexdigest()
