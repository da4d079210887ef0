"""A case of a tool, measured once for real by the command line."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.live.packages import missing, remedy
from homenode.hosts.result import Result, load

SUITE = """\
schema = 1
name = "live"
title = "one case"

[defaults]
repeats = 1
seconds = {seconds}

[[case]]
adapter = "{adapter}"
name = "{name}"
parameters = {{ {parameters} }}
"""
LACKS = re.compile(
    r"cannot be run here: .*|no network namespace can be made.*|let the host come to rest.*"
)
"""What a host may lack: memory or disk for a case, the right to make namespaces, and where others
have all processors, a turn in time. The measurement is refused in these words, and rightly.
"""


def measured(
    command: Callable[..., subprocess.CompletedProcess[str]],
    folder: Path,
    tool: str,
    name: str,
    parameters: str,
    seconds: float,
) -> Result:
    """The kept result. Skips the test where the tool is not installed, or the host cannot do it."""
    one = adapter(tool)
    absent = missing(one.requires(one.case(name, {})).needs, one)
    if absent:
        programs = ", ".join(need.program for need in absent)
        pytest.skip(f"not measured live: {programs} is not here; {remedy(absent)}")
    suite, kept = folder / "live.toml", folder / "live.json"
    text = SUITE.format(adapter=tool, name=name, parameters=parameters, seconds=seconds)
    suite.write_text(text)
    done = command("measure", "run", suite, "--gate", "off", "-o", kept)
    if done.returncode and (lack := LACKS.search(done.stderr)):
        pytest.skip(f"not measured live: {lack[0][:300]}")
    assert done.returncode == 0, done.stderr
    return load(kept)
