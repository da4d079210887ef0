"""What a core of a recorded server is worth in cores of the target: by the cost model, or by
ratings that someone says (rPerf, MIPS, SAPS).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import InputError, NotFoundError, listed, nearest
from homenode.model.catalog import machine, machines
from homenode.model.catalog.names import is_path
from homenode.model.units import FREQUENCY
from homenode.planner.consolidation.core_rates import core_rate
from homenode.planner.consolidation.demand import Demand, closest
from homenode.records.importing.assemble.hardware import exact_machine, same_generation
from homenode.records.importing.opening.sources import Notice

_RATING = re.compile(r"(?P<value>[0-9][0-9.,_]*)\s*(?P<unit>[A-Za-z]\w*)?\s*(/\s*(?P<cores>\d+))?")
_SAME_CLOCK = 0.01
"""Share by which clocks differ that are the same."""


@dataclass(frozen=True)
class Speed:
    """What one recorded core is in cores of the target, and why."""

    factor: float
    source: str
    """Machine or rating that stands for the recorded one."""
    rated: bool = False


def ratings_of(texts: Sequence[str]) -> dict[str, float]:
    """Ratings of a core by pattern: `NAME=V`, or `NAME=V/N` of a machine of N cores. All are of one
    unit; one that is written behind them (`61.2 rPerf/8`) is compared.
    """
    found: dict[str, float] = {}
    units: dict[str, str] = {}
    for text in texts:
        name, _, told = text.rpartition("=")
        match = _RATING.fullmatch(told.strip())
        if not name or match is None:
            step = "write NAME=RATING of a core, or NAME=RATING/CORES of a machine"
            raise InputError(f"--rating {text} is no rating", next_step=step)
        value = _number(match["value"]) / int(match["cores"] or 1) if match["cores"] != "0" else 0.0
        if not value > 0:
            raise InputError(f"--rating {text}: a rating is above 0")
        found[name.strip()] = value
        units[name.strip()] = (match["unit"] or "").lower()
    if len(set(units.values())) > 1:
        told = listed(f"{name} in {unit or 'no unit'}" for name, unit in units.items())
        raise InputError(f"--rating: ratings of several units cannot be compared: {told}")
    return found


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return 0.0


def speeds(
    found: Sequence[Demand],
    target: str,
    ratings: Mapping[str, float],
    named: Mapping[str, str],
    profile: str,
    notices: list[Notice],
) -> list[Speed]:
    """The speed of each demand's cores; `named` are machines by pattern, as someone says.

    Raises `InputError` that names every server of whose speed nothing is known.
    """
    names = _names_of(target)
    _refuse_strangers("--rating", ratings, found, names)
    _refuse_strangers("--from", named, found, ())
    own = rating_of(target, ratings) if ratings else None
    told: list[Speed | None] = []
    for one in found:
        rating = _rated(ratings, (*one.called, *one.files))
        if rating is not None and own is not None:
            told.append(Speed(rating / own, f"rating {rating:g} of {own:g}", rated=True))
            continue
        source = _source(one, named, notices)
        told.append(None if source is None else _by_cost(one, source, target, profile))
        if source is not None:
            _note_other_instructions(source, target, notices)
    known = [speed for speed in told if speed is not None]
    if len(known) < len(found):
        unknown = [one for one, speed in zip(found, told, strict=True) if speed is None]
        raise _unknown(unknown)
    return known


def _names_of(target: str) -> tuple[str, ...]:
    described = machine(target)
    return (target, described.name, described.model, described.title)


def rating_of(target: str, ratings: Mapping[str, float]) -> float:
    """The rating of a core of a target. Raises `InputError` where there is none: what is said of
    all cores is said of those that were recorded, or old and new ones would be alike unasked.
    """
    own = _rated({name: one for name, one in ratings.items() if name.strip("*")}, _names_of(target))
    if own is None:
        step = f"say it with --rating {target}=..., in the same unit"
        raise InputError(f"the target {target} has no rating", next_step=step)
    return own


def _refuse_strangers(
    option: str, wanted: Mapping[str, object], found: Sequence[Demand], more: Sequence[str]
) -> None:
    for pattern in wanted:
        if any(fnmatch.fnmatch(name, pattern) for name in more):
            continue
        if not any(one.is_meant_by(pattern) for one in found):
            names = [*more[:1], *(one.name for one in found)]
            problem = f"{option}: nothing that was recorded is called {pattern}"
            raise NotFoundError(problem + nearest(pattern, names))


def _rated(ratings: Mapping[str, float], names: Sequence[str]) -> float | None:
    """The rating whose pattern is one of the names."""
    return closest(ratings, lambda pattern: any(fnmatch.fnmatch(name, pattern) for name in names))


def _source(one: Demand, named: Mapping[str, str], notices: list[Notice]) -> str | None:
    """The machine on which a demand was recorded, as someone says, or as the recording tells."""
    said = closest(named, one.is_meant_by)
    if said is not None:
        return machine(said).name if not is_path(said) else said
    if one.system is None:
        return None
    exact = exact_machine(one.system)
    if exact is not None:
        return exact.name
    near = same_generation(one.system)
    if near is not None:
        told = one.system.model or one.system.processor
        what = one.system.key if told is None else told.value
        text = f"{what} has no description: a core of it counts as one of {near.title}"
        notice = Notice(f"{text} ({near.generation}); --from or --rating says otherwise")
        if notice not in notices:
            notices.append(notice)
    return None if near is None else near.name


def _unknown(unknown: Sequence[Demand]) -> InputError:
    """Every server of whose speed nothing is known, and how to say it."""
    servers: dict[str, list[str]] = {}
    for one in unknown:
        key = "" if one.system is None else one.system.key
        told = None if one.system is None else one.system.model or one.system.processor
        what = " ".join([key, *([f"({told.value})"] if told else [])]).strip()
        servers.setdefault(what, []).append(one.name)
    text = "; ".join(
        listed(names, 4) + (f" of {what}" if what else "") for what, names in servers.items()
    )
    return InputError(
        f"nothing tells how fast the machine is on which these were recorded: {text}",
        there=f"machines are {listed(machines(), 30)}",
        next_step="say which machine with --from NAME=MACHINE, or rate a core of it and of the"
        " target with --rating NAME=NUMBER",
    )


def _by_cost(one: Demand, source: str, target: str, profile: str) -> Speed:
    """By instructions that a busy core of each does."""
    clock = _clock(one, source)
    if source == target and clock is None:
        return Speed(1.0, source)
    return Speed(core_rate(source, profile, clock) / core_rate(target, profile), source)


def _note_other_instructions(source: str, target: str, notices: list[Notice]) -> None:
    """The cost model counts instructions, and knows no machine that needs more of them."""
    sets = [machine(one).instruction_set for one in (source, target)]
    if None in sets or sets[0] == sets[1]:
        return
    text = f"instructions of {sets[0]} and of {sets[1]} count as the same work, which they are not"
    notice = Notice(f"{text}; rate a core of {source} and of {target} with --rating")
    if notice not in notices:
        notices.append(notice)


def _clock(one: Demand, source: str) -> str | None:
    """The recorded clock, where it is another than that of the machine which stands for it."""
    told = None if one.system is None else one.system.clock_hz
    if told is None or abs(told.value / machine(source).clock.value - 1) < _SAME_CLOCK:
        return None
    return FREQUENCY.format(round(told.value))
