"""A kept run in the formats that other programs read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Live, check_options, exporter, names
from homenode.records.exporting.staging import put

if TYPE_CHECKING:
    from homenode.simulate.run import Run

__all__ = [
    "ExportError",
    "ExportOptions",
    "Exporter",
    "Live",
    "export",
    "exporter",
    "names",
    "place_of",
    "text",
]


def export(
    run: Run,
    form: str,
    target: str | Path | None = None,
    options: ExportOptions | None = None,
    *,
    force: bool = False,
    written: Callable[[list[Path]], None] | None = None,
) -> list[Path]:
    """Write a run in a form; the files written.

    `target` is a file or a folder, as the form has it; without one its name is made of those of the
    run and the form, in the current folder. `written` is called with the files when they are in
    their place, before a form that is asked to goes on changing. `NotFoundError` for a form,
    partition or replication that is not there, `ExportError` for what cannot be written or lies in
    the way.
    """
    options = options or ExportOptions()
    chosen = _checked(run, form, options)
    place = Path(target) if target is not None else place_of(run, chosen, options)
    files = put(place, lambda aside: chosen.write(run, aside, options), force=force)
    if written is not None:
        written(files)
    if options.live_ns is not None and isinstance(chosen, Live):
        chosen.advance(run, place, options)
    return files


def text(run: Run, form: str, options: ExportOptions | None = None) -> str:
    """What a form of one file would hold, as text. Raises as `export` does."""
    import tempfile

    options = options or ExportOptions()
    chosen = _checked(run, form, options)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"export{chosen.suffix}"
            chosen.write(run, file, options)
            return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ExportError(
            f"no temporary file can be written: {error.strerror or error}",
            next_step="free some space, set TMPDIR to a folder that has some, or name a file",
        ) from error


def place_of(run: Run, form: Exporter, options: ExportOptions) -> Path:
    """Where an export goes if nothing is said."""
    one = options.partition is not None
    stem = f"{run.id}-{options.partition}" if one and "partition" in form.takes else run.id
    is_file = form.kind in ("file", "text") or (form.kind == "each" and one)
    return Path(f"{stem}{form.suffix}" if is_file else f"{stem}-{form.name}")


def _checked(run: Run, form: str, options: ExportOptions) -> Exporter:
    """The form, once it is sure that run and options are there."""
    chosen = exporter(form)
    check_options(chosen, options)
    options.partitions(run)
    options.view(run)
    return chosen
