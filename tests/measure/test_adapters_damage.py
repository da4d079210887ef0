"""Damaged outputs of tools and kernels: refused in words, or taken with figures of use."""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged_outputs import check_damaged

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

SAMPLES = Path(__file__).parent / "samples"
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
    check_damaged(tool, given, [(SAMPLES / tool / file).read_bytes()])


@pytest.mark.parametrize("tool", TOOLS)
def test_cut_output_is_refused(tool: str) -> None:
    file, given = TOOLS[tool]
    one = adapter(tool)
    case = one.case("cut", given)
    whole = (SAMPLES / tool / file).read_bytes().rstrip()
    for cut in (b"", whole[:1], whole[: len(whole) // 3], whole[: len(whole) // 2]):
        with pytest.raises(MeasureError):
            one.parse(case, cut)
