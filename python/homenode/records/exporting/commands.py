"""Commands that would bring a layout about: text to read, to complete and then to run by hand.
homenode never runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Kind

if TYPE_CHECKING:
    from homenode.simulate.run import Run


@dataclass(frozen=True)
class Commands:
    """A form of one text, printed if no file is named."""

    name: str
    title: str
    make: Callable[[Run, ExportOptions], Iterable[str]]
    """The lines; may raise `ExportError`."""
    kind: Kind = "text"
    suffix: str = ".txt"
    takes: Collection[str] = ("partition",)

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """Write the text."""
        lines = "".join(f"{line}\n" for line in self.make(run, options))
        target.write_text(lines, encoding="utf-8")
        return [target]
