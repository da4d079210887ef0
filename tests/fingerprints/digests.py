"""What a fingerprint is: of a document or of tables, every value under the name of its place, and
of each name the SHA-256 of all values there.

Two fingerprints are compared name by name, so that a difference says what moved. A name that the
older one does not have is no difference: a file may gain keys while every number stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PUT_ASIDE = frozenset({"run"})
"""Keys of the id of a run: it has the version of the program in it, which moves no number."""

Digests = Mapping[str, bytes]
"""Of each name, the SHA-256 of what stands there."""
Place = tuple[str, ...]


def of_document(
    document: Any, *, cut: Callable[[Place], Place] = lambda place: place
) -> dict[str, bytes]:
    """Digests of a JSON document. The name of a value is its path without the indices of lists, as
    `cut` shortens it.

    A value counts with its whole path, so that two that change places differ, but the order of keys
    does not count. Floats count with every digit that tells them from their neighbours.
    """
    found: dict[str, list[str]] = {}
    for place, value in sorted(_leaves(document, ())):
        name = ".".join(cut(tuple(step for step in place if not step.startswith("["))))
        found.setdefault(name, []).append(f"{'/'.join(place)} {value}")
    return {name: _sha256("\n".join(lines).encode()) for name, lines in found.items()}


def _leaves(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """Every value in its one spelling, and where it stands."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if key not in PUT_ASIDE:
                yield from _leaves(inner, (*place, str(key)))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*place, f"[{index:06}]"))
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def of_tables(paths: Collection[Path]) -> dict[str, bytes]:
    """Digests of Parquet files, a name a column: of its type and its values, bit by bit, not of the
    bytes of the file, which follow the version of the library that writes it.
    """
    found = {}
    for path in sorted(paths):
        table = pq.ParquetFile(path).read()
        for name in table.column_names:
            found[f"{path.stem}.{name}"] = _column(table.column(name))
    return found


def _column(column: pa.ChunkedArray) -> bytes:
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    told = f"{column.type} {len(array)}\n".encode()
    if not pa.types.is_primitive(array.type) or array.type.bit_width % 8 or array.null_count:
        return _sha256(told + json.dumps(array.to_pylist(), default=str).encode())
    width = array.type.bit_width // 8
    values = array.buffers()[1]
    start, length = array.offset * width, len(array) * width
    return _sha256(told + (values.slice(start, length).to_pybytes() if length else b""))


def of_values(values: Mapping[str, Any]) -> dict[str, bytes]:
    """Digests of values that have names already."""
    return {name: _sha256(json.dumps(value).encode()) for name, value in values.items()}


def whole(digests: Digests, names: Sequence[str]) -> bytes:
    """One digest over those names, in the order of the alphabet."""
    return _sha256(b"\n".join(name.encode() + b" " + digests[name] for name in sorted(names)))


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
