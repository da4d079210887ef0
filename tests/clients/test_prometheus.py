"""The real promtool makes blocks of what is exported, and finds every point in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program

from homenode import Run
from homenode.records.exporting import ExportOptions, export

Client = Callable[[str], Program]


@pytest.mark.parametrize("which", ["busy", "mainframe"])
def test_blocks_hold_every_point(
    which: str, client: Client, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    run: Run = request.getfixturevalue(which)
    (path,) = export(run, "openmetrics", tmp_path / "run.om.txt", ExportOptions())
    lines = path.read_text(encoding="utf-8").splitlines()
    points = [line for line in lines if not line.startswith("#")]
    blocks = tmp_path / "blocks"
    promtool = client("promtool")
    promtool.run("tsdb", "create-blocks-from", "openmetrics", path, blocks)
    (blocks / "wal").mkdir()  # a database has one, empty or not, before promtool reads it
    kept = promtool.run("tsdb", "dump", blocks).splitlines()
    assert len(kept) == len(points)
    # Of each series as many points, with the sum of the values that were written.
    assert figures(kept) == figures(points)


def figures(lines: list[str]) -> Counter[str]:
    """Points by metric and their sum in thousandths, whatever the order of labels."""
    found: Counter[str] = Counter()
    for line in lines:
        name = line.split('__name__="')[1].split('"')[0] if "__name__" in line else ""
        head, _, rest = line.partition("} ") if "} " in line else line.partition(" ")
        name = name or head.split("{")[0]
        found[name] += 1
        found[f"{name} sum"] += round(1000 * float(rest.split()[0]))
    return found
