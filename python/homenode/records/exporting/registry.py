"""The forms in which a run can be written, by name. A form lives in a module of its own, which is
loaded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast, runtime_checkable

from homenode.errors import NotFoundError, nearest
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions

if TYPE_CHECKING:
    from homenode.simulate.run import Run

Kind = Literal["file", "folder", "text", "each"]
"""What is written. `file`: one file. `folder`: a folder. `text`: one file, printed if no path is
given. `each`: one file a partition, in a folder; the file itself if one partition is asked for.
"""


@runtime_checkable
class Exporter(Protocol):
    """A form in which a run can be exported, as other programs read it."""

    @property
    def name(self) -> str:
        """By what `--as` chooses it."""
        ...

    @property
    def title(self) -> str:
        """What it is, in one line, without a full stop."""
        ...

    @property
    def kind(self) -> Kind:
        """See `Kind`."""
        ...

    @property
    def suffix(self) -> str:
        """Ending of the file's name, with its dot; of a folder nothing."""
        ...

    @property
    def takes(self) -> Collection[str]:
        """Fields of `ExportOptions` that mean something to it."""
        ...

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """Write the run to `target`, which is not there yet; the files written, sorted.

        `target` is a temporary name, so it says nothing of the run. Of kind `each` it is a file if
        `options.partition` is given, else a folder, as for `folder`; the exporter makes it.
        """
        ...


@runtime_checkable
class Live(Protocol):
    """A form that can go on changing after it was written."""

    def advance(self, run: Run, target: Path, options: ExportOptions) -> None:
        """Change what lies at `target` at the speed of the clock on the wall for
        `options.live_ns`.
        """
        ...


_PLACES: dict[str, str] = {
    "nmon": "nmon:EXPORTER",
    "njmon": "njmon:EXPORTER",
    "parquet": "tables:PARQUET",
    "csv": "tables:CSV",
    "xlsx": "xlsx:EXPORTER",
    "openmetrics": "openmetrics:EXPORTER",
    "perfetto": "perfetto:EXPORTER",
    "hwloc": "hwloc:EXPORTER",
    "linux-power": "linux_power:EXPORTER",
    "s390x": "s390x:EXPORTER",
    "hmc": "hmc:EXPORTER",
    "vpars": "vpars:EXPORTER",
    "zvm": "zvm:EXPORTER",
    "libvirt": "libvirt:EXPORTER",
}
"""Module and attribute of each form, in the order in which they are listed."""


def names() -> list[str]:
    """Names of all forms, as `--as` takes them."""
    return list(_PLACES)


def exporter(name: str) -> Exporter:
    """The form of that name; `NotFoundError` names the nearest."""
    if name not in _PLACES:
        raise NotFoundError(f"there is no form {name}{nearest(name, _PLACES)}", asked=name)
    module, _, attribute = _PLACES[name].partition(":")
    return cast(
        "Exporter", getattr(import_module(f"homenode.records.exporting.{module}"), attribute)
    )


def check_options(form: Exporter, options: ExportOptions) -> None:
    """Refuse options that the form does not take."""
    for name in options.given():
        if name not in form.takes:
            word = name.removesuffix("_ns")
            others = [n for n in names() if name in exporter(n).takes]
            raise ExportError(
                f"--{word} means nothing to the form {form.name} ({form.title})",
                next_step=f"leave it out; it is for {', '.join(others)}" if others else None,
            )
