"""What little entitlement costs whoever uses far more: others that are entitled, or want as much,
throw it off cores of its home, so that it runs far from its memory and waits for a core.
"""

from __future__ import annotations

from pathlib import Path

import layouts
import pytest

from homenode.planner import Advice, advise
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario

BATCH = """
[[partition]]
name = "batch"
processors = {{ mode = "shared", entitlement = 8.0, virtual = 32 }}
memory = "16 GiB"
home = "drawer1"
workload = {{ kind = "loops", count = {loops}, endless = true, profile = "oltp" }}
"""
ENTITLED = "partition.web.processors.entitlement"


def beside(loops: int, entitled: float = 1.4) -> Scenario:
    """One that uses eight cores and more, at home on a drawer, beside a batch of the other one."""
    head = layouts.HEAD.replace("active_cores = 48", "active_cores = 32")
    web = layouts.partition("web", rate=1000, entitlement=entitled, virtual=14)
    advised = 'free = ["entitlement"]\ngives_way = ["batch"]\npinned = ["batch"]'
    return layouts.scenario(web, BATCH.format(loops=loops), head=head, advise=advised)


def advised(loops: int, out: Path, **asked: object) -> Advice:
    return advise(beside(loops), best=1, out=out, **asked)  # type: ignore[arg-type]


def test_more_of_it_is_advised_with_what_it_saves_and_why(tmp_path: Path) -> None:
    told = advised(128, tmp_path)
    (best,) = told.best
    (change,) = best.changes
    assert change.path == ENTITLED
    assert float(str(change.after)) > 3
    assert (best.saving.mean or 0) > 0.02 * (told.do_nothing.cores.mean or 0)
    for words in ("far from home", "memory, other drawer", "a dispatch waits"):
        assert words in change.why
    # Who waits longer for a core answers later.
    quicker = advised(128, tmp_path, goal="response")
    assert quicker.best[0].changes[0].path == ENTITLED
    was = quicker.do_nothing.response_ms.mean or 0
    assert (quicker.best[0].saving.mean or 0) > 0.2 * was


def test_beside_cores_that_idle_it_costs_nothing(tmp_path: Path) -> None:
    """A core beyond the entitlement is as good as one within while some are free."""
    assert not advised(16, tmp_path).best


def test_the_more_is_entitled_the_nearer_it_runs(tmp_path: Path) -> None:
    runs = [run_scenario(beside(128, cores), out=tmp_path) for cores in (1.4, 4.0, 8.0)]
    for metric in ("far_share", "dispatch_wait_us", "response_ms_mean"):
        told = [run.metric("web", metric).mean or 0.0 for run in runs]
        assert told == sorted(told, reverse=True), metric
    used = [run.metric("web", "physc").mean or 0.0 for run in runs]
    assert used[-1] < 0.9 * used[0]


@pytest.mark.parametrize("loops", [16, 128])
def test_what_is_entitled_is_all_there_is_to_it(loops: int, tmp_path: Path) -> None:
    """Entitled to what it uses there is nothing that more would save."""
    assert not advise(beside(loops, 10.0), best=1, out=tmp_path).best
