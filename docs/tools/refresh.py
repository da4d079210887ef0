"""Brings everything in the pages that comes from the program up to date: `make docs`.

With `--check` nothing is written; the pages that are out of date are named and the exit code is 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import gallery
import index
import notebook
import reference
import screens
import studies
import what_if
from blocks import Player

from homenode.model.scenario import schema

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def played_pages() -> list[Path]:
    """Pages whose blocks are run."""
    written = {DOCS / name for name in reference.pages()}
    return [
        ROOT / "README.md",
        *sorted(p for p in DOCS.rglob("*.md") if p not in written and p.parent != gallery.GALLERY),
    ]


def notebooks() -> list[Path]:
    """Notebooks that are run."""
    return sorted(DOCS.rglob("*.ipynb"))


def play(page: Path) -> str:
    """A page with its output as it is now."""
    with tempfile.TemporaryDirectory(prefix="homenode-page-") as folder:
        player = Player(str(page.relative_to(ROOT)), Path(folder))
        text = page.read_text(encoding="utf-8")
        return player.play(studies.front_page(text) if page in studies.WITH_ALL else text)


def run_notebook(page: Path) -> str:
    """A notebook with its outputs as they are now."""
    with tempfile.TemporaryDirectory(prefix="homenode-notebook-") as folder:
        return notebook.run(page, Path(folder))


def fresh() -> Iterator[tuple[Path, str]]:
    """Every file that holds something of the program's making, as it should be."""
    yield index.PLACE, index.index()
    yield schema.SCHEMA_FILE, schema.schema_text()
    for name, write in reference.pages().items():
        yield DOCS / name, write()
    for page, write in studies.pages().items():
        yield page, write()
    yield from screens.pictures().items()
    for page in played_pages():
        if page != what_if.PAGE:
            yield page, play(page)
    yield what_if.PAGE, what_if.page()
    for page, draw in gallery.pictures().items():
        kept = page.read_text(encoding="utf-8") if page.is_file() else ""
        drawn = draw()
        yield page, kept if gallery.says(kept) == gallery.says(drawn) else drawn
    for page in notebooks():
        yield page, run_notebook(page)


def main(arguments: list[str]) -> int:
    """Refresh, or check."""
    stale = []
    for page, text in fresh():
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            stale.append(page)
            if "--check" not in arguments:
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(text, encoding="utf-8")
    for page in stale:
        print(page.relative_to(ROOT))
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
