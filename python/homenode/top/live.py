"""Frames of a simulation that is under way, as the engine hands out their rows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError
from homenode.model.spec import Spec
from homenode.simulate.runner.running import InterruptedRun, run_scenario
from homenode.simulate.scenario import Scenario
from homenode.top.counted import TABLES, Interval, frame_at
from homenode.top.frames import Frame
from homenode.top.kept import KeptSource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homenode.simulate.run import Run

    Integers = NDArray[np.int64]

REMEMBERED = 600
"""Frames that are held while it runs; once it is kept, all can be seen."""
Tables = Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True)
class _Came:
    """One interval as it came: its end and the columns of its rows."""

    begin_ns: int
    end_ns: int
    columns: Mapping[str, Mapping[str, Integers]]


class LiveSource:
    """A scenario that is simulated in a thread of its own while it is looked at.

    The first replication is shown. `run` is what was kept in the end, `error` why nothing was.
    """

    def __init__(
        self, scenario: Scenario, out: str | Path = "runs", *, remembered: int = REMEMBERED
    ) -> None:
        self._scenario, self._out = scenario, out
        self._spec: Spec | None = None
        self._came: deque[_Came] = deque(maxlen=remembered)
        self._count = 0
        self._kept: KeptSource | None = None
        self._lock = threading.Lock()
        self._share = 0.0
        self._left: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._simulate, name="simulation")
        self.run: Run | None = None
        self.error: BaseException | None = None

    def start(self) -> None:
        """Begin to simulate."""
        self._thread.start()

    def close(self) -> None:
        """Stop what is not finished, and wait until all is kept or gone."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def title(self) -> str:
        """The scenario's name."""
        return self._scenario.name

    @property
    def grows(self) -> bool:
        """Whether it is still simulated."""
        return self._thread.is_alive()

    @property
    def state(self) -> str:
        """How much is done."""
        if not self.grows:
            stopped = "stopped" if self.error is None else "stopped by an error, q tells it"
            return stopped if self.run is None else f"kept as {self.run.id}"
        left = "" if self._left is None else f", {self._left:.0f} s left"
        return f"simulating, {100 * self._share:.0f} %{left}"

    @property
    def there(self) -> range:
        """Numbers of the intervals that are held; of a kept run all."""
        if self._kept is not None:
            return self._kept.there
        with self._lock:
            return range(self._count - len(self._came), self._count)

    def frame(self, number: int) -> Frame:
        """An interval that is held; where it has been dropped since, the oldest one. Once the run
        is kept, as it was kept.
        """
        if self._kept is not None:
            return self._kept.frame(number)
        with self._lock:
            at = number - (self._count - len(self._came))
            came = self._came[max(0, at)]
            spec = self._spec
            if spec is None:
                raise LookupError("no frame has come yet")
        tables = {table: _rows(columns) for table, columns in came.columns.items()}
        return frame_at(spec, Interval(came.begin_ns, came.end_ns, tables))

    def _simulate(self) -> None:
        try:
            self.run = run_scenario(
                self._scenario,
                out=self._out,
                progress=self._progress,
                stop=self._stop,
                look=self._look,
            )
            self._kept = KeptSource(self.run)
        except InterruptedRun as stopped:
            self.run = stopped.run
        except BaseException as error:  # noqa: BLE001 - raised by who looks on
            self.error = error

    def _progress(self, share: float, seconds_left: float | None) -> None:
        self._share, self._left = share, seconds_left

    def _look(self, spec: Spec, replication: int, tables: Tables) -> None:
        """Take the rows of the first replication."""
        if replication != 0 or not tables:
            return
        found = {
            table: _columns(table, packed) for table, packed in tables.items() if table in TABLES
        }
        with self._lock:
            self._spec = spec
            self._take(found)

    def _take(self, found: Mapping[str, Mapping[str, Integers]]) -> None:
        import numpy as np

        if "partition" not in found:
            return
        for end in np.unique(found["partition"]["time_ns"]).tolist():
            columns = {}
            for table in TABLES:
                if table in found:
                    times = found[table]["time_ns"]
                    first, last = np.searchsorted(times, end), np.searchsorted(times, end, "right")
                    columns[table] = {
                        name: found[table][name][first:last] for name in TABLES[table]
                    }
            begin = self._came[-1].end_ns if self._came else 0
            self._came.append(_Came(begin, end, columns))
            self._count += 1


def _columns(table: str, packed: Mapping[str, bytes]) -> dict[str, Integers]:
    """The columns that are shown, as they are."""
    import numpy as np

    return {name: np.frombuffer(packed[name], np.int64) for name in ("time_ns", *TABLES[table])}


def _rows(columns: Mapping[str, Integers]) -> list[dict[str, int]]:
    values = [column.tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def one_point(scenario: Scenario) -> Scenario:
    """The scenario, if it is no sweep: several layouts are not one frame."""
    points = list(scenario.expand())
    if len(points) > 1:
        raise HomenodeError(
            f"{scenario.name} is a sweep of {len(points)} points, and top shows one layout",
            next_step="run it with `homenode run`, then name one of its runs",
        )
    return points[0]
