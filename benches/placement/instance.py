"""Instances of machine reassignment, in the format of the ROADEF/EURO challenge of 2012."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from homenode.errors import HomenodeError, Where

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Instance:
    """A model with the assignment at the start; rows are machines, services, processes."""

    name: str
    transient: Numbers
    load_weight: Numbers
    neighbourhood: Numbers
    location: Numbers
    capacity: Numbers
    safety: Numbers
    way: Numbers
    """From machine to machine."""
    spread: Numbers
    needs: list[tuple[int, int]]
    """A service, and one that it depends on."""
    service: Numbers
    requirement: Numbers
    move_cost: Numbers
    balances: Numbers
    """Rows of two resources, target, weight."""
    weights: Numbers
    """Of process moves, service moves, machine moves."""
    start: Numbers

    def columns(self) -> dict[str, object]:
        """As the engine takes them."""
        names = (name for name in self.__dataclass_fields__ if name not in ("name", "needs"))
        flat = {name: np.ascontiguousarray(getattr(self, name)).ravel() for name in names}
        return {**flat, "needs": [number for pair in self.needs for number in pair]}


class Reader:
    """Integers of a file, one after the other; each is asked for by what it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="ascii")
            self.numbers = np.array(self.text.split(), dtype=np.int64)
        except OSError as fault:
            raise HomenodeError(f"{path}: {fault.strerror}") from fault
        except (ValueError, OverflowError) as fault:
            raise self.unread(fault) from fault
        self.at = 0

    def unread(self, fault: Exception) -> HomenodeError:
        """The first word that is no integer."""
        if isinstance(fault, UnicodeDecodeError):
            return HomenodeError(f"{self.path}: is no text of integers")
        for number, line in enumerate(self.text.splitlines(), start=1):
            for word in line.split():
                if not re.fullmatch(r"-?\d{1,18}", word):
                    place = Where(str(self.path), number)
                    return HomenodeError(f"{word[:20]!r} is no integer of 64 bits", where=place)
        return HomenodeError(f"{self.path}: {fault}")

    def line(self, at: int) -> int:
        """The line of a number, found when it is asked for: files may be large."""
        words = re.finditer(r"\S+", self.text)
        for count, word in enumerate(words):
            if count == at:
                return self.text.count("\n", 0, word.start()) + 1
        return self.text.count("\n") + 1

    def fault(self, problem: str, at: int) -> HomenodeError:
        """What is wrong with the number at a place."""
        return HomenodeError(problem, where=Where(str(self.path), self.line(at)))

    def row(self, what: str, count: int) -> Numbers:
        """The next numbers."""
        left = len(self.numbers) - self.at
        if count > left:
            problem = f"the file ends before {what}: {count} numbers asked, {left} there"
            raise self.fault(problem, len(self.numbers))
        self.at += count
        found: Numbers = self.numbers[self.at - count : self.at]
        if found.size and found.min() < 0:
            wrong = int(np.argmax(found < 0))
            problem = f"{what} is {found[wrong]}; it must be 0 or more"
            raise self.fault(problem, self.at - count + wrong)
        return found

    def count(self, what: str) -> int:
        """The next number, which says how many there are."""
        return int(self.row(what, 1)[0])

    def known(self, what: str, rows: Numbers, count: int) -> Numbers:
        """These numbers just read, which name one of so many."""
        for back, number in enumerate(reversed(rows.tolist()), start=1):
            if number >= count:
                problem = f"{what} is {number}; there are {count}, counted from 0"
                raise self.fault(problem, self.at - back)
        return rows

    def end(self) -> None:
        """Nothing is left."""
        if self.at < len(self.numbers):
            raise self.fault(f"{len(self.numbers) - self.at} numbers too many", self.at)


def read(model: Path, assignment: Path) -> Instance:
    """An instance of its two files.

    Raises:
        HomenodeError: Says which line of which file is none.

    """
    reader = Reader(model)
    resources = _table(reader, "resources", 2)
    kinds = len(resources)
    machines = _table(reader, "machines", lambda count: 2 + 2 * kinds + count)
    spread, needs = _services(reader)
    processes = _table(reader, "processes", 2 + kinds)
    balances = _table(reader, "balance costs", 4)
    weights = reader.row("weights", 3)
    reader.end()
    start = Reader(assignment)
    at = start.known("machine", start.row("assignment", len(processes)), len(machines))
    start.end()
    return Instance(
        name=model.stem.removeprefix("model_"),
        transient=resources[:, 0],
        load_weight=resources[:, 1],
        neighbourhood=machines[:, 0],
        location=machines[:, 1],
        capacity=machines[:, 2 : 2 + kinds],
        safety=machines[:, 2 + kinds : 2 + 2 * kinds],
        way=machines[:, 2 + 2 * kinds :],
        spread=spread,
        needs=needs,
        service=processes[:, 0],
        requirement=processes[:, 1:-1],
        move_cost=processes[:, -1],
        balances=balances,
        weights=weights,
        start=at,
    )


def _table(reader: Reader, what: str, width: object) -> Numbers:
    """How many rows there are, and these; the width may depend on how many."""
    count = reader.count(f"number of {what}")
    columns = width(count) if callable(width) else width
    return reader.row(what, count * columns).reshape(count, columns)


def _services(reader: Reader) -> tuple[Numbers, list[tuple[int, int]]]:
    count = reader.count("number of services")
    spread, needs = [], []
    for service in range(count):
        least, others = reader.row("service", 2).tolist()
        spread.append(least)
        row = reader.known("service needed", reader.row("service needed", others), count)
        needs += [(service, other) for other in row.tolist()]
    return np.array(spread, dtype=np.int64), needs


def places(folder: Path) -> Iterable[tuple[str, Path, Path]]:
    """Name, model and assignment of each instance of a folder and those in it."""
    for model in sorted(folder.rglob("model_*.txt")):
        name = model.stem.removeprefix("model_")
        yield name, model, model.with_name(f"assignment_{name}.txt")
