"""Layouts to begin with: scenarios of the shipped studies, one of each platform."""

from __future__ import annotations

from pathlib import Path

from homenode.evidence.study import load_study
from homenode.serve.errors import RefusedError

EXAMPLES = {
    "frame": ("p795-lpar-affinity", "frame2", "PowerVM", "Two LPARs crowd one book: move one away"),
    "pool": ("power10-packing", "pool", "PowerVM", "Entitled to 40 of the 96 cores of a Power10"),
    "partitions": (
        "partition-split", "split-4-4-4", "PowerVM", "Three partitions of four processors, not one"
    ),
    "zvm": ("zvm-80-memory-rich", "l3-monolith", "z/VM", "Web servers of z/VM behind one switch"),
    "reference": ("advice-partitions", "reference", "PR/SM", "A z14 partition of 80 processors"),
    "cells": ("hp-vpars", "both-4a", "HP vPars", "Two vPars, each in a cell of its own"),
    "kvm": ("hosts-published", "steal", "Linux, KVM", "Two guests that compute, on one processor"),
    "xen": ("hosts-published", "xen-weight", "Xen", "Weights of 512 and 256 on one processor"),
}  # fmt: skip
"""By name: the study, its scenario, the platform, a title. The first is the one to try first."""


def example_path(name: str) -> Path:
    """Where an example lies. Raises `RefusedError` for one that there is not."""
    if name not in EXAMPLES:
        known = ", ".join(EXAMPLES)
        raise RefusedError(404, f"there is no example {name}", next_step=f"there is {known}")
    study, scenario, *_ = EXAMPLES[name]
    return load_study(study).folder / "scenarios" / f"{scenario}.toml"
