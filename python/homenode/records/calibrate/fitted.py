"""A profile with fitted numbers: how far the data determine each, in words, and the file of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homenode.errors import HomenodeError
from homenode.model.catalog import ProfileDescription
from homenode.model.document import to_toml
from homenode.model.units import SHARE, SIZE
from homenode.records.calibrate.model import Recording
from homenode.records.calibrate.placement import Placed
from homenode.staging import write_whole

_SIZES = ("miss_c0", "footprint")
_BYTES = ("stream",)
_SHARES = (
    "system_share",
    "issue_share",
    "sharing",
    "footprint_common",
    "overlap",
    "lock_share",
    "private_data",
    "io_data",
    "store_share",
)


@dataclass(frozen=True)
class Parameter:
    """A free parameter after the fit."""

    name: str
    """As in a profile file."""
    words: str
    value: float
    low: float
    high: float
    """95 % interval; of one that is held, its plausible range."""
    determined: bool
    base: float
    """What it is in the profile that the fit began with."""
    effect: float
    """Standard errors by which the recorded figures move when it alone moves by half its range."""
    said: str
    """Whether the data determine it, and if not, why."""


@dataclass(frozen=True)
class Deviation:
    """A recorded figure beside what the fitted profile shows."""

    condition: str
    metric: str
    recorded: float
    shown: float
    errors: float
    """Their difference in standard errors."""


@dataclass(frozen=True)
class Fitted:
    """The outcome of a fit."""

    name: str
    recording: Recording
    base: ProfileDescription
    parameters: tuple[Parameter, ...]
    deviations: tuple[Deviation, ...]
    quality: float
    """Mean square deviation a degree of freedom; far beyond 1 the profile does not describe it."""
    singular: tuple[float, ...]
    """Singular values of the sensitivities, in standard errors over the parameters' ranges."""
    stall_share: float | None
    """Share of the cycles that wait for lines, at the fit, in the first condition."""
    notes: tuple[str, ...] = ()
    placed: tuple[Placed, ...] = ()
    """Where threads were dispatched and where they are played, in conditions that tell it."""

    @property
    def values(self) -> dict[str, float]:
        """All free parameters by name."""
        return {one.name: one.value for one in self.parameters}

    def as_json(self) -> dict[str, object]:
        """The same as plain data."""
        return {
            "profile": self.name,
            "base": self.base.name,
            "recording": self.recording.title,
            "parameters": [vars(one) for one in self.parameters],
            "deviations": [vars(one) for one in self.deviations],
            "quality": self.quality,
            "singular_values": list(self.singular),
            "stall_share": self.stall_share,
            "notes": list(self.notes),
            "placed": [one.as_json() for one in self.placed],
        }

    def to_toml(self) -> str:
        """A profile file: fitted numbers say on what, the others where the base has them from."""
        data: dict[str, object] = {
            "name": self.name,
            "title": f"{self.base.title}, calibrated on {self.recording.title}"[:200],
        }
        fitted = {one.name: one for one in self.parameters}
        for name, figure in self.base.figures():
            own = fitted.get(name)
            if own is not None and own.determined:
                ends = [spell(name, end) for end in (own.low, own.high)]
                told = f"calibrated on {self.recording.title}; 95 % interval {' to '.join(ends)}"
                data[name] = {"value": _plain(name, own.value), "calibrated": told}
                continue
            entry: dict[str, object] = {
                "value": _plain(name, figure.value),
                figure.provenance: figure.reason,
            }
            if own is not None:
                entry = {
                    **entry,
                    figure.provenance: f"{figure.reason} (not calibrated: {own.said})",
                }
            if figure.range is not None:
                entry["range"] = [_plain(name, end) for end in figure.range]
            data[name] = entry
        return f"# Made by homenode calibrate of {self.recording.title}.\n{to_toml(data)}"

    def write(self, path: str | Path) -> Path:
        """Keep the file; what was there is replaced at once or not at all."""
        path = Path(path)
        try:
            write_whole(path, self.to_toml().encode())
        except OSError as error:
            step = "write it elsewhere with -o"
            text = f"{path} cannot be written: {error.strerror}"
            raise HomenodeError(text, next_step=step) from error
        return path


def _plain(name: str, value: float | str) -> float | str:
    """A number as a profile file has it; a kind is a word."""
    if isinstance(value, str):
        return value
    if name in _SIZES:
        return SIZE.format(round(value))
    if name in _BYTES:
        return f"{float(value):.6g} B"
    if name in _SHARES:
        return SHARE.format(round(float(value), 6))
    return value if isinstance(value, int) else float(f"{float(value):.6g}")


def spell(name: str, value: float) -> str:
    """A number for people."""
    if name in _SIZES:
        kib = value / 1024
        return f"{kib:.3g} KiB" if kib < 1000 else f"{kib / 1024:.3g} MiB"
    if name in _BYTES:
        return f"{value:.3g} B"
    return f"{100 * value:.3g} %" if name in _SHARES else f"{value:.4g}"
