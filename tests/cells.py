"""A layout of virtual partitions for tests, and the recordings of our own making."""

from __future__ import annotations

from pathlib import Path

LISTINGS = Path(__file__).resolve().parents[1] / "crates" / "captures" / "tests" / "listings"

TWO_CELLS = """\
[machine]
model = "hp-rx7640"

[[npartition]]
name = "oak"
cells = ["cell0", "cell1"]
memory = "32 GiB"
clm = "24 GiB"
ilm_granule = "1 GiB"
clm_granule = "1 GiB"

[[partition]]
name = "jbb"
io = "cell1"
memory = [
  { size = "24 GiB", on = "cell1" },
  { size = "4 GiB", on = "interleaved" },
  { size = "4 GiB", on = "interleaved", use = "floating" },
]
guest = { os = "hp-ux" }
workload = { kind = "idle" }

[partition.processors]
mode = "dedicated"
cores = 8
minimum = 2
maximum = 16
cells = { cell0 = 2, cell1 = 4 }
paths = ["0.10"]
boot = "0.10"

[[partition]]
name = "sap"
processors = { mode = "dedicated", cores = 8, maximum = 12 }
memory = [{ size = "24 GiB", on = "cell0" }, { size = "8 GiB", on = "interleaved" }]
guest = { os = "hp-ux" }
workload = { kind = "idle" }
"""

NO_MONITOR = """\
[machine]
model = "hp-rx7640"

[[npartition]]
name = "elm"
cells = ["cell1"]
memory = "32 GiB"
vpars = false

[[partition]]
name = "elm"
processors = { mode = "dedicated", cores = 8 }
memory = "32 GiB"
guest = { os = "hp-ux" }
workload = { kind = "idle" }
"""
