"""Collecting what is wrong with a document, and raising it in the order of the file."""

from __future__ import annotations

from homenode.errors import HomenodeError, InputError, Where
from homenode.model.document.positions import Path
from homenode.model.document.read import Document

_MOST = 10


class Problems:
    """What was found in one document so far."""

    def __init__(self, document: Document, error: type[InputError]) -> None:
        self.document = document
        self.error = error
        self._found: list[InputError] = []

    def __len__(self) -> int:
        """How many were found."""
        return len(self._found)

    def add(
        self,
        path: Path,
        problem: str | None = None,
        *,
        there: str | None = None,
        next_step: str | None = None,
        at_key: bool = False,
    ) -> None:
        """Note a problem at a path; without a sentence, the value as written is the problem.

        With `at_key` the table at the path lacks something; its own text would not help.
        """
        written = "" if at_key else self.document.written(path)
        label = self.label(path)
        if problem is None and not label and there:
            problem, there = there, None  # of the whole document
        elif problem is None:
            problem = f"{label} = {written}" if written else label
        elif label:
            problem = f"{label}: {problem}"
        where = self.document.where(path, key=at_key)
        asked = written or None
        self._found.append(
            self.error(problem, asked=asked, there=there, where=where, next_step=next_step)
        )

    def add_key(self, path: Path, problem: str, next_step: str) -> None:
        """Note that a key does not belong where it stands."""
        label = self.label(path[:-1])
        sentence = f"{label}: {problem}" if label else problem
        where = self.document.where(path, key=True)
        self._found.append(
            self.error(sentence, asked=str(path[-1]), where=where, next_step=next_step)
        )

    def label(self, path: Path) -> str:
        """What a path is called in a message: `partition lpar1: processors.virtual`."""
        if len(path) < 2 or not isinstance(path[1], int):
            steps = (self._step(path[:depth], part) for depth, part in enumerate(path))
            return "".join(steps).removeprefix(".")
        table, index, *rest = path
        name = self.document.value((table, index, "name"))
        title = (
            f"{table} {name}"
            if isinstance(name, str) and name
            else f"{table} number {int(index) + 1}"
        )
        steps = (self._step(path[: depth + 2], part) for depth, part in enumerate(rest))
        inner = "".join(steps).removeprefix(".")
        return f"{title}: {inner}" if inner else title

    def _step(self, above: Path, part: str | int) -> str:
        """A step of a label: `.smt`, `[0]`, or the name of a table of a list."""
        if not isinstance(part, int):
            return f".{part}"
        name = self.document.value((*above, part, "name"))
        return f" {name}" if isinstance(name, str) and name else f"[{part}]"

    def raise_any(self) -> None:
        """Raise the first problem of the file, which carries the others."""
        if not self._found:
            return
        ordered = sorted(self._found, key=_order)
        first, others = ordered[0], ordered[1:_MOST]
        rest: list[HomenodeError] = list(others)
        if len(ordered) > _MOST:
            rest.append(
                self.error(
                    f"{self.document.file}: {len(ordered) - _MOST} more problems are not shown"
                )
            )
        raise self.error(
            first.problem,
            asked=first.asked,
            there=first.there,
            where=first.where,
            next_step=first.next_step,
            others=rest,
        )


def _order(problem: InputError) -> tuple[int, int]:
    where = problem.where or Where("")
    return (where.line or 0, where.column or 0)
