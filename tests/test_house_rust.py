"""No file or folder of a crate uses, by whatever way round, one that uses it, and folders of the
engine use those that ARCHITECTURE says. A file's own tests are left out: they look at the whole
from outside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Characters, texts and comments, raw texts first; what stands in them is no use of a file.
NO_CODE = re.compile(
    r'b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'|//[^\n]*|/\*.*?\*/',
    re.DOTALL,
)
SEEN_IN = re.compile(r"\bpub\(in [^)]*\)")
"""How far a name is seen: it says a place and uses nothing of it."""
TEST_BLOCK = re.compile(r"#\[cfg\([^\]]*\btest\b[^\]]*\)\]\s*(?:pub )?mod \w+ \{")
DECLARED = re.compile(r"\bmod (\w+);")
USE = re.compile(r"\buse ([^;]+);")
PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")

Module = tuple[str, ...]

CRATES = ("captures", "engine", "kernels", "python")
EVERYBODYS = {"spec", "ids"}
"""The engine's frozen input and what numbers its parts."""
STANDING = {
    "engine/src/sim": {"world", "system", "rows", "windows", "zvm"},
}
"""Who is in a circle still, by folder: nobody may join, and who is out is struck off."""


def code(text: str) -> str:
    """The text without comments, texts and its own tests, which look at the whole from outside."""
    text = SEEN_IN.sub("pub", NO_CODE.sub(" ", text))
    while block := TEST_BLOCK.search(text):
        depth, end = 1, block.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[: block.start()] + text[end:]
    return text


def split(tree: str) -> Iterator[str]:
    """The branches of a use tree, cut at the commas that stand in no braces."""
    depth = start = 0
    for place, letter in enumerate(tree):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield tree[start:place]
            start = place + 1
    yield tree[start:]


def leaves(tree: str, before: Module = ()) -> Iterator[tuple[Module, str]]:
    """Each path of a use tree, with the name that it gets."""
    head, brace, rest = tree.strip().partition("{")
    if brace:
        stem = (*before, *filter(None, head.strip().split("::")))
        for branch in split(rest[: rest.rindex("}")]):
            if branch.strip():
                yield from leaves(branch, stem)
        return
    path, _, name = tree.strip().partition(" as ")
    steps = (*before, *filter(None, path.strip().split("::")))
    if steps[-1] == "self":
        steps = steps[:-1]
    yield steps, name.strip() or steps[-1]


def modules(source: Path) -> dict[Module, Path]:
    """The modules that `lib.rs` declares, and those that they declare, each with its file."""
    found: dict[Module, Path] = {(): source / "lib.rs"}
    waiting: list[Module] = [()]
    while waiting:
        module = waiting.pop()
        for child in DECLARED.findall(code(found[module].read_text(encoding="utf-8"))):
            name = (*module, child)
            stem = source.joinpath(*name)
            found[name] = next(p for p in (stem.with_suffix(".rs"), stem / "mod.rs") if p.is_file())
            waiting.append(name)
    return found


def resolved(path: Module, here: Module, known: dict[Module, Path]) -> Module | None:
    """The module that a path leads into, or none where it leads out of the crate."""
    first, *rest = path
    if first == "crate":
        at: Module = ()
    elif first == "self":
        at = here
    elif first == "super":
        at = here[:-1]
    elif (*here, first) in known:
        at = (*here, first)
    else:
        return None
    for step in rest:
        if step == "super":
            at = at[:-1]
        elif (*at, step) in known:
            at = (*at, step)
        else:
            break
    return at


def uses(module: Module, known: dict[Module, Path]) -> set[Module]:
    """The other modules whose names a module's file says."""
    text = code(known[module].read_text(encoding="utf-8"))
    reached: set[Module] = set()
    names: dict[str, Module] = {}
    for tree in USE.findall(text):
        for path, name in leaves(tree):
            if (into := resolved(path, module, known)) is not None:
                reached.add(into)
                if into[-1:] == path[-1:]:
                    names[name] = into
    for found in PATH.findall(USE.sub(" ", text)):
        path = tuple(found.split("::"))
        if path[0] in names:
            path = ("crate", *names[path[0]], *path[1:])
        if (into := resolved(path, module, known)) is not None:
            reached.add(into)
    return reached - {module}


def circles(arrows: Mapping[Module, set[Module]]) -> list[list[Module]]:
    """The groups of modules of which each reaches each."""
    far: dict[Module, set[Module]] = {}
    for start in arrows:
        seen, waiting = set[Module](), [start]
        while waiting:
            for into in arrows[waiting.pop()] - seen:
                seen.add(into)
                waiting.append(into)
        far[start] = seen
    groups = {tuple(sorted(o for o in far[m] if m in far[o])) for m in arrows if m in far[m]}
    return [list(group) for group in sorted(groups)]


def floors(arrows: Mapping[Module, set[Module]]) -> dict[Module, dict[Module, set[Module]]]:
    """By folder, who in it (a file or a whole folder) uses whom in it."""
    found: dict[Module, dict[Module, set[Module]]] = defaultdict(lambda: defaultdict(set))
    for start, ends in arrows.items():
        for end in ends:
            shared = 0
            while shared < min(len(start), len(end)) and start[shared] == end[shared]:
                shared += 1
            here, there = (((*path, "mod")[shared],) for path in (start, end))
            floor = found[start[:shared]]
            floor[here].add(there)
            floor[there] |= set()
    return found


@cache
def drawn(source: Path) -> tuple[dict[Module, Path], dict[Module, set[Module]]]:
    """The modules of a crate with their files, and what each uses."""
    known = modules(source)
    return known, {module: uses(module, known) for module in known}


@pytest.mark.parametrize("crate", CRATES)
def test_nobody_uses_one_that_uses_it(crate: str) -> None:
    source = ROOT / "crates" / crate / "src"
    _, arrows = drawn(source)
    found = {
        f"{crate}/{'/'.join(('src', *folder))}": {n for circle in circles(graph) for (n,) in circle}
        for folder, graph in floors(arrows).items()
    }
    standing = {folder: who for folder, who in STANDING.items() if folder.startswith(f"{crate}/")}
    findings = [
        f"crates/{folder}: {', '.join(sorted(who ^ standing.get(folder, set())))}"
        for folder, who in ({key: set[str]() for key in standing} | found).items()
        if who != standing.get(folder, set())
    ]
    assert not findings, "\n".join([*findings, "remedy: move what both need into a file beneath"])


@pytest.mark.parametrize("crate", CRATES)
def test_every_file_is_on_the_drawing(crate: str) -> None:
    source = ROOT / "crates" / crate / "src"
    rest = set(source.rglob("*.rs")) - set(drawn(source)[0].values())
    # But for those of a file's own tests, which look at the whole from outside.
    rest = {path for path in rest if path.name != "tests.rs"}
    assert not {str(path.relative_to(ROOT / "crates")) for path in rest}


def rows() -> dict[str, set[str]]:
    """By folder of the engine, those that it knows as ARCHITECTURE says."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Inside the engine", 1)[1].split("\n\n", 3)[2]
    found = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", table, flags=re.MULTILINE))
    return {
        folder: set(found) if knows == "all" else set(re.findall(r"\w+", knows))
        for folder, knows in found.items()
    }


def test_folders_of_the_engine_know_those_of_their_row() -> None:
    _, arrows = drawn(ROOT / "crates" / "engine" / "src")
    graph = floors(arrows)[()]
    assert {name for (name,) in graph} - {"mod"} <= set(rows()) | EVERYBODYS
    findings = [
        f"{here} knows {there}"
        for (here,), ends in graph.items()
        for (there,) in sorted(ends)
        if here != "mod" and there not in rows().get(here, set()) | EVERYBODYS
    ]
    assert not findings, "\n".join([*findings, "remedy: correct the row, or the arrow"])


def test_one_file_of_the_reports_names_the_tools() -> None:
    _, arrows = drawn(ROOT / "crates" / "captures" / "src")
    tools = {(name,) for name in ("lparstat", "lssrad", "mpstat", "sar", "vmstat")}
    assert tools <= set(arrows)
    who = {module for module in arrows if module[:1] == ("reports",) and arrows[module] & tools}
    assert who == {("reports", "tools")}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("uses", "found"),
    [
        ("use super::b::Thing;", True),
        ("use crate::b::{self, Thing as Other};", True),
        ("use crate::{\n    b::{deep::Deeper},\n    c,\n};", True),
        ("fn f() { crate::b::thing(); }", True),
        ("use crate::c;", False),
        ("// use crate::b::Thing;", False),
        ('const TEXT: &str = "crate::b::thing()";', False),
        ("#[cfg(test)]\nmod tests {\n    use crate::b::Thing;\n}", False),
        ("use std::b::Thing;", False),
    ],
)
def test_a_circle_is_found_however_it_is_written(tmp_path: Path, uses: str, found: bool) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a.rs": uses,
        "b/mod.rs": "mod deep;\nuse crate::a::Thing;\n",
        "b/deep.rs": "use super::super::a;\nfn f() { a::thing(); }\n",
        "c.rs": "",
    }
    _, arrows = drawn(written(tmp_path, files))
    assert bool(circles(arrows)) == found
    assert arrows["b",] == arrows["b", "deep"] == {("a",)}


def test_a_child_that_uses_what_its_parent_says_is_a_circle(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\n",
        "a/mod.rs": "mod b;\npub use b::Thing;\npub struct Own;\n",
        "a/b.rs": "use super::Own;\n",
    }
    _, arrows = drawn(written(tmp_path, files))
    assert circles(arrows) == [[("a",), ("a", "b")]]


def test_folders_whose_files_use_each_other_are_a_circle(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\n",
        "a/mod.rs": "mod c;\nmod d;\n",
        "a/c.rs": "use crate::b::Thing;\n",
        "a/d.rs": "",
        "b.rs": "use crate::a::d::Thing;\n",
    }
    _, arrows = drawn(written(tmp_path, files))
    assert circles(arrows) == []
    assert circles(floors(arrows)[()]) == [[("a",), ("b",)]]
