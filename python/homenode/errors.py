"""What can go wrong through no fault of the program: every class carries one message for the
person at the keyboard.

A message names what was asked, what there is and the next step, and where in the input it stands.
The facts stay readable as attributes (`asked`, `there`, `where`, `next_step`), so that a front can
show them in its own way. The command line prints the message and ends with exit code 2; from Python
the exception itself is met. Anything that is not one of these is an error of homenode's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Where:
    """A place in a text someone wrote; lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """`file:line:column`, as far as known."""
        parts = [self.file, self.line, self.column]
        return ":".join(str(part) for part in parts if part is not None)


class HomenodeError(Exception):
    """Wrong input or surroundings; `str()` is the whole message.

    `problem` is the sentence that says what is wrong. The rest are the facts: what was asked, what
    there is, where in the input, and what to do next; each that is given and not yet part of the
    sentence is added to the message.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        asked: str | None = None,
        there: str | None = None,
        where: Where | None = None,
        next_step: str | None = None,
    ) -> None:
        self.problem = problem
        self.asked = asked
        self.there = there
        self.where = where
        self.next_step = next_step
        super().__init__(self._message())

    def _message(self) -> str:
        """`where: problem: asked; there; next step`, leaving out what the problem already says."""
        text = self.problem if self.where is None else f"{self.where}: {self.problem}"
        facts = [
            fact
            for fact in (self.asked, self.there, self.next_step)
            if fact and fact not in self.problem
        ]
        if not facts:
            return text
        return f"{text}{' ' if text.endswith('?') else ': '}{'; '.join(facts)}"


class InputError(HomenodeError):
    """Something in a file people write; `problems` are all that were found, the first of them is
    this one.
    """

    def __init__(
        self,
        problem: str,
        *,
        asked: str | None = None,
        there: str | None = None,
        where: Where | None = None,
        next_step: str | None = None,
        others: Sequence[HomenodeError] = (),
    ) -> None:
        self.others = tuple(others)
        super().__init__(problem, asked=asked, there=there, where=where, next_step=next_step)

    @property
    def problems(self) -> tuple[HomenodeError, ...]:
        """The problem itself and all others of the same reading, in the order of the file."""
        return (self, *self.others)

    def _message(self) -> str:
        """One line a problem."""
        return "\n".join([super()._message(), *(str(other) for other in self.others)])


class ScenarioError(InputError):
    """A scenario file asks for something that cannot be."""


class MachineError(InputError):
    """A machine description is incomplete or contradicts itself."""


class ProfileError(InputError):
    """A workload profile is incomplete or contradicts itself."""


class NotFoundError(HomenodeError):
    """A file, machine, profile, run, partition, study or metric of that name is not there."""


class NoSuchNameError(NotFoundError, KeyError):
    """A name that a dictionary of results does not hold: a `KeyError` too, for those who ask so."""

    __str__ = Exception.__str__


class RunError(HomenodeError):
    """A run cannot be made, kept or read."""


class DamagedRunError(RunError):
    """A run folder does not hold what a run folder holds."""


class StoreError(RunError):
    """Results could not be written: the disk is full, the folder is not ours."""


class StudyError(InputError):
    """A study's own files contradict each other or cannot be read."""


class SuiteError(InputError):
    """A suite of workload classes is incomplete or contradicts itself."""


class CapabilityError(InputError):
    """A table of capability factors is incomplete or contradicts itself."""


class EngineError(HomenodeError):
    """The engine refused its input or failed."""


class EngineMissingError(EngineError):
    """The compiled engine is not installed."""


class Interrupted(HomenodeError):  # noqa: N818 - named like KeyboardInterrupt
    """Someone stopped the program; the message says what was kept."""

    exit_code = 130


def closest(asked: str, there: Iterable[str], alike: float = 0.55) -> str | None:
    """The name nearest to `asked`: one that begins with it, else one that is so much alike [0..1];
    if none is, capitals make no difference.
    """
    import difflib

    names = sorted(set(there))
    for word in (asked, asked.lower()):
        begun = [name for name in names if name.startswith(word)] if len(word) > 1 else []
        close = begun or difflib.get_close_matches(word, names, n=1, cutoff=alike)
        if close:
            return close[0]
    return None


def suggestion(asked: str, there: Iterable[str], otherwise: str) -> str:
    """`did you mean x?` if a name is near, else what to do otherwise."""
    near = closest(asked, there)
    return f"did you mean {near}?" if near else otherwise


def hint(asked: str, there: Iterable[str]) -> str:
    """Half a sentence, `; did you mean x?`, if a name is near; for a message that goes on to say
    what there is.
    """
    near = closest(asked, there)
    return f"; did you mean {near}?" if near else ""


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Names in one line, cut after `limit`."""
    every = list(names)
    return ", ".join(every[:limit]) + (f", ... ({len(every)} in all)" if len(every) > limit else "")


def nearest(asked: str, there: Iterable[str]) -> str:
    """Half a sentence naming the closest of what there is: `; did you mean x?`, or the list if it
    is short.
    """
    names = sorted(set(there))
    close = closest(asked, names)
    if close:
        return f"; did you mean {close}?"
    if not names:
        return "; there are none"
    shown = listed(names, 8)
    return f"; there is {shown}" if len(names) == 1 else f"; there are {shown}"
