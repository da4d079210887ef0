"""Layouts to begin with: scenarios of the shipped studies, one of each platform."""

from __future__ import annotations

from pathlib import Path

from homenode.evidence.study import load_study
from homenode.serve.errors import RefusedError

EXAMPLES = {
    "frame": ("p795-lpar-affinity", "frame2", "PowerVM"),
    "pool": ("power10-packing", "pool", "PowerVM"),
    "partitions": ("partition-split", "split-4-4-4", "PowerVM"),
    "zvm": ("zvm-80-memory-rich", "l3-monolith", "z/VM"),
    "reference": ("advice-partitions", "reference", "PR/SM"),
    "cells": ("hp-vpars", "both-4a", "HP vPars"),
    "kvm": ("hosts-published", "steal", "Linux, KVM"),
    "xen": ("hosts-published", "xen-weight", "Xen"),
}
"""By name: the study, its scenario, the platform. The first is the one to try first."""


def example_path(name: str) -> Path:
    """Where an example lies. Raises `RefusedError` for one that there is not."""
    if name not in EXAMPLES:
        known = ", ".join(EXAMPLES)
        raise RefusedError(404, f"there is no example {name}", next_step=f"there is {known}")
    study, scenario, _ = EXAMPLES[name]
    return load_study(study).folder / "scenarios" / f"{scenario}.toml"
