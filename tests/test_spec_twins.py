"""The engine's input has its types twice, in Rust and in Python: both name the same keys."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import is_typeddict

import pytest

import homenode.model.spec
from homenode.simulate.kept.fabric import PORTS

SOURCES = Path(__file__).resolve().parents[1] / "crates/engine/src/spec"
TAGS = frozenset({"kind", "mode", "os"})
"""Keys that tell which variant of an enum stands there; in Rust they are no field."""
PARTS = frozenset(
    {
        "ArrivalsSpec",
        "BurstsSpec",
        "CountedSpec",
        "LimitsSpec",
        "AsidesSpec",
        "AsideSpec",
        "LockSpec",
        "DrainedSpec",
        "FlushSpec",
        "RoamingSpec",
        "SpreadSpec",
        "StreamSpec",
        "ThinkSpec",
        "WorkingSetSpec",
        "BuffersSpec",
    }
)
"""What several dictionaries have in common; the engine never sees one of these by itself."""

Keys = frozenset[str]


def in_rust() -> dict[str, tuple[Keys, Keys]]:
    """By struct or variant: all keys, and those without a default."""
    found: dict[str, tuple[Keys, Keys]] = {}
    for file in sorted(SOURCES.glob("*.rs")):
        text = re.sub(r"//.*", "", file.read_text("utf-8"))
        for above, what, name, body in re.findall(
            r"((?:#\[[^\n]*\]\n)*)pub (struct|enum) (\w+) \{(.*?)\n\}", text, re.DOTALL
        ):
            if what == "struct":
                found[name] = fields(body, defaulted="default" in above.replace("Default", ""))
            else:
                found.update((f"{name}::{variant}", keys) for variant, keys in variants(body))
    return found


def fields(body: str, defaulted: bool) -> tuple[Keys, Keys]:
    """All keys of a struct's body, and those that must be given."""
    told = re.findall(r"((?:#\[[^\n]*\]\s*)*)(?:pub )?(?:r#)?(\w+): ", body)
    given = {name for above, name in told if "serde(default" not in above and not defaulted}
    return frozenset(name for _, name in told), frozenset(given)


def variants(body: str) -> Iterator[tuple[str, tuple[Keys, Keys]]]:
    """Variants of an enum that have fields, or a value under their own name."""
    for name, inside in re.findall(r"^    (\w+) \{(.*?)^    \}", body, re.DOTALL | re.MULTILINE):
        yield name, fields(inside, defaulted=False)


def in_python() -> dict[str, Keys]:
    """By dictionary, its keys without those that tell the variant."""
    found = {}
    for module in pkgutil.iter_modules(homenode.model.spec.__path__):
        names = vars(importlib.import_module(f"{homenode.model.spec.__name__}.{module.name}"))
        for name, one in names.items():
            if is_typeddict(one) and name not in PARTS:
                found[name] = frozenset(one.__annotations__) - TAGS
    return found


@pytest.mark.parametrize("name", sorted(in_rust()))
def test_what_the_engine_reads_has_a_type(name: str) -> None:
    every, needed = in_rust()[name]
    twins = [twin for twin, keys in in_python().items() if needed <= keys <= every and keys]
    assert twins, f"no dictionary of homenode.model.spec has the keys of {name}: {sorted(every)}"


@pytest.mark.parametrize("name", sorted(in_python()))
def test_what_has_a_type_is_read_by_the_engine(name: str) -> None:
    keys = in_python()[name]
    twins = [twin for twin, (every, needed) in in_rust().items() if needed <= keys <= every]
    values = {"IdleSpec": not keys, "CpShareSpec": keys == {"relative", "absolute"}}
    assert twins or values.get(name), f"no struct of {SOURCES} has the keys of {name}: {keys}"


def test_there_is_something_to_compare() -> None:
    assert len(in_rust()) > 40
    assert len(in_python()) > 40


def test_ports_have_the_engines_names() -> None:
    engine = pytest.importorskip("homenode._engine", reason="the engine is not built")
    assert list(PORTS) == engine.FABRIC_PORTS
