"""Factors as a machine tells them itself: the lines `Adjustment 02-way:    61900` of a
/proc/sysinfo, which Linux on such a machine fills from the instruction STSI.
"""

from __future__ import annotations

import re

from homenode.errors import CapabilityError, Where
from homenode.model.document.read import cut

STEPS = 65536
"""A factor is told in 65536ths."""
_ADJUSTMENT = re.compile(r"Adjustment (\d{2,4})-way:\s*(\d{1,9})\s*")
_FIELD = re.compile(r"(Manufacturer|Type|Model):\s*(?:\S+\s+)?(\S+)\s*$")
"""`Model:` has the capacity first and the hardware last."""


def read_sysinfo(text: str, file: str) -> tuple[str, dict[int, float]]:
    """The machine's name and its factors by number of processors, from one processor on.

    `file` is the name of the text in messages. Nothing but those lines and the machine's name is
    looked at; a line that cannot be a factor, and one that stands there twice, is refused.
    """
    factors: dict[int, float] = {1: 1.0}
    names: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        field = _FIELD.match(line)
        if field:
            names.setdefault(field[1], field[2])
        if not line.startswith("Adjustment "):
            continue
        found = _ADJUSTMENT.fullmatch(line)
        processors, steps = (int(found[1]), int(found[2])) if found else (0, 0)
        if processors < 2 or not 0 < steps <= STEPS:
            raise CapabilityError(
                f"`{cut(line)}` is no factor",
                there=f"it must read `Adjustment 02-way: 61900`, with 1 to {STEPS} at the end",
                where=Where(file, number),
                next_step="take the text as the machine prints it",
            )
        if processors in factors:
            raise CapabilityError(
                f"the factor of {processors} processors stands there twice",
                where=Where(file, number),
                next_step="leave one out",
            )
        factors[processors] = steps / STEPS
    if len(factors) == 1:
        raise CapabilityError(
            "no line begins with Adjustment",
            where=Where(file),
            next_step=(
                "name the text of a /proc/sysinfo of Linux on IBM Z, or a table ending in .toml"
            ),
        )
    title = " ".join(names.values()) or "machine of the text"
    return title, dict(sorted(factors.items()))
