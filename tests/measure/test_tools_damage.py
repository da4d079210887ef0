"""Damaged outputs of the tools: refused in words, or taken with figures that can be used."""

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
TOOLS: dict[str, dict[str, str | int | float | bool]] = {
    "apache": {"tiles": 4, "load": 32},
    "duckdb": {},
    "fio": {},
    "iperf3": {"load": 2},
    "request": {"load": 10},
    "sockperf": {"load": 3},
    "sysbench": {"load": 4},
}


def samples(tool: str) -> list[bytes]:
    found = [path.read_bytes() for path in sorted((SAMPLES / tool).iterdir())]
    assert found
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_damaged_output(tool: str) -> None:
    one = adapter(tool)
    case = one.case("damaged", TOOLS[tool])
    messages = []
    for number in range(CASES):
        data = damaged(f"{tool}-{number}", samples(tool), TEXT_DAMAGES)
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
    one = adapter(tool)
    case = one.case("cut", TOOLS[tool])
    whole = max(samples(tool), key=len).rstrip()
    one_less = whole[: whole.rfind(b"\n", 0, len(whole) // 2)]
    for cut in (b"", whole[:1], one_less, whole[: len(whole) // 3]):
        with pytest.raises(MeasureError):
            one.parse(case, cut)
