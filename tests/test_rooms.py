"""The rooms of the package: who may know whom, and no circles. Imports inside functions and those
for types alone count like all others.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "homenode"
MOST_ROOMS = 13
EVERYBODYS = ("errors", "later", "staging", "version", "_engine")
"""Files beside the rooms, which know none of them, and the compiled engine."""
ENGINE = "homenode._engine"
MAY_BE_LATE = ("cli", "homenode")
"""A command imports its room when it is called, the package's front what it is asked for."""


class Arrow(NamedTuple):
    """One module imports another."""

    start: str
    end: str
    line: int
    late: bool
    """Inside a function."""


@cache
def modules() -> dict[str, Path]:
    """All modules by their dotted name; a package stands for its `__init__`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules of ours that a statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "homenode")
    elif node.level == 0 and (node.module or "").split(".")[0] == "homenode":
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules() or inner == ENGINE else str(node.module)


def arrows_of(module: str) -> Iterator[Arrow]:
    tree = ast.parse(modules()[module].read_text(encoding="utf-8"))
    inside = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for end in imported(node):
                yield Arrow(module, end, node.lineno, node in inside)


@cache
def arrows() -> tuple[Arrow, ...]:
    return tuple(arrow for module in modules() for arrow in arrows_of(module))


def place(arrow: Arrow) -> str:
    path = modules()[arrow.start].relative_to(ROOT)
    return f"{path}:{arrow.line}: {arrow.start} -> {arrow.end}"


def room_of(module: str) -> str:
    """The room under the package's roof, or the file that lies beside the rooms."""
    return [*module.split("."), "homenode"][1]


@cache
def inside() -> str:
    """What ARCHITECTURE says of the package's inside."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split("## Inside the package", 1)[1].split("\n## ", 1)[0]


@cache
def stacked() -> dict[str, list[str]]:
    """By floor, its rooms and chief files as ARCHITECTURE stacks them, the lowest first."""
    table = inside().split("| floor |", 1)[1]
    rows = re.findall(r"^\| `([\w/]+)` \| (.*) \|$", table, flags=re.MULTILINE)
    return {floor: re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", names)) for floor, names in rows}


@cache
def may_know() -> dict[str, set[str]]:
    """What ARCHITECTURE's table of the rooms says."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", inside(), flags=re.MULTILINE)
    named = {room: set(re.findall(r"`(\w+)`", knows)) for room, knows in rows}
    everything = {room for room, knows in rows if knows == "all"}
    return {room: set(named) if room in everything else known for room, known in named.items()}


def test_the_rooms_are_those_of_architecture() -> None:
    rooms = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert rooms == set(may_know())


def test_each_room_knows_only_those_it_may() -> None:
    beside = {"homenode", "__main__", *EVERYBODYS}
    findings = [
        place(arrow)
        for arrow in arrows()
        if (start := room_of(arrow.start)) not in beside
        and (end := room_of(arrow.end)) not in {start, *EVERYBODYS}
        and end not in may_know()[start]
    ]
    assert not findings, "\n".join([*findings, "remedy: move inward what both need"])


def circles(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """What is left when all that nothing left points from, or to, is taken away."""
    left = set(graph) | {end for ends in graph.values() for end in ends}
    while True:
        ends = {end for start in left for end in graph.get(start, ()) if end in left}
        starts = {start for start in left if set(graph.get(start, ())) & left}
        if left == ends & starts:
            return sorted(left)
        left = ends & starts


def floors() -> dict[str, dict[str, set[str]]]:
    """By folder, who in it (a file or a whole folder) points to whom in it."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for arrow in arrows():
        if arrow.end == ENGINE:
            continue
        start, end = arrow.start.split("."), arrow.end.split(".")
        shared = 0
        while shared < min(len(start), len(end)) and start[shared] == end[shared]:
            shared += 1
        here = start[shared] if shared < len(start) else "__init__"
        there = end[shared] if shared < len(end) else "__init__"
        if here != there:
            found[".".join(start[:shared])][here].add(there)
    return found


def test_no_circle_on_any_floor() -> None:
    findings = [
        f"{floor}: {', '.join(c)}" for floor, graph in floors().items() if (c := circles(graph))
    ]
    assert not findings, "\n".join([*findings, "remedy: split what both ends need into a leaf"])


@pytest.mark.parametrize("floor", stacked())
def test_each_floor_stands_as_architecture_stacks_it(floor: str) -> None:
    names, folder = stacked()[floor], PACKAGE / floor
    graph = floors()[f"homenode.{floor.replace('/', '.')}"]
    there = {path.stem for path in folder.iterdir()}
    assert set(names) <= there, f"{floor} has no {sorted(set(names) - there)}"
    assert {path.name for path in folder.iterdir() if (path / "__init__.py").exists()} <= set(names)
    height = {name: number for number, name in enumerate(names)}
    upward = [
        f"{start} -> {end}"
        for start, ends in graph.items()
        for end in ends
        if start in height and height.get(end, -1) > height[start]
    ]
    assert not upward, f"{floor}: {', '.join(upward)}; remedy: correct the table, or the arrow"


def test_a_circle_would_be_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


def test_own_modules_are_imported_at_the_top() -> None:
    findings = [
        place(arrow) for arrow in arrows() if arrow.late and room_of(arrow.start) not in MAY_BE_LATE
    ]
    assert not findings, "\n".join([*findings, "remedy: import it at the top, or hand it over"])


@pytest.mark.parametrize("folder", sorted({path.parent for path in modules().values()}), ids=str)
def test_few_rooms_on_a_floor(folder: Path) -> None:
    rooms = [path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert len(rooms) <= MOST_ROOMS


def test_each_room_opens_with_a_page() -> None:
    for name in set(may_know()) - {"data"}:
        page = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text("utf-8")))
        assert page is not None
        assert "Entry point" in page, f"{name}: say what it answers and how it is entered"
        told = page.split("Knows ", 1)
        assert len(told) == 2, f"{name}: say what it may know"
        known = "all" if told[1].startswith("all") else set(re.findall(r"`(\w+)`", told[1]))
        every = set(may_know()) - {name}
        lacking = (may_know()[name] & every) - (every if known == "all" else set(known))
        assert not lacking, f"{name}: its page does not say that it knows {sorted(lacking)}"
