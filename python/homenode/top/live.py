"""Frames of a simulation that is under way, as the engine hands out their rows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError
from homenode.simulate.runner.running import InterruptedRun, run_scenario
from homenode.simulate.scenario import Scenario
from homenode.top.coming import Coming
from homenode.top.counted import frame_at
from homenode.top.frames import Frame
from homenode.top.kept import KeptSource

if TYPE_CHECKING:
    from homenode.simulate.run import Run

REMEMBERED = 600
"""Frames that are held while it runs; once it is kept, all can be seen."""


class LiveSource:
    """A scenario that is simulated in a thread of its own while it is looked at.

    The first replication is shown. `run` is what was kept in the end, `error` why nothing was.
    """

    def __init__(
        self, scenario: Scenario, out: str | Path = "runs", *, remembered: int = REMEMBERED
    ) -> None:
        self._scenario, self._out = scenario, out
        self._coming = Coming(remembered)
        self._kept: KeptSource | None = None
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
        return self._coming.there if self._kept is None else self._kept.there

    def frame(self, number: int) -> Frame:
        """An interval that is held; where it has been dropped since, the oldest one. Once the run
        is kept, as it was kept.
        """
        if self._kept is not None:
            return self._kept.frame(number)
        return frame_at(*self._coming.interval(number))

    def _simulate(self) -> None:
        try:
            self.run = run_scenario(
                self._scenario,
                out=self._out,
                progress=self._progress,
                stop=self._stop,
                look=self._coming.look,
            )
            self._kept = KeptSource(self.run)
        except InterruptedRun as stopped:
            self.run = stopped.run
        except BaseException as error:  # noqa: BLE001 - raised by who looks on
            self.error = error

    def _progress(self, share: float, seconds_left: float | None) -> None:
        self._share, self._left = share, seconds_left


def one_point(scenario: Scenario) -> Scenario:
    """The scenario, if it is no sweep: several layouts are not one frame."""
    points = list(scenario.expand())
    if len(points) > 1:
        raise HomenodeError(
            f"{scenario.name} is a sweep of {len(points)} points, and top shows one layout",
            next_step="run it with `homenode run`, then name one of its runs",
        )
    return points[0]
