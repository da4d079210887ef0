"""Parameters of suites' rows for the kernels, the mixes, the programs and Java."""

from __future__ import annotations

import pytest

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere

Given = dict[str, str | int | float | bool]
NAMED = {
    "kernels": "pipe",
    "loops": "four",
    "dbench": "disk",
    "tbench": "loopback",
    "stressng": "compute",
    "hackbench": "sockets",
    "integer": "gcc",
    "floating": "povray",
    "jmh": "warehouses",
}


@pytest.mark.parametrize("name", NAMED)
def test_a_name_says_what_is_meant_and_defaults_stand_in_the_case(name: str) -> None:
    one = adapter(name)
    assert one.name == name
    case = one.case(NAMED[name], {})
    assert case.better in {"higher", "lower"}
    assert one.case(NAMED[name], dict(case.parameters)) == case
    wanted = one.requires(case)
    assert not wanted.root
    assert all(need.package and not need.plug_in for need in wanted.needs)


@pytest.mark.parametrize("name", NAMED)
def test_unknown_parameters_are_refused_with_the_nearest(name: str) -> None:
    one = adapter(name)
    known = min(one.case(NAMED[name], {}).parameters)
    with pytest.raises(MeasureError) as caught:
        one.case(NAMED[name], {f"{known}x": 1})
    assert f"{name}/{NAMED[name]}" in str(caught.value)
    assert known in str(caught.value)


@pytest.mark.parametrize(
    ("name", "case", "given", "words"),
    [
        ("kernels", "nothing", {}, "one of getpid"),
        ("kernels", "context", {"load": 1}, "from 2 to 256"),
        ("kernels", "memory", {"operation": "red"}, "read, write"),
        ("kernels", "memory", {"bytes": 12}, "from 1024"),
        ("kernels", "chase", {"chains": 3}, "1, 2, 4, 8, 12"),
        ("kernels", "chase", {"pages": "1g"}, "small, huge"),
        ("kernels", "memory", {"operation": "copy", "offset": 4}, "0, 8, 16"),
        ("kernels", "memory", {"operation": "zero", "offset": 8}, "of a copy only"),
        ("kernels", "file", {"way": "guess"}, "read, map"),
        ("kernels", "mapping", {"opened": "each"}, "knows no parameter 'opened'"),
        ("loops", "x", {"load": 0}, "from 1 to 4096"),
        ("dbench", "x", {"on": "tape"}, "disk, memory"),
        ("stressng", "x", {}, "fserver, new-db, compute"),
        ("hackbench", "x", {"over": "air"}, "sockets, pipes"),
        ("integer", "x", {}, "perl, bzip2"),
        ("integer", "gcc", {"size": "huge"}, "small, large"),
        ("jmh", "x", {"warm_up_s": 0}, "from 1 to 600"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, case: str, given: Given, words: str) -> None:
    with pytest.raises(MeasureError) as caught:
        adapter(name).case(case, given)
    assert words in str(caught.value)


def test_servers_that_listen_everywhere_get_a_network_of_their_own() -> None:
    one = adapter("tbench")
    assert one.requires(one.case("x", {})).network_namespace


def test_files_take_room_where_they_lie() -> None:
    one = adapter("dbench")
    disk = one.requires(one.case("x", {"load": 4}))
    memory = one.requires(one.case("x", {"load": 4, "on": "memory"}))
    assert (disk.disk_bytes, disk.memory_bytes) == (128 << 20, 0)
    assert (memory.disk_bytes, memory.memory_bytes) == (0, 128 << 20)


def test_buffers_of_all_threads_take_memory() -> None:
    one = adapter("kernels")
    given: Given = {"kernel": "chase", "bytes": 1 << 20, "load": 3}
    assert one.requires(one.case("x", given)).memory_bytes == 3 << 20


def test_a_file_takes_room_on_the_disk_and_in_memory() -> None:
    one = adapter("kernels")
    wanted = one.requires(one.case("file", {"bytes": 1 << 20}))
    assert (wanted.disk_bytes, wanted.memory_bytes) == (1 << 20, 1 << 20)
