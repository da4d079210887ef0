"""Fenced blocks of a page: files to write, commands with their output, Python to run.

A page is worked through from top to bottom in an empty folder of its own:

- ```` ```toml title="two.toml" ```` (any language but Rust) writes that file;
- ```` ```rust title="crates/.../mod.rs" ```` holds that file of the repository as it is, and with
  `mod.rs: macro_rules! some` what begins with these words in it;
- ```` ```console ```` holds commands after `$ ` and, beneath each, what it prints;
- ```` ```sh ```` holds commands whose output is not shown; only `homenode` ones are run;
- ```` ```python ```` runs in one namespace for the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(
    r"^```(?P<kind>\w+)(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r'title="([^"]+)"')
_ROOT = Path(__file__).resolve().parents[2]


class PageError(Exception):
    """A block of a page does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    kind: str
    info: str
    body: str
    start: int
    """Offset of the body in the page."""

    @property
    def title(self) -> str | None:
        """File name the block stands for."""
        found = _TITLE.search(self.info)
        return found.group(1) if found else None


def blocks(text: str) -> Iterator[Block]:
    """All fenced blocks with a language, in order."""
    for match in _FENCE.finditer(text):
        yield Block(match["kind"], match["info"], match["body"], match.start("body"))


@dataclass
class Player:
    """Plays one page in a folder."""

    page: str
    folder: Path
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})

    def play(self, text: str) -> str:
        """The page with the output of its console blocks as it is now."""
        parts, end = [], 0
        for block in blocks(text):
            body = self._block(block)
            parts += [text[end : block.start], body]
            end = block.start + len(block.body)
        return "".join([*parts, text[end:]])

    def _block(self, block: Block) -> str:
        if block.title and block.kind == "rust":
            return source(*block.title.split(": ", 1))
        if block.title:
            (self.folder / block.title).write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            return self._console(block.body)
        elif block.kind == "sh":
            for line in block.body.splitlines():
                if line.startswith("homenode "):
                    self._command(line)
        elif block.kind == "python":
            self._python(block.body)
        return block.body

    def _console(self, body: str) -> str:
        commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{self._command(command)}" for command in commands)

    def _command(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if words[0] == "cat":
            return "".join((self.folder / name).read_text("utf-8") for name in words[1:])
        if words[0] != "homenode":
            raise PageError(f"{self.page}: only homenode commands are played, not {words[0]}")
        code, answer, remarks = homenode(words[1:], self.folder)
        if code != 0 and "# exit" not in line:
            raise PageError(f"{self.page}: `{line}` ended with {code}\n{remarks}")
        shown = answer if code == 0 else remarks
        return "".join(f"{printed.rstrip()}\n" for printed in shown.splitlines())

    def _python(self, body: str) -> None:
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(body, self.page, "exec"), self.names)  # noqa: S102 - our own page


def source(name: str, item: str | None = None) -> str:
    """A file of the repository, or an item of it with the comments above."""
    text = (_ROOT / name).read_text(encoding="utf-8")
    if item is None:
        return text
    whole = rf"^(?://[^\n]*\n)*{re.escape(item)}.*?^\}}\n"
    found = re.search(whole, text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise PageError(f"{name} has nothing that begins with {item}")
    return found[0]


def homenode(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, answer and remarks of a command; called in this process, which saves its start."""
    from homenode.cli import call

    answer, remarks = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        plain_surroundings(),
        contextlib.redirect_stdout(answer),
        contextlib.redirect_stderr(remarks),
    ):
        code = call(words)
    return code, answer.getvalue(), remarks.getvalue()


@contextlib.contextmanager
def plain_surroundings() -> Iterator[None]:
    """Surroundings in which output is plain and of one width everywhere."""
    plain = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb", "TYPER_USE_RICH": "0"}
    before = dict(os.environ)
    os.environ.update(plain)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
