"""Field types for values with units: `Annotated[int, Quantity(TIME, ...)]`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from homenode.model.units import SHARE, Kind, UnitError


@dataclass(frozen=True)
class Quantity:
    """A value with a unit, kept in the base unit; `low` and `high` (as text) bound it, both
    included.

    The annotated type says whether it is kept as `int` (then it must be a whole number of base
    units) or as `float`. With `never`, the text `"never"` is read as None.
    """

    kind: Kind
    low: str
    high: str
    never: bool = False

    def read(self, text: object, whole: bool) -> float | int | None:
        """The value in the base unit; raises `UnitError`."""
        if self.never and text == "never":
            return None
        value = text_to_base(self.kind, text)
        if not self.kind.parse(self.low) <= value <= self.kind.parse(self.high):
            side = (
                f"at least {self.low}"
                if value < self.kind.parse(self.low)
                else f"at most {self.high}"
            )
            raise UnitError(f"{self.kind.name} is out of range; {side} is possible")
        if not whole:
            return float(value)
        if value.denominator != 1:
            base = next(iter(self.kind.units))
            raise UnitError(f"not a whole number of {base}; round it")
        return value.numerator

    def __get_pydantic_core_schema__(
        self, source: object, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate with `read`."""
        whole = source is int or int in get_args(source)

        def check(text: object) -> float | int | None:
            try:
                return self.read(text, whole)
            except UnitError as error:
                raise PydanticCustomError(
                    "quantity", "{sentence}", {"sentence": str(error)}
                ) from None

        return core_schema.no_info_plain_validator_function(check)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A string with one of the units (a share may also be a bare number)."""
        if self.kind is SHARE:
            return {"anyOf": [self.text_schema, {"type": "number", "minimum": 0, "maximum": 1}]}
        return {"anyOf": [self.text_schema, {"const": "never"}]} if self.never else self.text_schema

    @property
    def text_schema(self) -> JsonSchemaValue:
        """JSON Schema of a number with one of the units."""
        units = "|".join(unit.replace("/", "\\/") for unit in self.kind.units)
        number = r"[+-]?[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?"
        return {
            "type": "string",
            "pattern": rf"^\s*{number}\s*({units})\s*$",
            "description": f"a {self.kind.name} from {self.low} to {self.high}",
            "examples": [self.kind.example],
        }


@dataclass(frozen=True)
class Form:
    """A text of a form, given as a regular expression and in words."""

    pattern: str
    words: str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Check the form after the type."""
        form = re.compile(self.pattern)

        def check(text: str) -> str:
            if form.fullmatch(text) is None:
                facts = {"there": self.words, "next_step": ""}
                raise PydanticCustomError("fact", "form", facts)
            return text

        return core_schema.no_info_after_validator_function(check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A string with a pattern."""
        return {**handler(schema), "pattern": f"^{self.pattern}$"}


@dataclass(frozen=True, eq=False)
class OrText:
    """A value that may be given as a text in place of its full form: `memory = "40 GiB"`.

    A number is spelled out as well, so that what it lacks (a unit) is told, not the full form. What
    is neither text nor of the full form's kind is answered with the text.
    """

    spell_out: Callable[[object], object]
    text_schema: JsonSchemaValue

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Spell texts and numbers out before anything else."""
        full = list if get_origin(source) is list else (dict, BaseModel)

        def before(value: object) -> object:
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                return self.spell_out(value)
            if not isinstance(value, full):
                form = "a list in brackets" if full is list else "a table"
                there = f"{self._examples}, or {form}, is needed here"
                raise PydanticCustomError("fact", "form", {"there": there, "next_step": ""})
            return value

        return core_schema.no_info_before_validator_function(before, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Either the text or the full form."""
        return {"anyOf": [self.text_schema, handler(schema)]}

    @property
    def _examples(self) -> str:
        """What may stand there, for messages: `text such as "8.5" or "30 %"`."""
        given = " or ".join(json.dumps(one) for one in self.text_schema.get("examples", ()))
        kind = "a number" if self.text_schema.get("type") == "number" else "text in quotes"
        return f"text such as {given}" if given else kind


@dataclass(frozen=True)
class OrOne:
    """A list of tables that may be given as its only table: `workload = { ... }`."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Make a list of what is none before anything else looks at it."""

        def before(value: object) -> object:
            return value if isinstance(value, list) else [value]

        return core_schema.no_info_before_validator_function(before, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Either the table or a list of such."""
        several = handler(schema)
        return {"anyOf": [several["items"], several]}


@dataclass(frozen=True)
class TagDefault:
    """Of several kinds of table told apart by a key, the one that is meant where the key is not
    given.
    """

    key: str
    value: str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Put the key in before anything else looks for it."""

        def before(value: object) -> object:
            if not isinstance(value, dict) or self.key in value:
                return value
            return {self.key: self.value, **value}

        return core_schema.no_info_before_validator_function(before, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """As without it: the default of the key stands in its own table."""
        return handler(schema)


def text_to_base(kind: Kind, text: object) -> Fraction:
    """Parse a quantity; a share has no dimension, so a bare number is as good as one in percent."""
    if kind is SHARE and isinstance(text, (int, float)) and not isinstance(text, bool):
        if text != text or text in (float("inf"), float("-inf")):
            raise UnitError(
                f"{text} is not a share; write a number from 0 to 1, or one like {kind.example!r}"
            )
        return Fraction(repr(text))
    return kind.parse(text)
