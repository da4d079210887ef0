"""What someone may decide about a scenario that is made of recordings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AssembleOptions:
    """Choices; what is None follows from the recordings."""

    name: str | None = None
    """Name of the scenario."""
    machine: str | None = None
    """A shipped machine or a machine file; all partitions of all servers are put on it, as if they
    had been recorded there.
    """
    system: str | None = None
    """Key of the server, where recordings tell of several."""
    profile: str = "oltp"
    """Profile of the recorded work."""
    step_ns: int | None = None
    """Simulated time for which a recorded window is played."""
    window_ns: int | None = None
    """Recorded time of a window; that of the samples if there are not too many of them."""
    convert: bool = True
    """Whether recorded cores are converted to work by probing the scenario; else by one factor."""
