"""An adapter on damaged outputs of its tool."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from damage import TEXT_DAMAGES, damaged
from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

CASES = int(os.environ.get("DAMAGED_FILES", "60"))
LONGEST = 700
"""Characters of a message."""


def check_damaged(
    tool: str, given: Mapping[str, str | int | float | bool], samples: Sequence[bytes]
) -> None:
    """Each is refused in words, or taken with figures that can be used; many are refused."""
    one = adapter(tool)
    case = one.case("damaged", given)
    messages = []
    for number in range(CASES):
        data = damaged(f"{tool}-{number}", samples, TEXT_DAMAGES)
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
