"""Checking a document against a pydantic model: what pydantic finds becomes messages for people."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from homenode.errors import InputError, closest, listed
from homenode.model.document.positions import Path
from homenode.model.document.problems import Problems
from homenode.model.document.read import Document

Model = TypeVar("Model", bound=BaseModel)

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "list_type": "a list in brackets",
    "tuple_type": "a list in brackets",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
    "string_too_short": "some text",
    "too_short": "at least one entry",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def validate(
    model: type[Model],
    document: Document,
    error: type[InputError],
    data: object = None,
    prefix: Path = (),
) -> Model:
    """The model filled from the document, or from `data`, which was made from the part of the
    document at `prefix`.
    """
    data = document.data if data is None else data
    try:
        return model.model_validate(data)
    except ValidationError as failure:
        problems = Problems(document, error)
        found = [(to_path(data, one["loc"]), one) for one in failure.errors(include_url=False)]
        untagged = {path: _tag(one) for path, one in found if one["type"] == "union_tag_not_found"}
        kinds = _kinds(model, data, untagged)
        for path, detail in found:
            without = detail["type"] == "union_tag_not_found"
            told = _untagged(detail, kinds.get(path, [])) if without else detail
            _translate(problems, told, (*prefix, *path))
        problems.raise_any()
        raise  # pragma: no cover - there is at least one problem


def _translate(problems: Problems, detail: ErrorDetails, path: Path) -> None:
    """Turn one finding of pydantic into a problem."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "keys":
        _keys(problems, path, context["unknown"], dict(context["missing"]), context["known"])
    elif kind == "no_table":
        step = f"its keys are {listed(list(context['known']), 20)}"
        problems.add(path, there="a table is needed here", next_step=step)
    elif kind == "no_tagged_table":
        path = (*path, str(context["key"]))
        step = str(context["hint"])
        problems.add(path, there="a table is needed here", next_step=step or None)
    elif kind in ("literal_error", "union_tag_invalid"):
        _not_one_of(problems, path, detail)
    elif kind == "quantity":
        problems.add(path, there=str(context["sentence"]))
    elif kind == "fact":
        problems.add(path, there=str(context["there"]), next_step=str(context["next_step"]) or None)
    elif kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        problems.add(path, there=f"{words} {context[name]} is possible")
    elif kind == "list_type" and isinstance(problems.document.value(path), dict):
        table = f"write [[{path[-1]}]] for [{path[-1]}]"
        problems.add(path, there="a list is needed here", next_step=table)
    elif kind == "too_short" and int(str(context.get("min_length", 1))) > 1:
        problems.add(path, there=f"at least {context['min_length']} entries are needed here")
    elif kind in _KINDS:
        problems.add(path, there=f"{_KINDS[kind]} is needed here")
    else:
        problems.add(path, there=detail["msg"])


def _keys(
    problems: Problems, path: Path, unknown: list[str], missing: dict[str, str], known: list[str]
) -> None:
    """Keys that a table has and should not have, and the other way round; one that is misspelt is
    told once.
    """
    for key in unknown:
        near = closest(key, known)
        step = f"did you mean {near}?" if near else f"the keys here are {listed(known, 20)}"
        problems.add_key((*path, key), f'unknown key "{key}"', step)
        missing.pop(near or "", None)
    table = f"[{path[0]}]" if len(path) == 1 else "it"
    for key, hint in missing.items():
        step = hint or f"give {table} a {key}"
        problems.add(path, f"{key} is missing", next_step=step, at_key=True)


def _tag(detail: ErrorDetails) -> str:
    """The key that says of which kind a table is."""
    return str(detail.get("ctx", {})["discriminator"]).strip("'")


def _kinds(
    model: type[BaseModel], data: object, untagged: Mapping[Path, str]
) -> dict[Path, list[str]]:
    """Which kinds there are of tables that do not say theirs: pydantic names these only where one
    is given, so that all are given one that is none.
    """
    if not untagged:
        return {}
    trial: Any = copy.deepcopy(data)
    for path, key in untagged.items():
        functools.reduce(lambda above, part: above[part], path, trial)[key] = ""
    try:
        model.model_validate(trial)
    except ValidationError as failure:
        found = failure.errors(include_url=False)
        invalid = [one for one in found if one["type"] == "union_tag_invalid"]
        return {to_path(trial, one["loc"]): _choices(one) for one in invalid}
    return {}


def _untagged(detail: ErrorDetails, kinds: list[str]) -> ErrorDetails:
    """A table that does not say of which kind it is, told as keys, with those that there are."""
    key, table = _tag(detail), detail["input"]
    given = [str(one) for one in table] if isinstance(table, dict) else []
    misspelt = [one for one in given if closest(one, [key])]
    step = f"write {key} = with one of {listed(kinds)}" if kinds else ""
    facts = {"unknown": misspelt[:1], "missing": {key: step}, "known": [key]}
    return {**detail, "type": "keys", "ctx": facts}


def _not_one_of(problems: Problems, path: Path, detail: ErrorDetails) -> None:
    context = detail.get("ctx", {})
    if detail["type"] == "union_tag_invalid":
        path = (*path, str(context["discriminator"]).strip("'"))
    names = _choices(detail)
    value = problems.document.value(path)
    near = closest(value, names) if isinstance(value, str) else None
    step = f"did you mean {near}?" if near else None
    problems.add(path, there=f"there is {listed(names)}", next_step=step)


def _choices(detail: ErrorDetails) -> list[str]:
    context = detail.get("ctx", {})
    choices = str(context.get("expected_tags") or context.get("expected"))
    return [choice.strip("' ") for choice in choices.replace(" or ", ", ").split(", ")]


def to_path(data: object, location: tuple[str | int, ...]) -> Path:
    """The path in the data of a place in a model: names of union members, which pydantic puts in,
    are left out.
    """
    path: Path = ()
    here: object = data
    for part in location:
        below: object = dict(enumerate(here)) if isinstance(here, list) else here
        if isinstance(below, dict) and part in below:
            here = below[part]
            path = (*path, part)
    return path
