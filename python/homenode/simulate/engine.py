"""The compiled engine, imported when it is first needed: help and reports work without it."""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from homenode.errors import EngineMissingError
from homenode.simulate.answers import Batch
from homenode.version import program_version

Observer = Callable[[Batch], bool]
_DIGITS = 12


class Engine(Protocol):
    """What `homenode._engine` offers; a stand-in in tests offers the same."""

    ENGINE_VERSION: str
    PARTITION_COLUMNS: Sequence[str]
    CPU_COLUMNS: Sequence[str]
    POOL_COLUMNS: Sequence[str]
    WORKLOAD_COLUMNS: Sequence[str]
    DISPATCH_COLUMNS: Sequence[str]
    VIRTUAL_MACHINE_COLUMNS: Sequence[str]
    SWITCH_COLUMNS: Sequence[str]
    VOLUME_COLUMNS: Sequence[str]
    FABRIC_COLUMNS: Sequence[str]
    INTERRUPT_COLUMNS: Sequence[str]
    HOME_COLUMNS: Sequence[str]
    FABRIC_PORTS: Sequence[str]
    BOOKS: Sequence[str]
    Stopped: type[BaseException]
    SpecError: type[ValueError]
    Runaway: type[RuntimeError]

    def check(self, spec_json: str) -> None:
        """Raise `SpecError` for a frozen scenario that cannot be simulated."""
        ...

    def simulate(
        self, spec_json: str, replication: int, observe: Observer, latest: bool = False
    ) -> str:
        """Run one replication; the summary as JSON. With `latest` batches hold that too."""
        ...

    def price(self, spec_json: str, busy_json: str) -> str:
        """What an instruction of each partition costs while so many cores of it are busy on each
        chip, as JSON.
        """
        ...

    def solve(self, spec_json: str) -> str:
        """The steady state of a frozen scenario without simulating it, as JSON; raises `SpecError`
        for what only a simulation can tell.
        """
        ...

    def place(
        self,
        columns: dict[str, Any],
        watch: Callable[[int, int], float],
        *,
        seed: int,
        searches: int,
        threads: int,
        moves: int | None = None,
    ) -> dict[str, Any]:
        """Which machine each of many partitions goes to, at the least cost; raises `SpecError` for
        a problem that is none.
        """
        ...

    def polarize(self, entitlement: float, cores: int) -> tuple[int, int, int, float]:
        """How PR/SM spreads an entitlement over logical cores in vertical polarization: how many
        are high, medium and low, and the share of a physical core that a medium one is entitled to.
        """
        ...


def load_engine() -> Engine:
    """The engine module, or one sentence on how to get it."""
    try:
        module = importlib.import_module("homenode._engine")
    except ImportError as error:
        raise EngineMissingError(
            f"the compiled engine homenode._engine cannot be loaded ({error}); run `make setup` in "
            "the repository"
        ) from error
    return cast(Engine, module)


def build() -> str:
    """The engine that is loaded: its version, and a digest of the compiled file. Two engines that
    say the same give the same bytes.
    """
    engine = load_engine()
    file = getattr(engine, "__file__", None)
    return f"{engine.ENGINE_VERSION}+{_digest(file)} of homenode {program_version()}"


@functools.cache
def _digest(file: str | None) -> str:
    content = b"" if file is None else Path(file).read_bytes()
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def table_columns(engine: Engine) -> dict[str, list[str]]:
    """Columns of each result table, in the engine's order."""
    return {
        "partition": list(engine.PARTITION_COLUMNS),
        "cpu": list(engine.CPU_COLUMNS),
        "pool": list(engine.POOL_COLUMNS),
        "workload": list(engine.WORKLOAD_COLUMNS),
        "dispatches": list(engine.DISPATCH_COLUMNS),
        "virtual_machine": list(engine.VIRTUAL_MACHINE_COLUMNS),
        "switch": list(engine.SWITCH_COLUMNS),
        "volume": list(engine.VOLUME_COLUMNS),
        "fabric": list(engine.FABRIC_COLUMNS),
        "interrupt": list(engine.INTERRUPT_COLUMNS),
        "home": list(engine.HOME_COLUMNS),
    }


def table_names(table: str) -> list[str]:
    """Columns of one result table; a few that are always there if the engine is not installed."""
    try:
        return ["replication", *table_columns(load_engine())[table]]
    except EngineMissingError:
        return ["replication", "time_ns", "partition"]
