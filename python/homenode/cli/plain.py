"""Words of the command line to plain values.

typer would build a model of each word with a library that takes as long to load as typer itself.
Texts, numbers, paths and choices need none; what is of another kind is left to typer.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
import typer.core

_MOST_DIGITS = 40
"""More than any number here has; Python refuses to read some thousands."""


class PlainOption(typer.core.TyperOption):
    """An option whose words are read here."""

    def process_value(self, ctx: typer.Context, value: Any) -> Any:  # type: ignore[override]
        """The value of a word, or of several."""
        return _value(self, ctx, value, super().process_value)


class PlainArgument(typer.core.TyperArgument):
    """An argument whose words are read here."""

    def process_value(self, ctx: typer.Context, value: Any) -> Any:  # type: ignore[override]
        """The value of a word, or of several."""
        return _value(self, ctx, value, super().process_value)


class PlainCommand(typer.core.TyperCommand):
    """A command whose words are read here."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments."""
        return plain(super().get_params(ctx))


def plain(parameters: Sequence[Any]) -> list[Any]:
    """The same options and arguments, whose words are read here."""
    for one in parameters:
        if type(one) is typer.core.TyperOption:
            one.__class__ = PlainOption
        elif type(one) is typer.core.TyperArgument:
            one.__class__ = PlainArgument
    return list(parameters)


Parameter = PlainOption | PlainArgument


def _value(of: Parameter, ctx: typer.Context, given: Any, otherwise: Callable[..., Any]) -> Any:
    """What a parameter is given; `otherwise` is typer's own way to it."""
    kind: Any = of.type_descriptor.annotation
    several = of.multiple or of.nargs == -1
    if several and get_origin(kind) is list:
        (kind,) = get_args(kind)
    read = _READERS.get(kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        read = _choice
    if given is None:
        found: Any = () if several else None
    elif read is None:
        return otherwise(ctx, given)
    elif several:
        found = [read(of, kind, one) for one in given]
    else:
        found = read(of, kind, given)
    if of.required and of.value_is_missing(found):
        # typer refuses it in its own words.
        return otherwise(ctx, None)
    return found if of.callback is None else of.callback(ctx, of, found)


def _text(_: Parameter, __: Any, word: Any) -> str:
    return str(word)


def _path(_: Parameter, __: Any, word: Any) -> Path:
    return Path(word)


def _flag(_: Parameter, __: Any, word: Any) -> bool:
    return bool(word)


def _whole(of: Parameter, _: Any, word: Any) -> int:
    if isinstance(word, int):
        return word
    digits = word.strip().removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise typer.BadParameter(f"{word} is not a whole number", param=of)
    return int(_within(of, int(word)))


def _number(of: Parameter, _: Any, word: Any) -> float:
    try:
        return _within(of, float(word))
    except ValueError:
        raise typer.BadParameter(f"{word} is not a number", param=of) from None


def _within(of: Parameter, number: float) -> float:
    """The number, if it is in the range that the parameter has."""
    low, high = of.min, of.max
    # What is no number at all is in no range.
    if (low is not None and not number >= low) or (high is not None and not number <= high):
        bounds = [f"at least {low}"] if low is not None else []
        bounds += [f"at most {high}"] if high is not None else []
        raise typer.BadParameter(f"{number} is out of range: {' and '.join(bounds)}", param=of)
    return number


def _choice(of: Parameter, kind: Any, word: Any) -> Any:
    for one in kind:
        if word in (one, one.value):
            return one
    names = ", ".join(repr(one.value) for one in kind)
    raise typer.BadParameter(f"{word!r} is not one of {names}", param=of)


_READERS: dict[Any, Callable[[Parameter, Any, Any], Any]] = {
    str: _text,
    bool: _flag,
    int: _whole,
    float: _number,
    Path: _path,
}
