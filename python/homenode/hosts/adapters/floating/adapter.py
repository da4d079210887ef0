"""Programs that reckon with floating-point numbers, run as those of the integer set are."""

from __future__ import annotations

from homenode.hosts.adapters.floating.programs import PROGRAMS
from homenode.hosts.adapters.integer.adapter import Integer


class Floating(Integer):
    """Programs, one copy each."""

    name = "floating"
    title = "real programs that reckon with floating-point numbers, one copy each"
    stands_for = "the floating-point suite's single copies: per cent per case, geometric mean"
    programs = PROGRAMS
