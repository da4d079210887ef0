"""Commands that are imported when they are called: `--help` lists them by their lines alone."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import typer
import typer.core

from homenode.cli.plain import PlainCommand, plain


@dataclass(frozen=True)
class Entry:
    """A command: its name, where its function (or group of commands) is, what it is for."""

    name: str
    place: str
    """`module:name` below `homenode.cli`."""
    line: str
    own_h: bool = False
    """Whether `-h` belongs to the tool that is shown, not to homenode."""
    passes_on: bool = False
    """Whether words that homenode does not know go to the tool that is shown."""


class Waiting(typer.core.TyperCommand):
    """A command of which only its name and line are known yet."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.line, rich_markup_mode=None)
        self.entry = entry

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - lines are short
        """Its line, which is never cut."""
        return self.entry.line

    @functools.cached_property
    def itself(self) -> Any:
        """The command, imported."""
        entry = self.entry
        module, _, name = entry.place.partition(":")
        found = getattr(importlib.import_module(f"homenode.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        settings: dict[str, Any] = {}
        if entry.own_h:
            settings["help_option_names"] = ["--help"]
        if entry.passes_on:
            settings |= {"ignore_unknown_options": True, "allow_extra_args": True}
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(entry.name, cls=PlainCommand, context_settings=settings)(found)
        return typer.main.get_command(app)


class Front(typer.core.TyperGroup):
    """A group of commands that wait."""

    entries: ClassVar[Sequence[Entry]] = ()

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands.update({entry.name: Waiting(entry) for entry in self.entries})

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options."""
        return plain(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the words ask for, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.itself if isinstance(command, Waiting) else command, rest
