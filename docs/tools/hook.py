"""Hook of the site builder: the documents at the repository's root become pages too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
HOISTED = (
    "README.md",
    "ARCHITECTURE.md",
    "DESIGN.md",
    "GLOSSARY.md",
    "SUPPORT.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)


def on_files(files: Files, config: Any) -> Files:
    """Add the root documents; the README is the front page."""
    for name in HOISTED:
        target = "index.md" if name == "README.md" else name
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, target, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links that leave docs/ for a root document stay inside the site."""
    up = page.file.src_uri.count("/")

    def inside(match: re.Match[str]) -> str:
        target = "index.md" if match["name"] == "README.md" else match["name"]
        return f"]({'../' * up}{target}"

    names = "|".join(map(re.escape, HOISTED))
    markdown = re.sub(rf"\]\((?:\.\./)*(?P<name>{names})", inside, markdown)
    # What is not a page of the site (sources, data files) is named, not linked.
    outside = rf"\[([^\]]+)\]\((?:\.\./){{{up + 1}}}(?:\w[^)]*)\)"
    return re.sub(outside, r"\1", markdown)
