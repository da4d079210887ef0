"""Licences of a product whose virtual machines are in a CPU pool of z/VM."""

from __future__ import annotations

import layouts
import numpy as np
import pytest

from homenode.errors import HomenodeError
from homenode.simulate.scenario import Scenario

CP = """
[[partition]]
name = "zvm"
processors = { mode = "dedicated", cores = 8, type = "ifl" }
memory = "32 GiB"
guest = { os = "zvm" }
workload = { kind = "idle", profile = "oltp" }

[[partition.cpu_pool]]
name = "licensed"
capacity = 2.5

[[partition.cpu_pool]]
name = "part"
limit = "30 %"

[[partition.virtual_machine]]
name = "db"
memory = "8 GiB"
workload = { kind = "transactions", rate = "200/s" }
cpu_pool = "licensed"

[[partition.virtual_machine]]
name = "other"
memory = "8 GiB"
role = "loop"
cpu_pool = "part"
"""


def on_z(pool: str) -> str:
    told = f'cpu_pool = "{pool}"' if pool else ""
    return (
        f'{CP}\n[machine]\nmodel = "ibm-z14"\n[[advise.licence]]\nproduct = "db"\n'
        f'partitions = ["zvm"]\ncost = 1.0\ncurrency = "EUR"\n{told}\n'
    )


def test_a_cpu_pool_bounds_what_a_product_counts() -> None:
    """Whole cores of the pool for those of the partition; a part of the cores does not count."""
    for pool, cores in (("", 8), ("licensed", 3)):
        scenario = Scenario.from_toml(on_z(pool))
        problem = layouts.problem(scenario, free=["unparking"])
        found = problem.cost.licensed(scenario.file.advise.licence[0], np.zeros((1, 1), np.int64))
        assert found[0] == cores
    for pool in ("part", "licenced"):
        with pytest.raises(HomenodeError, match="zvm has no such CPU pool with a capacity"):
            Scenario.from_toml(on_z(pool))
