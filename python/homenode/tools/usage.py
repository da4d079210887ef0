"""Reading a tool's arguments as the tool reads them: letters behind one dash, then an interval
and a count.

Beside the tool's own flags every tool here takes `-p NAME`, which names the partition; on a real
system that is the one the tool runs in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from homenode.tools.errors import UsageError

PARTITION_FLAG = "p"
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_COUNT = re.compile(r"[0-9]{1,9}")
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Grammar:
    """The arguments of one tool."""

    tool: str
    synopsis: str
    """What stands behind the name in the usage message."""
    flags: str
    """Letters that are shown here."""
    valued: str = ""
    """Letters among them that take a value."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Letters of the real tool that are not shown here, with the reason."""
    combine: bool = False
    """Whether several letters may be given at once."""
    takes_interval: bool = True

    def usage(self) -> str:
        """The usage message."""
        return f"Usage: {self.tool} [ -p partition ] {self.synopsis}"

    def refuse(self, problem: str) -> UsageError:
        """The tool's way of saying no: the problem, then the usage."""
        return UsageError(f"{self.tool}: {problem}\n{self.usage()}")


@dataclass(frozen=True)
class Request:
    """What was asked of a tool."""

    partition: str | None
    flags: Mapping[str, str]
    """Letters given, with their values."""
    interval_ns: int | None
    count: int | None

    @property
    def mode(self) -> str:
        """The only letter, or nothing."""
        return next(iter(self.flags), "")


def parse(grammar: Grammar, argv: Sequence[str]) -> Request:
    """Read the arguments."""
    flags: dict[str, str] = {}
    operands: list[str] = []
    for letter, value in _words(grammar, argv):
        if not letter:
            operands.append(value)
        elif letter in grammar.absent:
            raise UsageError(
                f"{grammar.tool}: -{letter} is not shown by homenode: {grammar.absent[letter]}"
            )
        elif letter in grammar.flags or letter == PARTITION_FLAG:
            flags[letter] = value
        else:
            raise grammar.refuse(f"illegal option -- {letter}")
    partition = flags.pop(PARTITION_FLAG, None)
    if len(flags) > 1 and not grammar.combine:
        given = " and ".join(f"-{letter}" for letter in flags)
        raise grammar.refuse(f"{given} exclude each other")
    interval_ns, count = _operands(grammar, operands)
    return Request(partition, flags, interval_ns, count)


def _words(grammar: Grammar, argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a letter and its value; operands have no letter."""
    waiting = iter(argv)
    for word in waiting:
        if not word.startswith("-") or word == "-":
            yield "", word
            continue
        letters = iter(word[1:])
        for letter in letters:
            if letter not in grammar.valued + PARTITION_FLAG:
                yield letter, ""
                continue
            value = "".join(letters) or next(waiting, None)
            if value is None:
                raise grammar.refuse(f"option requires an argument -- {letter}")
            yield letter, value


def _operands(grammar: Grammar, operands: Sequence[str]) -> tuple[int | None, int | None]:
    """Interval [ns] and count."""
    if len(operands) > (2 if grammar.takes_interval else 0):
        raise grammar.refuse(f"too many operands: {' '.join(operands)}")
    interval_ns = count = None
    if operands:
        seconds = Fraction(operands[0]) if _SECONDS.fullmatch(operands[0]) else Fraction(0)
        interval_ns = int(seconds * _NANOSECONDS)
        if interval_ns <= 0:
            raise grammar.refuse(f"not an interval in seconds: {operands[0]}")
    if len(operands) > 1:
        count = int(operands[1]) if _COUNT.fullmatch(operands[1]) else 0
        if count < 1:
            raise grammar.refuse(f"not a count of intervals: {operands[1]}")
    return interval_ns, count
