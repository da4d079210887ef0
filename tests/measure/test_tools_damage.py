"""Damaged outputs of the tools: refused in words, or taken with figures that can be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged_outputs import check_damaged

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

SAMPLES = Path(__file__).parent / "samples"
TOOLS: dict[str, dict[str, str | int | float | bool]] = {
    "apache": {"tiles": 4, "load": 32},
    "duckdb": {},
    "fio": {},
    "iperf3": {"load": 2},
    "pgbench": {"load": 2},
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
    check_damaged(tool, TOOLS[tool], samples(tool))


@pytest.mark.parametrize("tool", TOOLS)
def test_cut_output_is_refused(tool: str) -> None:
    one = adapter(tool)
    case = one.case("cut", TOOLS[tool])
    whole = max(samples(tool), key=len).rstrip()
    one_less = whole[: whole.rfind(b"\n", 0, len(whole) // 2)]
    for cut in (b"", whole[:1], one_less, whole[: len(whole) // 3]):
        with pytest.raises(MeasureError):
            one.parse(case, cut)
