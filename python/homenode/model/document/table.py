"""Base of the models: a table whose keys are all known, all there, and never change."""

from __future__ import annotations

import functools

from pydantic import BaseModel, ConfigDict, Discriminator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from homenode.model.document.fields import OrOne


class Table(BaseModel):
    """A TOML table: unknown keys are refused, values keep their type, and nothing changes
    afterwards.
    """

    # Most models are parts of others, whose validators have them in them: each is built when it is
    # asked for by itself.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _keys_are_known(cls, data: object) -> object:
        """Refuse unknown and missing keys, and what is no table, with what is needed for a message
        that helps.
        """
        if isinstance(data, BaseModel):
            return data
        fields = _fields(cls)
        if not isinstance(data, dict):
            raise PydanticCustomError("no_table", "no table", {"known": list(fields)})
        unknown = [key for key in data if key not in fields]
        missing = {name: told for name, told in _needed(cls).items() if name not in data}
        if unknown or missing:
            facts = {"unknown": unknown, "missing": missing, "known": list(fields)}
            raise PydanticCustomError("keys", "keys", facts)
        for name, (kinds, example) in _tagged(cls).items():
            # Which of several kinds of table it is would be asked of what has no key.
            if name in data and not isinstance(data[name], kinds):
                facts = {"key": name, "hint": example}
                raise PydanticCustomError("no_tagged_table", "no table", facts)
        return data


@functools.cache
def _fields(model: type[Table]) -> dict[str, FieldInfo]:
    """By the key that stands in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


@functools.cache
def _needed(model: type[Table]) -> dict[str, str]:
    """Keys that have to be there, with what each is."""
    named = _fields(model).items()
    return {name: field.description or "" for name, field in named if field.is_required()}


@functools.cache
def _tagged(model: type[Table]) -> dict[str, tuple[tuple[type, ...], str]]:
    """Fields that are tables of several kinds: what is one, and an example of it."""
    found: dict[str, tuple[tuple[type, ...], str]] = {}
    for name, field in model.model_fields.items():
        several = any(isinstance(one, OrOne) for one in field.metadata)
        if several or any(isinstance(one, Discriminator) for one in field.metadata):
            kinds = (dict, BaseModel, *((list,) if several else ()))
            _, write, example = (field.description or "").partition("write ")
            found[field.alias or name] = (kinds, write + example)
    return found
