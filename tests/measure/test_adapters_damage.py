"""Damaged outputs of tools and kernels: refused in words, or taken with figures of use."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from damage import TEXT_DAMAGES, damaged
from homenode.measure.adapters.registry import adapter
from homenode.measure.errors import MeasureError

SAMPLES = Path(__file__).parent / "samples"
CASES = int(os.environ.get("DAMAGED_FILES", "120"))
LONGEST = 700  # characters of a message
TOOLS: dict[str, tuple[str, dict[str, str | int | float | bool]]] = {
    "kernels": ("copy-1m-2.json", {"kernel": "memory", "operation": "copy", "load": 2}),
    "loops": ("three.json", {"load": 3, "turns": 20_000_000}),
    "dbench": ("disk-2.txt", {"load": 2}),
    "tbench": ("loopback-2.txt", {"load": 2}),
    "stressng": ("compute-2.yaml", {"mix": "compute", "load": 2}),
    "hackbench": ("sockets-2.txt", {"load": 2, "loops": 200}),
    "integer": ("xz.json", {"program": "xz"}),
    "jmh": ("two-warehouses.json", {"load": 2}),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_damaged_output(tool: str) -> None:
    file, given = TOOLS[tool]
    one = adapter(tool)
    case = one.case("damaged", given)
    sample = (SAMPLES / tool / file).read_bytes()
    messages = []
    for number in range(CASES):
        data = damaged(f"{tool}-{number}", [sample], TEXT_DAMAGES)
        try:
            output = one.parse(case, data)
        except MeasureError as error:
            messages.append(str(error))
            continue
        figures = [output.work, output.seconds, output.score, *output.latency_ms.values()]
        assert all(math.isfinite(figure) for figure in [*figures, *output.series]), number
        assert min(output.work, output.seconds, output.score) > 0.0, number
    assert len(messages) > CASES // 10
    assert max(map(len, messages)) < LONGEST


@pytest.mark.parametrize("tool", TOOLS)
def test_cut_output_is_refused(tool: str) -> None:
    file, given = TOOLS[tool]
    one = adapter(tool)
    case = one.case("cut", given)
    whole = (SAMPLES / tool / file).read_bytes().rstrip()
    for cut in (b"", whole[:1], whole[: len(whole) // 3], whole[: len(whole) // 2]):
        with pytest.raises(MeasureError):
            one.parse(case, cut)
