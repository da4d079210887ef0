"""How far virtual processors were dispatched from where they ran last and from their home, as the
kernel counts it from the hypervisor's trace log. Only a run that kept every dispatch can tell.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from homenode.simulate.kept.reading import scan_table
from homenode.simulate.kept.store import table_path
from homenode.simulate.kept.totals import shape_during

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run


@dataclass(frozen=True)
class Dispersion:
    """Dispatches of one virtual processor, in the order of the kernel's file."""

    total: int = 0
    same_core: int = 0
    same_chip: int = 0
    same_node: int = 0
    other_node: int = 0
    home: int = 0
    near: int = 0
    far: int = 0

    def plus(self, other: Dispersion) -> Dispersion:
        """The sum of both."""
        return Dispersion(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def minus(self, other: Dispersion) -> Dispersion:
        """What was counted since `other`."""
        return Dispersion(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))


def dispersions(
    run: Run, partition: str, replication: int, moments: int
) -> list[dict[int, Dispersion]] | None:
    """What was counted by the end of each kept interval, by virtual processor; None if the run
    kept no single dispatches.
    """
    if not table_path(run.path, "dispatches").is_file():
        return None
    vps = shape_during(run.spec, run.partitions.index(partition)).processors
    found = [dict.fromkeys(range(vps), Dispersion()) for _ in range(moments)]
    for row in _counts(run, partition, replication).iter_rows(named=True):
        moment, vp = row.pop("moment"), row.pop("vp")
        if moment < moments:
            found[moment][vp] = Dispersion(**row)
    for earlier, later in pairwise(found):
        for vp, counted in earlier.items():
            later[vp] = later[vp].plus(counted)
    return found


def _counts(run: Run, partition: str, replication: int) -> pl.DataFrame:
    """Dispatches by interval and virtual processor, classed by the distance from the last core and
    from home.

    A virtual processor that is on a core when the measured time begins was not dispatched in it,
    but its core counts as the last one. The first dispatch of one that was never seen has no last
    core; it is counted as one on the same core.
    """
    import polars as pl

    machine = run.spec["machine"]
    interval = int(run.spec["interval_ns"])
    cores = int(machine["cores_per_chip"])
    chips = int(machine["chips_per_node"])
    last = pl.col("core").shift(1).over("vp").fill_null(pl.col("core"))
    chip, last_chip = pl.col("core") // cores, pl.col("last") // cores
    same_core = pl.col("core") == pl.col("last")
    same_chip = chip == last_chip
    same_node = chip // chips == last_chip // chips
    return (
        scan_table(run.path, "dispatches")
        .filter(
            (pl.col("replication") == replication)
            & (pl.col("partition") == run.partitions.index(partition))
        )
        .select("start_ns", "vp", "core", "distance")
        .sort("start_ns", maintain_order=True)
        .with_columns(last=last)
        .filter(pl.col("start_ns") > 0)
        .group_by(moment=(pl.col("start_ns") - 1) // interval, vp=pl.col("vp"))
        .agg(
            total=pl.len(),
            same_core=same_core.sum(),
            same_chip=(~same_core & same_chip).sum(),
            same_node=(~same_chip & same_node).sum(),
            other_node=(~same_node).sum(),
            home=(pl.col("distance") == 0).sum(),
            near=(pl.col("distance") == 1).sum(),
            far=(pl.col("distance") == 2).sum(),
        )
        .sort("moment", "vp")
        .collect()
    )
