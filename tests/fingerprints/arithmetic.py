"""Where fingerprints are comparable: the same arithmetic, down to the last bit.

The engine adds, multiplies and takes roots as IEEE 754 prescribes, on every machine alike, and has
a logarithm of its own. `exp` and `pow` come from the system's library, whose last digit depends on
its version and on whether the processor multiplies and adds in one step.
"""

from __future__ import annotations

import functools
import hashlib
import math
import platform
import struct

_VALUES = 50_000


@functools.cache
def platform_facts() -> dict[str, str]:
    """What decides the last digits here."""
    return {
        "architecture": platform.machine(),
        "library": " ".join(platform.libc_ver()) or platform.system(),
        "arithmetic": arithmetic(),
    }


def same_arithmetic(recorded: dict[str, str]) -> bool:
    """Whether numbers have the same last digits here as there."""
    return recorded.get("arithmetic") == arithmetic()


def spelled(facts: dict[str, str]) -> str:
    """The facts in one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())


@functools.cache
def arithmetic() -> str:
    """A digest of `exp` and `pow` of the system's library at many places."""
    found = hashlib.sha256()
    state = 1
    for _ in range(_VALUES):
        state = (6_364_136_223_846_793_005 * state + 1_442_695_040_888_963_407) % 2**64
        share = (state >> 11) / 2**53
        values = math.exp(-8.0 * share), math.pow(1.0 + 1e6 * share, -0.37)
        found.update(struct.pack("<2d", *values))
    return found.hexdigest()[:16]
