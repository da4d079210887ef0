"""The screens of `homenode top` that docs/guides/top.md shows: an example is simulated, Textual
draws its third frame, and what it drew is kept as SVG that fetches nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from homenode import Scenario, run_scenario
from homenode.simulate.kept.kept_run import KeptRun
from homenode.top.clock import Clock
from homenode.top.kept import KeptSource
from homenode.top.screen import TopApp

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "pools-and-dedicated.toml"
GUIDES = ROOT / "docs" / "guides"
SCREENS: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "top-partitions": ((80, 24), ()),
    "top-processors": ((80, 24), ("down", "p")),
    "top-nodes": ((80, 24), ("m",)),
    "top-dispatches": ((80, 24), ("d",)),
    "top-wide": ((120, 30), ("t",)),
}
"""By file, the size of the screen and the keys that lead to it."""
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def pictures() -> dict[Path, str]:
    """Every screen by its file."""
    with tempfile.TemporaryDirectory(prefix="homenode-screens-") as folder:
        changes = {"run.replications": 1, "run.record_dispatches": True}
        scenario = Scenario.load(EXAMPLE).with_(changes)
        run = run_scenario(scenario, out=Path(folder) / "runs")
        return {GUIDES / f"{name}.svg": drawn(run, *how) for name, how in SCREENS.items()}


def drawn(run: KeptRun, size: tuple[int, int], keys: tuple[str, ...]) -> str:
    """A screen after these keys."""
    told = os.environ.pop("NO_COLOR", None)
    try:
        return asyncio.run(_drawn(TopApp(KeptSource(run), still(), now=lambda: 0.0), size, keys))
    finally:
        if told is not None:
            os.environ["NO_COLOR"] = told


def still() -> Clock:
    """A clock that stands at the third frame."""
    return Clock(position=2, playing=False)


async def _drawn(app: TopApp, size: tuple[int, int], keys: tuple[str, ...]) -> str:
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        svg = app.export_screenshot(title="homenode top", simplify=True)
    return "\n".join(line.rstrip() for line in _FONT.sub("", svg).splitlines()) + "\n"
