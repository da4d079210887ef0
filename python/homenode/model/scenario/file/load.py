"""What every kind of work has that may stand beside others in a partition."""

from __future__ import annotations

from pydantic import Field

from homenode.model.document import Table
from homenode.model.scenario.file.amounts import Name

MOST_LOADS = 15
"""Workloads of a partition."""


class Load(Table):
    """A workload of a partition, which may have several."""

    name: Name | None = Field(
        None,
        description="among several workloads of a partition, what its results are called;"
        " its kind if not given",
    )
