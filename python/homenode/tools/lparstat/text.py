"""Layout of lparstat's tables.

Headings, rulers and least widths are those of recorded output. The irregular ones (`app`, `%nsp`,
`%utcyc`) are irregular there. Where the columns of `-h` and `-d` stand is not on record for every
level; they close the row, before the speed columns for `-h`.
"""

from __future__ import annotations

from dataclasses import dataclass

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.lparstat.figures import Normalised
from homenode.tools.text_columns import Column, Value


@dataclass(frozen=True)
class Ruled(Column):
    """A column with a ruler under a heading; both are padded to the wider of heading and width."""

    head: str = ""
    dashes: str = ""

    def heading(self) -> str:
        """The heading, as recorded."""
        return self.head or super().heading()

    def ruler(self) -> str:
        """The ruler under the heading."""
        return self.dashes or "-" * self.width


_SHARES = (Ruled("%user", 5, 1), Ruled("%sys", 5, 1), Ruled("%wait", 6, 1), Ruled("%idle", 6, 1))
_PHYSC = Ruled("physc", 5, 2)
_ENTC = (Ruled("%entc", 5, 1), Ruled("lbusy", 6, 1))
_APP = Ruled("app", 5, 2, dashes="  ---")
_VCSW = Ruled("vcsw", 5)
_PHINT = Ruled("phint", 5)
_HYPERVISOR = (Ruled("%hypv", 5, 1), Ruled("hcalls", 6))
_UTCYC = Ruled("%utcyc", 6, 2, head=" %utcyc", dashes=" ------")
_SHARED_SPEED = (Ruled("%nsp", 5), _UTCYC)
_DONATING_SPEED = (
    Ruled("%nsp", 5, head="  %nsp"),
    Ruled("%utcyc", 6, 2, head=" %utcyc"),
)
_CAPPED_SPEED = (Ruled("%nsp", 5, head="  %nsp"),)
_DETAILS = (
    Ruled("%idon", 5, 1),
    Ruled("%bdon", 5, 1),
    Ruled("%istol", 6, 1),
    Ruled("%bstol", 6, 1),
)


def columns_of(configuration: SystemConfiguration, mode: str) -> list[Ruled]:
    """Columns of the table for `mode` (nothing, `d` or `h`)."""
    speed: tuple[Ruled, ...]
    shown = [*_SHARES]
    if configuration.is_shared:
        app = [_APP] if configuration.pool_authority else []
        shown += [_PHYSC, *_ENTC, *app, _VCSW, _PHINT]
        speed = _SHARED_SPEED
    elif configuration.is_donating:
        shown += [_PHYSC, _VCSW]
        speed = _DONATING_SPEED
    else:
        speed = _CAPPED_SPEED
    if mode == "h":
        shown += _HYPERVISOR
    if configuration.shows_speed:
        shown += speed
    if mode == "d":
        shown += _DETAILS
    return shown


def headings(shown: list[Ruled]) -> list[str]:
    """Headings and rulers."""
    return [
        " ".join(column.heading() for column in shown),
        " ".join(column.ruler() for column in shown),
    ]


def configuration_line(configuration: SystemConfiguration, mode: str = "") -> str:
    """The first line; `-E` shows the power saving mode in place of the pool."""
    c = configuration
    facts = [f"type={c.kind}", f"mode={c.mode}", f"smt={c.smt_text}", f"lcpu={c.lcpu}"]
    facts.append(f"mem={c.mem_mb}MB")
    if c.is_shared and mode != "E":
        facts.append(f"psize={c.psize}")
    if c.is_shared:
        facts.append(f"ent={c.ent:.2f}")
    if mode == "E":
        facts.append(f"Power={c.power}")
    return f"System configuration: {' '.join(facts)}{c.line_end}"


NORMALISED_HEADINGS = (
    "Physical Processor Utilisation:",
    "",
    " --------Actual--------              ------Normalised------",
    " user   sys  wait  idle      freq    user   sys  wait  idle",
    " ----  ----  ----  ----   ---------  ----  ----  ----  ----",
)


def normalised_line(figures: Normalised) -> str:
    """A row of `-E`: cores by state, clock, cores by state at the nominal clock."""
    actual = " ".join(f"{value:5.3f}" for value in figures[:4])
    scaled = " ".join(f"{value:5.3f}" for value in figures[6:])
    clock = f"{figures.frequency_ghz:.1f}GHz[{figures.frequency_pct:3.0f}%]"
    return f"{actual} {clock} {scaled}"


def shown_values(shown: list[Ruled], figures: dict[str, Value]) -> dict[str, Value]:
    """Values of the columns that are shown, under the tool's headings."""
    return {column.name: figures[column.name] for column in shown}
