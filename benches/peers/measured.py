"""What every Python program here does around its two functions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from load import Counts

Work = Callable[[int, int], Counts]


def main(w1: Work, w2: Work, warm_up_events: int = 0) -> None:
    """``PROGRAM w1|w2 EVENTS SEED``: one measurement, as a JSON object.

    Programs that compile ask for a warm-up: the clock is about running.
    """
    if len(sys.argv) != 4 or sys.argv[1] not in ("w1", "w2"):
        sys.exit(f"usage: {sys.argv[0]} w1|w2 EVENTS SEED")
    run = w1 if sys.argv[1] == "w1" else w2
    events, seed = int(sys.argv[2]), int(sys.argv[3])
    if warm_up_events:
        run(warm_up_events, seed)
    print(json.dumps(run(events, seed)))
