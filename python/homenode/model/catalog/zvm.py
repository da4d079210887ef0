"""What z/VM supports on a machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.catalog.figure import Figure
from homenode.model.document import Table


class ZvmSupport(Table):
    """z/VM on this machine; a machine without this table does not run it."""

    processors: Figure[Annotated[int, Field(ge=1, le=1024)]] = Field(
        description=(
            "how many processor numbers a partition of z/VM may use, from x'00' on; a core takes"
            " one, or two where multithreading is on"
        )
    )
