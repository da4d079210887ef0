"""Line and column of every key and value."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from homenode.model.document import to_toml
from homenode.model.document.positions import find_positions, split_key

TEXT = '''\
a = 1
[run]  # a comment = not a key
x."y z" = "q" # c
l = [1, { k = 2 },
  3 ]
[[p]]
n = """a"b"""
[p.s]
d = 1979-05-27 07:32:00  # a date
[[p]]
n = 'x'
e = { }
'''


def test_positions_of_a_small_text() -> None:
    positions = find_positions(TEXT)

    def key(*path: str | int) -> tuple[int, int]:
        return positions.line_column(positions.spots[path].key)

    def value(*path: str | int) -> str:
        spot = positions.spots[path]
        return TEXT[spot.value : spot.end]

    assert key("a") == (1, 1)
    assert key("run") == (2, 2)
    assert key("run", "x", "y z") == (3, 1)
    assert value("run", "x", "y z") == '"q"'
    assert key("run", "l", 1, "k") == (4, 11)
    assert value("run", "l", 2) == "3"
    assert key("run", "l", 2) == (5, 3)
    assert value("p", 0, "n") == '"""a"b"""'
    assert key("p", 0, "s") == (8, 2)
    assert value("p", 0, "s", "d") == "1979-05-27 07:32:00"
    assert key("p", 1) == (10, 3)
    assert value("p", 1, "e") == "{ }"


def test_a_dotted_key_is_split_as_toml_splits_it() -> None:
    assert split_key("partition.lpar1.smt") == ("partition", "lpar1", "smt")
    assert split_key('partition."a.b".smt') == ("partition", "a.b", "smt")
    for wrong in ("", "a..b", "a = 1\nb", "a b", "[a]", "a\n"):
        assert split_key(wrong) is None


scalars = st.one_of(
    st.booleans(),
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def leaves(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, (*path, key))]
    if isinstance(data, list):
        return [leaf for i, value in enumerate(data) for leaf in leaves(value, (*path, i))]
    return [(path, data)]


@given(st.dictionaries(names, values, max_size=4))
def test_what_is_written_reads_back_and_every_value_is_found(data: dict[str, Any]) -> None:
    text = to_toml(data)
    assert tomllib.loads(text) == data
    positions = find_positions(text)
    for path, value in leaves(data):
        spot = positions.spots[path]
        assert tomllib.loads(f"v = {text[spot.value : spot.end]}") == {"v": value}
