"""Finding machines and profiles by name or by file."""

from __future__ import annotations

import functools
from pathlib import Path

from homenode.errors import InputError, MachineError, NotFoundError, ProfileError, hint, listed
from homenode.model.catalog.check import check_machine
from homenode.model.catalog.machine_model import MachineDescription
from homenode.model.catalog.profile_model import ProfileDescription
from homenode.model.document import Document, Problems, read_document, shipped_document, validate
from homenode.model.shipped import shipped_names


def machines() -> list[str]:
    """Names of the shipped machines."""
    return shipped_names("machines")


def profiles() -> list[str]:
    """Names of the shipped profiles."""
    return shipped_names("profiles")


def machine(name_or_path: str | Path) -> MachineDescription:
    """A shipped machine by name, or one from a file (anything with `/` in it or ending in
    `.toml`).
    """
    if is_path(name_or_path):
        return load_machine(read_document(Path(name_or_path), MachineError))
    return _shipped_machine(str(name_or_path))


def profile(name_or_path: str | Path) -> ProfileDescription:
    """A shipped profile by name, or one from a file (anything with `/` in it or ending in
    `.toml`).
    """
    if is_path(name_or_path):
        return load_profile(read_document(Path(name_or_path), ProfileError))
    return _shipped_profile(str(name_or_path))


def is_path(name_or_path: str | Path) -> bool:
    """Whether a name means a file."""
    return isinstance(name_or_path, Path) or "/" in name_or_path or name_or_path.endswith(".toml")


def load_machine(document: Document) -> MachineDescription:
    """The machine a document describes, with every invariant checked."""
    described = validate(MachineDescription, document, MachineError)
    problems = Problems(document, MachineError)
    check_machine(described, problems)
    problems.raise_any()
    return described


def load_profile(document: Document) -> ProfileDescription:
    """The profile a document describes."""
    return validate(ProfileDescription, document, ProfileError)


def machine_document(name: str) -> Document:
    """The file of a shipped machine, read once: whoever changes its data copies it first."""
    return _document("machines", name, "machine", MachineError)


@functools.cache
def _document(folder: str, name: str, what: str, error: type[InputError]) -> Document:
    names = shipped_names(folder)
    if name not in names:
        raise NotFoundError(
            f'no {what} is called "{name}"{hint(name, names)}',
            asked=name,
            there=f"there are {listed(names)}",
        )
    return shipped_document(folder, name, error)


@functools.cache
def _shipped_machine(name: str) -> MachineDescription:
    return load_machine(machine_document(name))


@functools.cache
def _shipped_profile(name: str) -> ProfileDescription:
    return load_profile(_document("profiles", name, "profile", ProfileError))


__all__ = [
    "is_path",
    "load_machine",
    "load_profile",
    "machine",
    "machine_document",
    "machines",
    "profile",
    "profiles",
]
