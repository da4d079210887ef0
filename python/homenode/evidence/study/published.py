"""`published.csv`: the figures a publication gives, as they were read, with how near a simulation
should come.

Columns: `case,metric,value,unit,role,by_construction,reading,tolerance,why`; `by_construction` may
be left out.

- `value` is a number (decimal point) or a range `17..18`; a range is compared by its middle and met
  anywhere inside.
- `role` is `calibration` (parameters may be fitted to it), `informed` (its result had been seen
  when a rule or an assumed number that acts on it was chosen) or `validation` (neither). It never
  changes back to `validation`.
- `by_construction` is `yes` for a row that comes out as it does whatever the mechanisms do: 1 by
  definition, a fitted figure again, or what was put in, multiplied. Such rows are no evidence.
- `tolerance` is `8%` of the published value, `1` in the row's own unit (percentage points where
  that is %), `x10`, a factor up or down for rows that are read to an order of magnitude, or a band
  `73..80` in which the simulated value must lie, as for a direction: `1.0001..10` is any rise.
- `reading` says how the value was read: `table 11`, `text`, `figure, read to 0.5`.
- `why` explains the tolerance, and a miss where one is known.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from homenode.errors import StudyError, Where, nearest

_MARK = "by_construction"
COLUMNS = ("case", "metric", "value", "unit", "role", _MARK, "reading", "tolerance", "why")
ROLES = ("calibration", "informed", "validation")
_TOLERANCE = re.compile(r"(?P<factor>x)?(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%)?")


class ToleranceKind(Enum):
    """What a tolerance counts in."""

    PERCENT = "percent"
    ABSOLUTE = "absolute"
    FACTOR = "factor"
    BAND = "band"


@dataclass(frozen=True)
class Tolerance:
    """How far a simulated value may lie from the published one."""

    kind: ToleranceKind
    amount: float
    """Of a band: its lower end."""
    upper: float = 0.0
    """Of a band: its upper end."""

    def bounds(self, low: float, high: float) -> tuple[float, float]:
        """The lowest and highest value that still agree with the published range."""
        if self.kind is ToleranceKind.BAND:
            return self.amount, self.upper
        if self.kind is ToleranceKind.ABSOLUTE:
            return low - self.amount, high + self.amount
        if self.kind is ToleranceKind.PERCENT:
            return low - abs(low) * self.amount / 100.0, high + abs(high) * self.amount / 100.0
        return low / self.amount, high * self.amount

    def __str__(self) -> str:
        shown = f"{self.amount:g}"
        return {
            "percent": f"±{shown} %",
            "absolute": f"±{shown}",
            "factor": f"x{shown}",
            "band": f"{shown}..{self.upper:g}",
        }[self.kind.value]


@dataclass(frozen=True)
class PublishedRow:
    """One published figure."""

    case: str
    metric: str
    low: float
    high: float
    unit: str
    role: str
    reading: str
    tolerance: Tolerance
    why: str
    by_construction: bool = False
    """Whether it comes out as it does whatever the mechanisms do."""
    where: Where | None = field(default=None, compare=False, repr=False)
    """Its place in the file."""

    @property
    def key(self) -> str:
        """`case:metric`, unique in a study."""
        return f"{self.case}:{self.metric}"

    @property
    def value(self) -> float:
        """The published value, or the middle of the published range."""
        return (self.low + self.high) / 2.0

    @property
    def shown(self) -> str:
        """As it was published."""
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g}..{self.high:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and highest value within the tolerance."""
        return self.tolerance.bounds(self.low, self.high)

    def agrees(self, simulated: float) -> bool:
        """Whether a simulated value lies within the tolerance."""
        low, high = self.bounds
        return low <= simulated <= high


def read_published(path: Path) -> list[PublishedRow]:
    """All rows; a wrong one is told with its line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}") from error
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        without = tuple(name for name in COLUMNS if name != _MARK)
        if tuple(reader.fieldnames or ()) not in (COLUMNS, without):
            raise StudyError(
                f"the columns must be {','.join(COLUMNS)}; {_MARK} may be left out",
                where=Where(str(path), 1),
            )
        rows = [_row(raw, Where(str(path), reader.line_num)) for raw in reader]
    except csv.Error as error:
        raise StudyError(str(error), where=Where(str(path), reader.line_num)) from error
    seen: set[str] = set()
    for row in rows:
        if row.key in seen:
            raise StudyError(
                f"{row.case} {row.metric} stands there twice; a figure has one row", where=row.where
            )
        seen.add(row.key)
    if not rows:
        raise StudyError("there is no row below the header", where=Where(str(path), 1))
    return rows


def _row(raw: dict[str, str], where: Where) -> PublishedRow:
    if None in raw or None in raw.values():
        fields = sum(name is not None for name in raw)
        raise StudyError(
            f"a row has {fields} fields, as the first line; quote one that holds a comma",
            where=where,
        )
    cell = {name: value.strip() for name, value in raw.items()}
    if cell["role"] not in ROLES:
        raise StudyError(
            f"role {cell['role']!r} is unknown{nearest(cell['role'], ROLES)}", where=where
        )
    low, high = _value(cell["value"], where)
    return PublishedRow(
        case=cell["case"],
        metric=cell["metric"],
        low=low,
        high=high,
        unit=cell["unit"],
        role=cell["role"],
        reading=cell["reading"],
        tolerance=_tolerance(cell["tolerance"], low, where),
        why=cell["why"],
        by_construction=_marked(cell, where),
        where=where,
    )


def _marked(cell: Mapping[str, str], where: Where) -> bool:
    """Whether a row is one by construction; a row that something is fitted to is not."""
    mark = cell.get(_MARK, "")
    if mark not in ("", "yes"):
        raise StudyError(f"{_MARK} is yes or empty, not {mark!r}", where=where)
    if mark and cell["role"] == "calibration":
        raise StudyError(
            f"a calibration row is no evidence anyway; leave its {_MARK} empty", where=where
        )
    return bool(mark)


def _value(text: str, where: Where, what: str = "value") -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        values = float(low), float(high if dots else low)
    except ValueError:
        values = math.nan, math.nan
    if not all(map(math.isfinite, values)):
        raise StudyError(
            f"{what} {text!r} is neither a number nor a range such as 17..18", where=where
        )
    if values[0] > values[1]:
        raise StudyError(f"{what}: range {text!r} ends below its beginning", where=where)
    return values


def _tolerance(text: str, low: float, where: Where) -> Tolerance:
    if ".." in text:
        lower, upper = _value(text, where, "tolerance")
        if not lower <= low <= upper:
            raise StudyError(f"the published value is outside its own band {text!r}", where=where)
        return Tolerance(ToleranceKind.BAND, lower, upper)
    found = _TOLERANCE.fullmatch(text)
    if found is None or (found["factor"] and found["percent"]):
        raise StudyError(
            f"tolerance {text!r} is none of the forms 8%, 1, x10 or 73..80", where=where
        )
    amount = float(found["number"])
    if not found["factor"]:
        return Tolerance(
            ToleranceKind.PERCENT if found["percent"] else ToleranceKind.ABSOLUTE, amount
        )
    if amount < 1 or low <= 0:
        raise StudyError(
            f"a factor needs a published value above 0 and must be at least 1, not {text!r}",
            where=where,
        )
    return Tolerance(ToleranceKind.FACTOR, amount)
