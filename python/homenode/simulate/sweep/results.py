"""The two tables of a sweep, and how they are read.

`results.parquet` has a row for each partition at each point: the point's number and axes, whether
it was steady, every metric and half the width of its interval (`physc`, `physc_ci95`).
`replications.parquet` has the metrics of each replication, by which points are compared in pairs.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from homenode.errors import StoreError
from homenode.model.estimate import Estimate
from homenode.model.scenario import Scenario
from homenode.model.scenario.kept import stand_alone
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.points import Point
from homenode.simulate.kept.store import PROVENANCE, dump_json, fingerprint
from homenode.simulate.runner.interval_files import open_writer
from homenode.simulate.sweep.order import Order
from homenode.simulate.sweep.store import Store, name_safely, write_safely

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS, REPLICATIONS = "results.parquet", "replications.parquet"
_ROWS = 4_096
"""Of a row group; so many are held in memory."""
_NO = (-1, -1)
Row = dict[str, object]
Cells = tuple[object, ...]
"""A row in the order of its table's columns."""


@dataclass(frozen=True)
class SweepResults:
    """A sweep of which every point is kept."""

    folder: Path
    provenance: Mapping[str, Any]

    @classmethod
    def is_complete(cls, folder: Path) -> bool:
        """Whether nothing of a sweep is missing."""
        return (folder / PROVENANCE).is_file()

    @classmethod
    def at(cls, folder: str | Path) -> Self:
        """That of a folder. Raises `StoreError` where there is none that is complete."""
        path = Path(folder)
        try:
            told = json.loads((path / PROVENANCE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path} holds no complete sweep", next_step="run `homenode sweep` to its end"
            ) from error
        return cls(path, told)

    @property
    def id(self) -> str:
        """Name of its folder."""
        return self.folder.name

    @property
    def points(self) -> int:
        """How many it has."""
        return int(self.provenance["points"])

    @property
    def axes(self) -> tuple[str, ...]:
        """Paths of the scenario that it changes."""
        return tuple(self.provenance["axes"])

    @property
    def results(self) -> Path:
        """The table of all points."""
        return self.folder / RESULTS

    @property
    def refused(self) -> dict[int, str]:
        """Points that could not be simulated, and why."""
        return {int(number): why for number, why in self.provenance["refused"].items()}

    def read(self, metrics: Sequence[str]) -> list[Point]:
        """Chosen metrics of all points, to be compared."""
        held: dict[int, list[Row]] = {}
        values = self._values(metrics)
        for row in _rows(self.results, ["point", "run", *self.axes, "partition", "unsteady",
                                        "offered", *_with_intervals(metrics)]):  # fmt: skip
            held.setdefault(_number(row), []).append(row)
        chance = (str(self.provenance["scenario"]), int(self.provenance["seed"]))
        return [_point(rows, self.axes, metrics, chance, values) for rows in held.values()]

    def _values(self, metrics: Sequence[str]) -> dict[tuple[int, str, str], dict[int, float]]:
        found: dict[tuple[int, str, str], dict[int, float]] = {}
        columns = ["point", "partition", "replication", *metrics]
        for row in _rows(self.folder / REPLICATIONS, columns):
            for metric in metrics:
                if isinstance(value := row[metric], float):
                    at = (_number(row), str(row["partition"]), metric)
                    found.setdefault(at, {})[int(str(row["replication"]))] = value
        return found


def _number(row: Row) -> int:
    return int(str(row["point"]))


def _point(
    rows: Sequence[Row],
    axes: Sequence[str],
    metrics: Sequence[str],
    chance: tuple[str, int],
    values: Mapping[tuple[int, str, str], Mapping[int, float]],
) -> Point:
    first, told, held = rows[0], {}, {}
    for row in rows:
        name = str(row["partition"])
        for metric in metrics:
            mean, ci95 = row[metric], row[f"{metric}_ci95"]
            told[name, metric] = Estimate(
                mean if isinstance(mean, float) else None,
                ci95 if isinstance(ci95, float) else None,
                None if mean is not None or not row["unsteady"] else str(row["unsteady"]),
            )
            known = METRICS[metric].needs_steady and row["unsteady"] is not None
            held[name, metric] = {} if known else values.get((_number(row), name, metric), {})
    return Point(
        run=str(first["run"]),
        axes={axis: first[axis] for axis in axes},
        chance=chance,
        partitions=tuple(str(row["partition"]) for row in rows),
        offered=frozenset(str(row["partition"]) for row in rows if row["offered"]),
        told=told,
        values=held,
    )


def _with_intervals(metrics: Sequence[str]) -> list[str]:
    return [column for metric in metrics for column in (metric, f"{metric}_ci95")]


def _rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as source:
        for batch in source.iter_batches(columns=list(columns)):
            yield from batch.to_pylist()


def publish(store: Store, base: Scenario, order: Order) -> None:
    """Write the tables, then where they are from: with that the sweep is complete."""
    refused: dict[str, str] = {}
    _write(store, _schemas(base), base, refused)
    text, files = stand_alone(base)
    for name, content in {"scenario.toml": text.encode(), **files}.items():
        (store.folder / name).parent.mkdir(exist_ok=True)
        write_safely(store.folder / name, content)
    told = {
        "sweep": store.folder.name,
        "scenario": base.name,
        "seed": base.file.run.seed if order.seed is None else order.seed,
        "replications": order.replications,
        "points": base.points,
        "axes": list(base.axes),
        "refused": refused,
        "engine": order.build,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "files": {name: fingerprint(store.folder / name) for name in (RESULTS, REPLICATIONS)},
    }
    write_safely(store.folder / PROVENANCE, dump_json(told).encode())


def _write(
    store: Store, schemas: Mapping[str, pa.Schema], base: Scenario, refused: dict[str, str]
) -> None:
    """Both tables, in the order of the points; `refused` takes those that have no rows."""
    fresh = {name: store.folder / f".{name}" for name in schemas}
    writers = {name: _Table(fresh[name], schema) for name, schema in schemas.items()}
    as_numbers = [_is_number(values) for values in base.axes.values()]
    for record in store.records():
        number = record["number"]
        if record["refused"]:
            refused[str(number)] = record["refused"]
        axes = _axes_of(base, number, as_numbers)
        for name, one in record["partitions"].items():
            told, values = _in_columns(tuple(one["metrics"]))
            head = (number, record["run"], *axes, name, one["unsteady"], one["offered"])
            writers[RESULTS].add(head + told([*one["mean"], *one["ci95"], None]))
            for replication, row in enumerate(one["values"]):
                writers[REPLICATIONS].add((number, name, replication, *values([*row, None])))
    for name, writer in writers.items():
        writer.close()
        name_safely(fresh[name], store.folder / name)


@functools.lru_cache
def _in_columns(metrics: tuple[str, ...]) -> tuple[Callable[[Any], Cells], Callable[[Any], Cells]]:
    """What brings means, then halves of intervals, then None into the order of the columns; and the
    same of values, then None.
    """
    count, at = len(metrics), {name: at for at, name in enumerate(metrics)}
    both = [
        place for name in METRICS for place in ((at[name], count + at[name]) if name in at else _NO)
    ]
    return itemgetter(*both), itemgetter(*(at.get(name, -1) for name in METRICS))


def _axes_of(base: Scenario, number: int, as_numbers: Sequence[bool]) -> list[object]:
    """Values of a point as the table has them: numbers as such where all of an axis are, else as
    they are written.
    """
    told = base.values_of(number).values() if base.axes else ()
    return [
        value if plain else _written(value) for plain, value in zip(as_numbers, told, strict=True)
    ]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_number(values: Sequence[object]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


def _schemas(base: Scenario) -> dict[str, pa.Schema]:
    import pyarrow as pa

    def kind(values: Sequence[object]) -> pa.DataType:
        if not _is_number(values):
            return pa.string()
        return pa.int64() if all(isinstance(one, int) for one in values) else pa.float64()

    axes = [(axis, kind(values)) for axis, values in base.axes.items()]
    metrics = [(name, pa.float64()) for name in METRICS]
    both = [(name, pa.float64()) for name in _with_intervals(list(METRICS))]
    point, partition = ("point", pa.int64()), ("partition", pa.string())
    said = [("unsteady", pa.string()), ("offered", pa.bool_())]
    return {
        RESULTS: pa.schema([point, ("run", pa.string()), *axes, partition, *said, *both]),
        REPLICATIONS: pa.schema([point, partition, ("replication", pa.int64()), *metrics]),
    }


class _Table:
    """A table that is written a group of rows at a time."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = open_writer(path, schema, numbers=False)
        self._rows: list[Cells] = []

    def add(self, row: Cells) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            columns = zip(zip(*self._rows, strict=True), self._schema.types, strict=True)
            arrays = [pa.array(values, kind) for values, kind in columns]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows = []
