"""Sweeps on a Ray cluster: a head without processors, and two nodes of which one dies."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("ray") is None:
    pytest.skip("Ray is not installed: `make setup` brings it", allow_module_level=True)

from homenode.simulate.runner import run_scenario
from homenode.simulate.sweep import drive
from homenode.simulate.sweep.drive import run_sweep
from homenode.simulate.sweep.whole import keep_runs

from .test_sweep import tables
from .test_whole import content, layouts

_STORE_BYTES = 80_000_000
_PATIENT = {"health_check_timeout_ms": 60_000}
"""A node that is late because this machine is busy is not taken for dead, and with the head's node
whoever drives the sweep would be ended; one that was killed refuses to answer at once.
"""

pytestmark = pytest.mark.slow("starts a cluster, which takes half a minute")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One that nobody else on this machine can give work to."""
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in {**own, "RAY_USAGE_STATS_ENABLED": "0"}.items():
        monkeypatch.setenv(name, value)
    # Not before: it asks for these when it is imported.
    from ray.cluster_utils import Cluster

    size: dict[str, Any] = {"object_store_memory": _STORE_BYTES, "include_dashboard": False}
    head = {**size, "num_cpus": 0, "_system_config": _PATIENT}
    found = Cluster(initialize_head=True, head_node_args=head)
    monkeypatch.setenv("RAY_ADDRESS", found.address)
    try:
        yield found
    finally:
        found.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_writes_the_same_bytes_though_a_node_dies(
    cluster: Any, long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "_BATCH_S", 0.2)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES) for _ in range(2)]
    shares: list[float] = []

    def tell(share: float, left: float | None) -> None:
        if share > 0.05 and len(nodes) == 2:
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            shares.append(share)

    done = run_sweep(long, on="ray", out=tmp_path / "cluster", progress=tell)
    assert shares
    assert shares[0] < 0.9
    whole = run_sweep(long, jobs=2, out=tmp_path / "here")
    assert (done.id, tables(done)) == (whole.id, tables(whole))
    (run,) = keep_runs(layouts(long)[:1], on="ray", out=tmp_path / "runs")
    assert content(run) == content(run_scenario(layouts(long)[0], out=tmp_path / "alone"))
