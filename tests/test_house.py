"""The house rules that a machine can see. Each failure names file, line and remedy."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FILE_LINES = 600
FUNCTION_LINES = 70
COLUMNS = 100

DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "DESIGN.md",
    "GLOSSARY.md",
    "SUPPORT.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "LICENSE-MIT",
    "LICENSE-APACHE",
)

# An address, or a message of an error attribute: rustfmt leaves them long too.
UNBREAKABLE = re.compile(r"https?://|^\s*#\[error\(")

# Written in pieces, so that this file is not its own finding.
LEFT_OPEN = re.compile(
    "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "un" + "implemented!", "to" + r"do!\("))
    + "|"
    + "|".join(("NotImplemented" + "Error", "mark." + "xfail", r"#\[ig" + r"nore\]"))
)
NOT_OURS = re.compile(
    r"/(?:wo" + r"rk|fa" + r"rm|ro" + r"ot)/|[.]lib" + r"rary/|/tmp/con" + "tract"
    r"|py" + r"pi\.org|python" + r"hosted|index\.cra" + r"tes\.io|static\.cra" + r"tes\.io"
    r"|(?i:\bis" + r"sue \d|\bpull request #\d)"
)

# What each folder of the engine may use of the others (ARCHITECTURE.md, "Inside the engine").


@cache
def files() -> tuple[Path, ...]:
    """All files that are, or are about to be, part of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:  # an unpacked archive: all but what the build makes
        made = {"target", "site", "runs", "out", "__pycache__"}
        found = [
            path
            for path in ROOT.rglob("*")
            if not any(p in made or p.startswith(".") for p in path.relative_to(ROOT).parts[:-1])
        ]
    return tuple(sorted(path for path in found if path.is_file()))


def sources(*suffixes: str) -> list[Path]:
    return [path for path in files() if path.suffix in suffixes]


def lines(path: Path) -> Iterator[tuple[int, str]]:
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


def text_lines() -> Iterator[tuple[Path, int, str]]:
    """Every line of every text file that people write."""
    for path in files():
        if path.name in {"Cargo.lock", "LICENSE-APACHE"}:
            continue
        try:
            yield from ((path, number, line) for number, line in lines(path))
        except UnicodeDecodeError:
            continue


def report(findings: list[str], remedy: str) -> None:
    assert not findings, "\n".join([*findings, f"remedy: {remedy}"])


def place(path: Path, number: int) -> str:
    return f"{path.relative_to(ROOT)}:{number}"


def test_files_stay_readable() -> None:
    findings = [
        f"{place(path, count)}: {count} lines"
        for path in sources(".py", ".rs", ".js", ".css")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES
    ]
    report(findings, f"a room is missing: split by subject, below {FILE_LINES} lines")


def python_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of each function, without its docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            start = node.lineno
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                start += (first.end_lineno or first.lineno) - first.lineno + 1
            yield node.name, node.lineno, (node.end_lineno or start) - start + 1


def rust_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of each function; rustfmt puts the closing brace under `fn`."""
    opened: list[tuple[str, int, str]] = []
    for number, line in lines(path):
        start = re.match(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?fn (\w+)", line)
        if start and not line.rstrip().endswith((";", "}")):
            opened.append((start.group(2), number, start.group(1)))
        elif opened and line.rstrip() in {opened[-1][2] + "}", opened[-1][2] + ";"}:
            name, first, _ = opened.pop()
            yield name, first, number - first + 1


def test_functions_stay_readable() -> None:
    findings = []
    # A compiled loop of a peer program stands in one piece, as its users write it.
    peers = ROOT / "benches" / "peers"
    for path in (p for p in sources(".py", ".rs") if peers not in p.parents):
        functions = python_functions if path.suffix == ".py" else rust_functions
        for name, number, count in functions(path):
            if count > FUNCTION_LINES:
                findings.append(f"{place(path, number)}: `{name}` has {count} lines")
    report(findings, f"branch in the parent, compute in helpers, below {FUNCTION_LINES} lines")


def test_lines_fit() -> None:
    findings = [
        f"{place(path, number)}: {len(line)} columns"
        for path in sources(".py", ".rs")
        for number, line in lines(path)
        if len(line) > COLUMNS and not UNBREAKABLE.search(line)
    ]
    report(findings, f"break the line at {COLUMNS} columns")


def test_nothing_is_left_open() -> None:
    findings = [
        f"{place(path, number)}: {line.strip()[:80]}"
        for path, number, line in text_lines()
        if path.suffix in {".py", ".rs", ".toml"} and LEFT_OPEN.search(line)
    ]
    report(findings, "do it, or write down what is missing in SUPPORT.md")


def test_no_word_of_where_it_was_made() -> None:
    findings = [
        f"{place(path, number)}: {line.strip()[:80]}"
        for path, number, line in text_lines()
        if NOT_OURS.search(line)
    ]
    report(findings, "name no registry host, no path of one machine, no ticket")


def test_root_documents_are_there() -> None:
    missing = [name for name in DOCUMENTS if not (ROOT / name).is_file()]
    assert not missing


def rust_path_exists(path: str) -> bool:
    """Whether `sim::run` is a function of the engine's folder or file `sim`."""
    *modules, function = path.split("::")
    folder = ROOT / "crates" / "engine" / "src" / "/".join(modules)
    candidates = [folder.with_suffix(".rs"), *folder.rglob("*.rs")]
    pattern = re.compile(rf"\bfn {function}\b")
    return any(pattern.search(file.read_text("utf-8")) for file in candidates if file.is_file())


def six_stops() -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = text.split("## From command to event", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d\. `([^`]+)`", block, flags=re.MULTILINE)


def test_the_six_stops_exist() -> None:
    from homenode import _engine, cli
    from homenode.simulate import scenario

    stops = six_stops()
    assert stops == [
        "homenode.cli.main",
        "homenode.simulate.scenario.load",
        "homenode._engine.simulate",
        "crates/python/src/lib.rs: simulate",
        "homenode_engine::sim::run",
        "homenode_engine::kernel::step",
    ]
    assert callable(cli.main)
    assert callable(scenario.load)
    assert callable(_engine.simulate)
    bindings = (ROOT / "crates/python/src/lib.rs").read_text(encoding="utf-8")
    assert re.search(r"\bfn simulate\b", bindings)
    assert rust_path_exists("sim::run")
    assert rust_path_exists("kernel::step")


def test_arrows_point_inward() -> None:
    findings = []
    for crate in ("engine", "captures"):
        other = {"engine": "homenode_captures", "captures": "homenode_engine"}[crate]
        for path in sources(".rs"):
            if (ROOT / "crates" / crate) in path.parents:
                text = path.read_text(encoding="utf-8")
                findings += [f"{place(path, 1)}: {w}" for w in (other, "pyo3") if w in text]
    report(findings, "move what both need inward, or hand it over as a value")


def test_requirements_are_pinned_by_hash_and_name_no_host() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        pins = re.findall(r"^[A-Za-z0-9_.-]+==", text, flags=re.MULTILINE)
        blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
        assert len(pins) == len(blocks), path.name
        assert all("--hash=sha256:" in block for block in blocks), path.name
        assert "://" not in text, path.name


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    for dependency in project["dependencies"]:
        name = re.split(r"[><=!~\[ ]", dependency)[0]
        assert re.search(rf"^{re.escape(name)}==", pinned, flags=re.MULTILINE), (
            f"{dependency}: run `make lock`"
        )


def relative_links(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in lines(path):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
            if "://" not in target and not target.startswith("mailto:"):
                yield number, target


def test_links_between_pages_lead_somewhere() -> None:
    findings = [
        f"{place(path, number)}: {target}"
        for path in sources(".md")
        for number, target in relative_links(path)
        if not (path.parent / target).exists()
    ]
    report(findings, "correct the link")


def commands(path: Path, program: str) -> list[list[str]]:
    """Commands of that program in the page's shell blocks."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|console)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = []
    for line in "\n".join(blocks).splitlines():
        words = line.removeprefix("$ ").split("#")[0].split()
        if words and words[0] == program:
            found.append(words[1:])
    return found


def test_the_readme_names_its_two_commands() -> None:
    targets = [words[0] for words in commands(ROOT / "README.md", "make")]
    assert "demo" in targets
    assert "test" in targets


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_of_the_pages_exist(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, flags=re.MULTILINE))
    for words in commands(ROOT / page, "make"):
        assert words[0] in targets, f"{page}: make {words[0]}"


def test_continuous_integration_runs_the_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o100, "chmod +x .ci/run"
    assert "make check" in script.read_text(encoding="utf-8")
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ncheck:", 1)[1]
    assert "test" in recipe.split("\n\n", 1)[0]


def test_support_lists_the_columns_that_are_not_computed() -> None:
    from homenode.tools import mpstat, vmstat

    text = (ROOT / "SUPPORT.md").read_text(encoding="utf-8")
    missing = re.findall(r"^- \[ \] `([^`]+)`: 0", text, flags=re.MULTILINE)
    assert " ".join(mpstat.NOT_MODELLED) in missing
    assert " ".join(vmstat.NOT_MODELLED) in missing


FILLERS = frozenset({"", "the", "a", "an", "of", "its", "it", "one", "this", "is", "all", "and"})
RUST_ITEM = re.compile(
    r"(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*"
    r"(?:(?:fn|struct|enum|trait|const|static|type|mod|union) (?:r#)?(\w+)"
    r"|(?:r#)?(\w+)(?=[:,({ ]|$))"
)
RUST_OWNER = re.compile(r"(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|impl(?:<.*?>)?) (.*)")


def words(text: str) -> set[str]:
    """The words of a name or a sentence without fillers, in the singular."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)
    found = {part.lower() for part in parts} - FILLERS
    return {word if word.endswith("ss") or len(word) < 4 else word.rstrip("s") for word in found}


def python_docs(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, name with its class, and text of the docs of classes, functions and attributes."""

    def inside(node: ast.AST, owner: str) -> Iterator[tuple[int, str, str]]:
        body: list[ast.stmt] = getattr(node, "body", [])
        for before, one in zip([None, *body], body, strict=False):
            if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(one)
                if text is not None:
                    yield one.body[0].lineno, f"{owner} {one.name}", text
                yield from inside(one, one.name if isinstance(one, ast.ClassDef) else owner)
            elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                named = before.target if isinstance(before, ast.AnnAssign) else None
                if isinstance(before, ast.Assign):
                    named = before.targets[0]
                if isinstance(named, ast.Name) and isinstance(one.value.value, str):
                    yield one.lineno, f"{owner} {named.id}", one.value.value

    yield from inside(ast.parse(path.read_text(encoding="utf-8")), "")


def rust_docs(path: Path) -> Iterator[tuple[int, str, str]]:
    """The same of a Rust file; rustfmt sets what belongs to something further in."""
    owners: list[tuple[int, str]] = []
    text, first = "", 0
    for number, line in lines(path):
        bare, depth = line.strip(), len(line) - len(line.lstrip())
        if bare.startswith("///"):
            text, first = f"{text} {bare[3:]}", first or number
            continue
        if not bare or bare.startswith(("#", "//")):
            continue
        owners = [one for one in owners if one[0] < depth]
        item = RUST_ITEM.match(bare)
        if text and item:
            yield first, f"{owners[-1][1] if owners else ''} {item[1] or item[2]}", text
        owner = RUST_OWNER.match(bare)
        if owner:
            owners.append((depth, owner[1]))
        text, first = "", 0


def test_docs_say_more_than_the_name() -> None:
    """With the name of the class or type that the item belongs to."""
    findings = [
        f"{place(path, number)}: {' '.join(text.split())!r} of {name.split()[-1]}"
        for path in sources(".py", ".rs")
        if ROOT / "tests" not in path.parents
        for number, name, text in (python_docs if path.suffix == ".py" else rust_docs)(path)
        if words(text) <= words(name)
    ]
    report(findings, "say what it means, in which unit, for whom; or leave the docstring out")
