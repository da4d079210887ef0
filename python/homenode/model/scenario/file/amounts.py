"""Amounts that several tables of a scenario file state."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.document import Form, Quantity
from homenode.model.units import SIZE

LONGEST_NAME = 64
Name = Annotated[
    str,
    Form(
        rf"[A-Za-z0-9][A-Za-z0-9_.+-]{{0,{LONGEST_NAME - 1}}}",
        f"a name has up to {LONGEST_NAME} letters, digits and _ . + -, a letter or digit first",
    ),
]
Cores = Annotated[float, Field(ge=0, le=4096)]
VirtualProcessors = Annotated[int, Field(ge=1, le=1024)]
MEMORY = Quantity(SIZE, "1 MiB", "1024 TiB")
MemorySize = Annotated[int, MEMORY]


def one_of(text: str) -> list[str]:
    """A list of one, where a key takes one value or several."""
    return [text]
