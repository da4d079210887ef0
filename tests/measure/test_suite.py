"""Suites: what is read, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path

import fake_adapter
import pytest
from fake_adapter import row, write_suite

from homenode.hosts import suite_file as suites
from homenode.hosts.adapters.registry import ADAPTERS, adapter
from homenode.hosts.errors import MeasureError

pytestmark = pytest.mark.anywhere


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_adapter.register(monkeypatch)


def test_rows_take_the_defaults_and_their_own(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path,
        row("one", "print(1)"),
        row("two", "print(2)", "repeats = 7\nseconds = 3\nload = 4\nprocessors = [1, 2, 2]"),
        defaults="repeats = 5\nseconds = 1.5\nwarm_up = true",
    )
    one, two = suites.load(str(path)).rows
    assert (one.id, one.repeats, one.seconds, one.warm_up) == ("fake/one", 5, 1.5, True)
    assert (two.repeats, two.seconds, two.processors) == (7, 3.0, (1, 2))
    assert two.case.load == 4.0
    assert one.processors == ()


def test_a_load_can_go_by_the_processors(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path,
        row("grows", "print(1)", "load_per_processor = 3\nprocessors = [1, 2]"),
        row("fixed", "print(1)", "load = 5"),
    )
    suite = suites.load(str(path))
    assert suite.grows

    def sizes(counts: list[int]) -> list[tuple[str, float, tuple[int, ...]]]:
        return [(r.case.name, r.case.load, r.processors) for r in suite.sized(counts, 8).rows]

    assert sizes([]) == [("grows", 3.0, (1,)), ("grows", 6.0, (2,)), ("fixed", 5.0, ())]
    assert sizes([4]) == [("grows", 12.0, (4,)), ("fixed", 5.0, (4,))]
    whole = suites.load(str(write_suite(tmp_path, row("one", "1", "load_per_processor = 2"))))
    assert [(r.case.load, r.processors) for r in whole.sized([], 8).rows] == [(16.0, (8,))]


def test_a_load_that_grows_too_large_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        "schema = 1\n[[case]]\nadapter = 'sockperf'\nname = 'x'\nload_per_processor = 8\n"
    )
    with pytest.raises(MeasureError, match=r"mine\.toml:2:3: .*'load' is 32"):
        suites.load(str(path)).sized([4], 4)


def test_cases_can_be_repeated_more_often(tmp_path: Path) -> None:
    suite = suites.load(str(write_suite(tmp_path, row("one", "1"), row("two", "2", "repeats = 7"))))
    assert [r.repeats for r in suite.repeated(6, 8).rows] == [8, 7]


def test_only_takes_adapters_and_cases(tmp_path: Path) -> None:
    suite = suites.load(str(write_suite(tmp_path, row("one", "1"), row("two", "2"))))
    assert [r.id for r in suite.only(["fake/two"])] == ["fake/two"]
    assert [r.id for r in suite.only(["fake"])] == ["fake/one", "fake/two"]
    assert suite.only([]) == suite.rows
    with pytest.raises(MeasureError, match=r"no fake/tow; did you mean fake/two"):
        suite.only(["fake/tow"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("schema = 1", r"mine\.toml:1:1: case is missing: write \[\[case\]\] in front of each"),
        ("schema = 2\n[[case]]", r":1:10: schema = 2: at most 1"),
        ("schema = 1\ncases = 1", r':2:1: unknown key "cases": did you mean case\?'),
        ("schema = 1\ncase = []\n[defaults]\nrepeat = 1", "did you mean repeats"),
        ("schema = ", r":1:10: this is not valid TOML"),
        ("schema = true\ncase = []", "schema = true: a whole number"),
        ("schema = 1\ncase = []\ndefaults = 5", "defaults = 5: a table is needed"),
        ("schema = 1\ncase = 5", r":2:8: case = 5: a list in brackets"),
        ("schema = 1\ncase = 'abc'", "a list in brackets"),
        ("schema = 1\ncase = [1, 2]", r":2:12: case number 2 = 2: a table is needed"),
        (
            "schema = 1\n[case]\nname = 'x'",
            r":2:2: case: a list is needed here; write \[\[case\]\]",
        ),
        ("schema = 1\ncase = []\nname = [1]", r"name = \[1\]: text in quotes"),
        ("schema = 1\ncase = []\ntitle = { a = 1 }", "text in quotes"),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = '../../etc/x'",
            r":4:8: case ../../etc/x: name = '../../etc/x': write up to",
        ),
        ("schema = 1\n\n[[case]]\nname = 'x'", r"mine\.toml:3:3: case x: adapter is missing"),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'",
            r"mine\.toml:2:3: case number 1: name is missing",
        ),
        ("schema = 1\n[[case]]\nadapter = 'fkae'\nname = 'x'", r":2:3: .*did you mean fake\?"),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nparameters = { speed = 1 }",
            r"mine\.toml:2:3: fake takes no speed",
        ),
        (
            "schema = 1\n" + 2 * "[[case]]\nadapter = 'fake'\nname = 'x'\nparameters = {}\n",
            r"mine\.toml:8:8: .*fake/x is there twice",
        ),
        ("schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nrepeats = 0", "repeats = 0"),
        ("schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nrepeats = 1.5", "whole number"),
        ("schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nseconds = '1'", "seconds = '1'"),
        ("schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nwarm_up = 1", "true or false"),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nprocessors = [0]",
            r":5:15: .* = 0: at least 1",
        ),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nparameters = 3",
            r":5:14: .*a table is",
        ),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nload = 2\nload_per_processor = 2",
            "has load and load_per_processor",
        ),
        (
            "schema = 1\n[[case]]\nadapter = 'fake'\nname = 'x'\nload_per_processor = 0.5",
            r":5:22: .*load_per_processor = 0.5: a whole number",
        ),
        (
            "schema = 1\n[[case]]\nadapter = 'duckdb'\nname = 'x'\nload_per_processor = 1",
            "knows no parameter 'load'",
        ),
    ],
)
def test_wrong_suites(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(body)
    with pytest.raises(MeasureError, match=message):
        suites.load(str(path))


def test_a_suite_that_is_not_there() -> None:
    with pytest.raises(MeasureError, match=r"no suite linux-quik; did you mean linux-quick\?"):
        suites.load("linux-quik")


def test_equal_suites_have_equal_sums(tmp_path: Path) -> None:
    first = suites.load(str(write_suite(tmp_path, row("one", "1")))).sha256
    assert suites.load(str(write_suite(tmp_path, row("one", "1")))).sha256 == first
    assert suites.load(str(write_suite(tmp_path, row("one", "2")))).sha256 != first


@pytest.mark.parametrize("name", suites.names())
def test_shipped_suites_can_be_read(name: str) -> None:
    suite = suites.load(name)
    assert suite.name == name
    assert suite.title
    for each in suite.rows:
        wanted = each.adapter.requires(each.case)
        assert all(need.package for need in wanted.needs)
        assert each.case.unit
        assert each.adapter.limit_s > each.seconds


PUBLISHED = {
    "simple syscall": ["getpid"],
    "simple read/write": ["read", "write"],
    "select of file descriptors": ["select"],
    "signal handler": ["signal-catch"],
    "process fork": ["fork-exit"],
    "libc bcopy aligned": ["copy-{}"],
    "libc bcopy unaligned": ["copy-unaligned-{}"],
    "memory bzero": ["zero-{}"],
    "memory partial read": ["partial-read-{}"],
    "memory partial read/write": ["partial-read-write-{}"],
    "memory partial write": ["partial-write-{}"],
    "memory read": ["read-{}"],
    "memory write": ["write-{}"],
    "Mmap read": ["file-map-{}"],
    "Mmap read open2close": ["file-map-open-{}"],
    "Read": ["file-read-{}"],
    "Read open2close": ["file-read-open-{}"],
    "Unrolled bcopy unaligned": ["unrolled-copy-unaligned-{}"],
    "Unrolled partial bcopy unaligned": ["partial-copy-unaligned-{}"],
    "mappings": ["mapping-6m"],
}
"""Rows of the published comparison by lmbench, and the cases of `kernels` that measure them."""


@pytest.mark.parametrize("published", PUBLISHED)
def test_each_published_row_of_lmbench_is_measured_in_the_full_suite(published: str) -> None:
    rows = {each.id: each.case for each in suites.load("linux-full").rows}
    for name in PUBLISHED[published]:
        for size in ("24k", "512k", "6m", "128m"):
            case = rows[f"kernels/{name.format(size)}"]
            offset = 8 if "unaligned" in published else 0
            assert case.parameters.get("offset", 0) == offset


def test_every_adapter_is_in_the_quick_suite() -> None:
    shipped = {name for name in ADAPTERS if name != "fake"}
    assert {each.adapter.name for each in suites.load("linux-quick").rows} == shipped


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_adapters_are_named_as_registered(name: str) -> None:
    made = adapter(name)
    assert made.name == name
    assert made.title
    assert made.stands_for


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "ls").write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(MeasureError, match="not UTF-8"):
        suites.load(str(tmp_path / "ls"))
