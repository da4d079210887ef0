"""Tables of a scenario file that were read and found right. The points of a sweep have most of them
in common, and what reads a table looks at nothing beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from homenode.model.document.table import Table
from homenode.model.scenario.file.scenario import ScenarioFile


class CheckedTables:
    """The tables of a file, but for its sweep, by the data that each was read from."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = {key: value for key, value in data.items() if key != "sweep"}
        file = ScenarioFile.model_validate(self._data)
        self._by_place = dict(_read_from(self._data, file))

    def in_place_of(self, data: Mapping[str, object]) -> dict[str, object]:
        """Data that shares tables with this file, to be read: with what they were read as."""
        return {key: self._known(value) for key, value in data.items()}

    def _known(self, value: object) -> object:
        if isinstance(value, list):
            return [self._known(one) for one in value]
        if not isinstance(value, dict):
            return value
        known = self._by_place.get(id(value))
        return self.in_place_of(value) if known is None else known


def _read_from(data: Mapping[str, object], table: Table) -> Iterator[tuple[int, Table]]:
    """Where the tables in a table were read from, with what they were read as."""
    for name, field in type(table).model_fields.items():
        value, read = data.get(field.alias or name), getattr(table, name)
        # Where one stands for several there is a list of it.
        values = value if isinstance(value, list) else [value]
        reads = read if isinstance(read, (list, tuple)) else [read]
        for raw, one in zip(values, reads, strict=False):
            if isinstance(raw, dict) and isinstance(one, Table) and len(values) == len(reads):
                yield id(raw), one
                yield from _read_from(raw, one)
