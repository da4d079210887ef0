"""Work told by the cores it takes, as a scenario file says it: `workload = { kind = "cores" }`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import Share
from homenode.model.document import OrText, Table
from homenode.model.scenario.file.load import Load
from homenode.model.scenario.file.profile import Profile

MINUTES = 24 * 60
"""Of a day."""
_CLOCK = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")


class Use(Table):
    """How much is used: so many cores, or a share of all that the machine has."""

    cores: Annotated[float, Field(ge=0, le=4096)] | None = Field(
        None, description="processors kept busy: cores, on a host its hardware threads"
    )
    machine: Share | None = Field(None, description="share of all active processors of the machine")

    @model_validator(mode="after")
    def _says_one_amount(self) -> Use:
        """Cores or a share."""
        if (self.cores is None) == (self.machine is None):
            raise _fact("it needs one of cores and machine", 'write use = "8.5" or use = "30 %"')
        return self


def _spelled_out(said: object) -> object:
    """`8.5`, `"8.5"`, `"8.5 cores"`, `"30 %"`."""
    if not isinstance(said, str):
        return {"cores": said}
    text = said.strip()
    if text.endswith("%"):
        return {"machine": text}
    number = text.removesuffix("cores").removesuffix("core").strip()
    try:
        return {"cores": float(number)}
    except ValueError:
        problem = f'"{said}" is no amount of cores'
        step = 'write use = "8.5", or a share of the machine such as use = "30 %"'
        raise PydanticCustomError("fact", "use", {"there": problem, "next_step": step}) from None


def _time(said: str) -> str:
    """A time of day that can be read."""
    if clock_of(said) is None:
        step = 'write a time such as "09:00", from "00:00" to "24:00"'
        there = "it is no time of day"
        raise PydanticCustomError("fact", "time", {"there": there, "next_step": step})
    return said


def _beginning(said: str) -> str:
    """A time of day at which something can begin."""
    if clock_of(_time(said)) == MINUTES:
        there = "a day ends then"
        facts = {"there": there, "next_step": 'write "00:00", with which the next one begins'}
        raise PydanticCustomError("fact", "time", facts)
    return said


def clock_of(said: str) -> int | None:
    """Minutes since midnight of a time of day such as `9:00`; None if it is none."""
    found = _CLOCK.fullmatch(said.strip())
    if found is None:
        return None
    minutes = 60 * int(found[1]) + int(found[2])
    return minutes if minutes <= MINUTES else None


def _one_file(said: object) -> object:
    """`"day.csv"`."""
    return [{"file": said}]


def minutes_of(said: str) -> int:
    """Minutes since midnight of a time of day that was checked."""
    return clock_of(said) or 0


UseOrText = Annotated[
    Use,
    OrText(
        _spelled_out,
        {"type": ["string", "number"], "examples": ["8.5", "30 %"]},
    ),
]
TimeOfDay = Annotated[str, AfterValidator(_time)]
Beginning = Annotated[str, AfterValidator(_beginning)]


class Hours(Table):
    """Part of a day, or what comes now and then."""

    since: Beginning | None = Field(
        None, alias="from", description='when it begins, such as "09:00"'
    )
    to: TimeOfDay | None = Field(
        None, description="when it ends; when the next one begins if not given"
    )
    every: Annotated[str, Field(min_length=1, max_length=32)] | None = Field(
        None, description='in place of from: what comes now and then, such as "month end"'
    )
    file: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description=(
            "in place of from: a whole day, a CSV file with a column cores, its rows equal parts"
            ' of a day or with a column from, such as "day.csv"'
        ),
    )
    use: UseOrText | None = Field(None, description='cores that it takes, such as "8.5"')
    busy: Share | None = Field(
        None, description="in place of use: how busy its virtual processors are"
    )

    @model_validator(mode="after")
    def _says_when_and_how_much(self) -> Hours:
        """One of `from`, `every` and `file`, and one of `use` and `busy`."""
        when = [one for one in (self.since, self.every, self.file) if one is not None]
        if len(when) != 1:
            step = 'write from = "09:00", or every = "month end"'
            raise _fact("it needs one of from, every and file", step)
        if self.since is None and self.to is not None:
            raise _fact("only what begins at a time of day has an end", "leave to out")
        said = [one for one in (self.use, self.busy) if one is not None]
        if self.file is not None and said:
            raise _fact("the file says how many cores", "leave use and busy out")
        if self.file is None and len(said) != 1:
            raise _fact("it needs one of use and busy", 'write use = "8.5" or busy = "60 %"')
        return self


Schedule = Annotated[
    list[Hours],
    Field(min_length=1, max_length=1500),
    OrText(_one_file, {"type": "string", "examples": ["day.csv"]}),
]


class CoresTaken(Load):
    """Work told by the cores it takes on the layout as stated, or on another one. What it comes to
    in instructions is found by playing it, once; on another layout the same work costs what it
    costs there.
    """

    kind: Literal["cores"] = Field(description="which kind of work it is")
    use: UseOrText | None = Field(
        None,
        description=(
            'cores that it takes, such as "8.5", or a share of the machine such as "30 %"'
        ),
    )
    busy: Share | None = Field(
        None, description='in place of use: how busy its virtual processors are, such as "60 %"'
    )
    schedule: Schedule | None = Field(None, description="in place of use: a day, part by part")
    reference: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description=(
            "where it takes so much: another scenario's file, or a machine; the layout as stated"
            " if not given"
        ),
    )
    work_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="file in which its work was kept, so that it is not looked for again"
    )
    profile: Profile

    @model_validator(mode="after")
    def _says_how_much(self) -> CoresTaken:
        """Exactly one of the ways to say it."""
        check_said(self.use, self.busy, self.schedule)
        return self


def check_said(use: Use | None, busy: float | None, schedule: list[Hours] | None) -> None:
    """How much is taken is said in exactly one way."""
    ways = {"use": use, "busy": busy, "schedule": schedule}
    said = [name for name, value in ways.items() if value is not None]
    if len(said) != 1:
        there = f"it has {' and '.join(said)}" if said else "it does not say how many"
        raise _fact(there, 'write one of use = "8.5", busy = "60 %" or schedule')


def _fact(there: str, next_step: str) -> PydanticCustomError:
    return PydanticCustomError("fact", "cores", {"there": there, "next_step": next_step})
