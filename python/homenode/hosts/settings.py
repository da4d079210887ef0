"""What may differ between the two sides of `homenode measure ab`, and how it is written.

`cpus=0-1 weight=200 quota=0.5 period=50ms burst=10ms idle env=VAR=value
switch='command' back='command'`
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from homenode.errors import hint, listed
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import MOST_PROCESSORS, Setting, cpu_list, parse_cpu_list
from homenode.hosts.live.processes import told

_WORDS = ("cpus", "weight", "quota", "period", "burst", "idle", "env", "switch", "back")
_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000}
_SWITCH_LIMIT_S = 60
_LONGEST_NAME = 60


@dataclass(frozen=True)
class System:
    """One side: a name and what is set for it."""

    name: str
    setting: Setting = field(default_factory=Setting)
    env: Mapping[str, str] = field(default_factory=dict)
    switch: str | None = None
    """A command for a shell that sets the host up, before each repetition."""
    back: str | None = None
    """One that undoes it, after each repetition."""
    words: str = ""
    """As written."""

    def as_json(self) -> dict[str, object]:
        """What the result file says of it."""
        setting = self.setting
        told_of = {
            "words": self.words,
            "weight": setting.weight,
            "quota": setting.quota,
            "cpus": None if setting.cpus is None else cpu_list(setting.cpus),
            "env": dict(self.env),
            "switch": self.switch,
        }
        return {name: value for name, value in told_of.items() if value not in (None, {}, "")}


def named(name: str) -> System:
    """A system with nothing set for it.

    Raises `MeasureError` for a name that no table could show.
    """
    if not 0 < len(name.strip()) <= _LONGEST_NAME or not name.isprintable():
        raise MeasureError(
            f"{name!r} is no name for a host",
            next_step=f"write up to {_LONGEST_NAME} letters, such as old",
        )
    return System(name.strip())


def parse(name: str, words: str) -> System:
    """The side that these words describe.

    Raises `MeasureError` for a word that is not known or makes no sense.
    """
    system = System(name, words=words)
    try:
        parts = shlex.split(words)
    except ValueError as error:
        raise _wrong(name, words, str(error)) from error
    for part in parts:
        key, _, value = part.partition("=")
        if key not in _WORDS:
            raise MeasureError(
                f"--{name}: {part} is not known{hint(key, _WORDS)}",
                there=f"known are {listed(_WORDS)}",
                next_step=f'write it like --{name} "cpus=0 weight=200"',
            )
        system = _with(system, key, value, part)
    system.setting.check()
    return system


def _with(system: System, key: str, value: str, part: str) -> System:
    setting = system.setting
    try:
        if key == "cpus":
            return replace(system, setting=replace(setting, cpus=_processors(value)))
        if key == "weight":
            return replace(system, setting=replace(setting, weight=int(value)))
        if key == "quota":
            return replace(system, setting=replace(setting, quota=float(value)))
        if key == "period":
            return replace(system, setting=replace(setting, period_us=_microseconds(value)))
        if key == "burst":
            return replace(system, setting=replace(setting, burst_us=_microseconds(value)))
    except (ValueError, OverflowError) as error:
        raise _wrong(system.name, part, "this is no such value") from error
    if key == "idle":
        if value or "=" in part:
            raise _wrong(system.name, part, "idle takes no value: write it, or leave it out")
        return replace(system, setting=replace(setting, idle=True))
    if key == "env":
        variable, there, text = value.partition("=")
        if not variable or not there:
            raise _wrong(system.name, part, "a variable is written env=NAME=value")
        return replace(system, env={**system.env, variable: text})
    if not value:
        raise _wrong(system.name, part, f"{key} needs a command")
    return replace(system, switch=value) if key == "switch" else replace(system, back=value)


def _processors(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise ValueError(text)
    # Before the list is made, which could fill the memory.
    if any(int(number) >= MOST_PROCESSORS for number in re.findall(r"\d+", text)):
        raise ValueError(text)
    cpus = parse_cpu_list(text)
    if not cpus:
        raise ValueError(text)
    return cpus


def _microseconds(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|ms|s)", text)
    if found is None:
        raise ValueError(text)
    return round(float(found.group(1)) * _UNITS_US[found.group(2)])


def _wrong(name: str, part: str, why: str) -> MeasureError:
    return MeasureError(
        f"--{name}: {part}: {why}",
        next_step="write it like cpus=0-1, weight=200, quota=0.5, period=50ms, env=NAME=value",
    )


def call(command: str) -> None:
    """Run a command that switches the host from one side to the other.

    Raises `MeasureError` with its own words where it fails.
    """
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            check=False,
            timeout=_SWITCH_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise MeasureError(
            f"the switch `{command}` does not end within {_SWITCH_LIMIT_S} s",
            next_step="let it start things in the background",
        ) from error
    if done.returncode:
        raise MeasureError(
            f"the switch `{command}` failed with code {done.returncode}",
            there=told(done.stderr or done.stdout),
            next_step="try it by hand",
        )
