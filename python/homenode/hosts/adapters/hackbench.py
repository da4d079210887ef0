"""hackbench: groups of senders and receivers that pass small messages, all to all in their group.

What it shows is waking and switching: a group is 20 senders and 20 receivers, and each sender
passes each receiver `loops` messages of 100 bytes.
"""

from __future__ import annotations

import re

from homenode.hosts.adapter import Bench, Case, Need, Output, Parameters, Requirements
from homenode.hosts.adapters.given import Given
from homenode.hosts.adapters.reading import unreadable
from homenode.hosts.errors import MeasureError

_PAIRS = 20 * 20
_TIME = re.compile(rb"^Time: ([0-9]+\.[0-9]+)\s*$", re.MULTILINE)
_SHAPE = re.compile(rb"Running in (process|threaded) mode with (\d+) groups")


class Hackbench:
    """Messages among many processes."""

    name = "hackbench"
    title = "messages among groups of processes"
    stands_for = "in place of ReAim's multi-user load: what waking and switching cost"
    limit_s = 300.0

    def requires(self, case: Case) -> Requirements:
        """The program."""
        return Requirements(needs=(Need("hackbench", "rt-tests"),))

    def case(self, name: str, parameters: Parameters) -> Case:
        """`load` groups of 40 processes, `loops` messages from each sender to each receiver, `over`
        sockets or pipes.
        """
        given = Given(self.name, name, parameters)
        groups = given.count("load", 4, least=1, most=1000)
        given.count("loops", 1000, least=1, most=10**7)
        over = given.choice("over", ("sockets", "pipes"), "sockets")
        given.no_others()
        return Case(
            name=name,
            title=f"messages over {over} among {groups} groups of 40 processes, until all is read",
            metric="messages",
            unit="s",
            better="lower",
            parameters=given.taken,
            load=float(groups),
        )

    def prepare(self, case: Case, bench: Bench) -> None:
        """Nothing is needed."""

    def measure(self, case: Case, bench: Bench, *, seconds: float) -> Output:
        """All messages once; `seconds` does not change how many."""
        given = case.parameters
        argv = ["hackbench", "-g", str(given["load"]), "-l", str(given["loops"])]
        if given["over"] == "pipes":
            argv.append("-p")
        bench.measuring()
        done = bench.run(argv, limit_s=self.limit_s + seconds)
        bench.measured()
        return self.parse(case, done.stdout)

    def parse(self, case: Case, text: bytes) -> Output:
        """Its line `Time:`."""
        shape, time = _SHAPE.search(text), _TIME.search(text)
        if shape is None or time is None:
            raise unreadable(self.name, "it has no line of its shape or none of its time", text)
        if int(shape[2]) != int(case.load):
            raise unreadable(self.name, f"it did not run {case.load:g} groups", text)
        seconds = float(time[1])
        if seconds <= 0.0:
            raise MeasureError(
                "hackbench tells a time of 0 s", next_step="give the case more `loops`"
            )
        messages = case.load * _PAIRS * int(case.parameters["loops"])
        return Output(work=messages, seconds=seconds, score=seconds)

    def version(self, bench: Bench) -> str:
        """Such as `hackbench V 2.40`, the first line of its help."""
        done = bench.run(["hackbench", "--help"], limit_s=10.0, good=(0, 1))
        first = (done.stdout or done.stderr).splitlines()
        return first[0].decode("utf-8", "replace").strip() if first else "unknown"
