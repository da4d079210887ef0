"""A number that says where it comes from.

`{ value = "25 cycles", source = "KALLA-2010, p. 9" }` is published; `{ value = "150 ns", assumed =
"why", range = ["130 ns", "170 ns"] }` is not, and says how far it may be off. A number may also be
`measured` (how) or `calibrated` (on which rows of which study); one that a scenario puts in place
of another is `stated` with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from homenode.model.document import Form, Quantity, Table
from homenode.model.units import CYCLES, TIME, UnitError

Value = TypeVar("Value")
CatalogName = Annotated[
    str,
    Form(r"[a-z0-9][a-z0-9.-]{0,63}", "a name has up to 64 small letters, digits and . -"),
]
Provenance = Literal["source", "measured", "calibrated", "assumed", "stated"]
PROVENANCES: tuple[Provenance, ...] = ("source", "measured", "calibrated", "assumed", "stated")


class Figure(Table, Generic[Value]):
    """A value with its provenance."""

    value: Value = Field(description="the value itself, with its unit")
    source: str | None = Field(
        None, min_length=3, description="document and page that publishes it"
    )
    measured: str | None = Field(None, min_length=3, description="how it was measured")
    calibrated: str | None = Field(
        None, min_length=3, description="the rows of the study it was fitted on"
    )
    assumed: str | None = Field(
        None, min_length=3, description="why this value, where nothing is published"
    )
    stated: str | None = Field(
        None, min_length=1, description="the reason a scenario gives for another value"
    )
    range: Annotated[list[Value] | None, Field(min_length=2, max_length=2)] = Field(
        None, description="lowest and highest plausible value"
    )

    @model_validator(mode="after")
    def _says_where_it_is_from(self) -> Figure[Value]:
        """One provenance exactly; an assumption has a range that holds the value."""
        given = [name for name in PROVENANCES if getattr(self, name) is not None]
        if len(given) != 1:
            said = (
                "it does not say where it is from"
                if not given
                else f"it names {' and '.join(given)}"
            )
            step = (
                'add source = "document, page", or assumed = "why" with range = [lowest, highest]'
            )
            raise PydanticCustomError("fact", "provenance", {"there": said, "next_step": step})
        if given == ["assumed"] and self.range is None:
            there, step = "it is assumed but has no range", "add range = [lowest, highest]"
            raise PydanticCustomError("fact", "range", {"there": there, "next_step": step})
        if self.range is not None and not _within(self.value, self.range):
            there, step = "the value lies outside its range", "widen the range or correct the value"
            raise PydanticCustomError("fact", "range", {"there": there, "next_step": step})
        return self

    @property
    def provenance(self) -> Provenance:
        """Which of the kinds of origin it has."""
        return next(name for name in PROVENANCES if getattr(self, name) is not None)

    @property
    def reason(self) -> str:
        """The document, the method, the study or the reason."""
        return str(getattr(self, self.provenance))


def _within(value: Any, bounds: list[Any]) -> bool:
    """Whether a value lies in its range, element by element for lists; what has no order is in any
    range that names it.
    """
    low, high = bounds
    if isinstance(value, list):
        same = len(value) == len(low) == len(high)
        return same and all(
            _within(v, [lo, hi]) for v, lo, hi in zip(value, low, high, strict=True)
        )
    if isinstance(value, (bool, str)):
        return value in bounds
    return bool(low <= value <= high)


@dataclass(frozen=True, order=True)
class Latency:
    """A latency in nanoseconds or in cycles of the core clock."""

    in_cycles: bool
    amount: float

    def nanoseconds(self, clock_hz: float) -> float:
        """The latency at a clock [ns]."""
        return self.amount * 1e9 / clock_hz if self.in_cycles else self.amount

    @classmethod
    def read(cls, text: object) -> Latency:
        """Parse `"25 cycles"` or `"110 ns"`."""
        if isinstance(text, str) and text.rstrip().endswith(("cycles", "cycle")):
            return cls(
                True, float(Quantity(CYCLES, "0 cycles", "1e6 cycles").read(text, whole=False) or 0)
            )
        try:
            return cls(False, float(Quantity(TIME, "0 ns", "1 s").read(text, whole=False) or 0))
        except UnitError as error:
            raise UnitError(f"{error}; a latency may also be given in cycles") from None

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: object, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate with `read`."""

        def check(text: object) -> Latency:
            try:
                return cls.read(text)
            except UnitError as error:
                raise PydanticCustomError(
                    "quantity", "{sentence}", {"sentence": str(error)}
                ) from None

        return core_schema.no_info_plain_validator_function(check)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A string."""
        return {"type": "string", "examples": ["25 cycles", "110 ns"]}
