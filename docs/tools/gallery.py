"""The pictures of the pages: those that are kept, and the gallery of every chart from real runs,
which `make docs` builds into docs/gallery/ (kept out of the sources).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any

from homenode.cli import call
from homenode.evidence.study import list_studies, load_study, recorded_outcome
from homenode.hosts.recorded import copy_to
from homenode.report.pictures import drawing
from homenode.report.study_pictures import trust_picture

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
TRUST = ROOT / "docs" / "img" / "trust.svg"
FRONT = ROOT / "docs" / "img" / "front.svg"
EXAMPLES = ROOT / "examples"
FRAME = EXAMPLES / "p795-shared-book.toml"
WAITING = EXAMPLES / "linux-groups.toml"
"""One in which partitions wait for a core."""
_MOST_ROWS = 60

DRAWN = {
    "The machine with a run on it": ["show", "p795-shared-book"],
    "Cores over time, and responses": ["show", "p795-shared-book", "--over-time"],
    "Responses and waits for a core": ["show", "linux-groups", "--over-time"],
    "Who was on which core": [
        "show", "p795-shared-book", "--dispatches", "3 s", "--lasting", "20 ms",
    ],
    "Where the cores of all partitions went": ["explain", "p795-shared-book"],
    "Where the cores of a partition went": ["explain", "p795-shared-book:lpar1"],
    "What one pays more than the other": [
        "explain", "p795-shared-book:lpar1", "p795-shared-book:lpar2",
    ],
    "A sweep of two things": [
        "sweep", str(EXAMPLES / "sweep-virtual-processors.toml"), "-n", "2", "--show",
        "physc,response_ms_p95",
    ],
    "Advice, before and after": ["advise", str(FRAME), "--no-simulate", "--time", "5 s"],
    "Headroom over days": [
        "consolidate", "use.csv", "--onto", "ibm-power-e1080", "--cores", "12",
        "--from", "*=ibm-power-770",
    ],
    "Capability of a mainframe's partition": ["partition-table", "z14"],
    "How a z/VM partition scales": [
        "scaling", str(EXAMPLES / "zvm-monolith.toml"), "--processors", "10,20,40", "-n", "1",
    ],
    "Published and simulated": ["study", "z14-caf"],
    "One host against another": ["measure", "compare", "old.json", "new.json"],
    "What comes out under each load": ["measure", "show", "new.json"],
    "A study of several sizes": ["study", "zvm-80-memory-rich"],
}  # fmt: skip
"""Each chart's command."""


def pictures() -> dict[Path, Callable[[], str]]:
    """Pictures that are kept, and who draws them."""
    return {FRONT: front, TRUST: trust}


def trust() -> str:
    """Of all studies, from what is written down of them."""
    return drawing(trust_picture([recorded_outcome(load_study(one)) for one in list_studies()]))


def front() -> str:
    """What `make demo` draws."""
    with tempfile.TemporaryDirectory(prefix="homenode-front-") as folder:
        _done(["demo", "--pictures", folder, "--out", f"{folder}/runs"])
        return Path(folder, "p795.svg").read_text(encoding="utf-8")


def says(picture: str) -> str:
    """What a drawing says in words: all that does not depend on the fonts of the machine."""
    found = re.search(r'aria-label="([^"]*)"', picture)
    return unescape(found[1]) if found else ""


@contextlib.contextmanager
def _made(*commands: list[str]) -> Iterator[Path]:
    """A folder in which the example was run, its dispatches written down, and commands drew, by
    number.
    """
    with tempfile.TemporaryDirectory(prefix="homenode-gallery-") as name, contextlib.chdir(name):
        told = FRAME.read_text().replace("[run]", "[run]\nrecord_dispatches = true")
        Path(FRAME.name).write_text(told)
        copy_to(".")
        Path("use.csv").write_text("\n".join(_recorded()) + "\n")
        _done(["run", FRAME.name])
        _done(["run", str(WAITING), "-n", "2"])
        for at, command in enumerate(commands):
            for ending in ("svg", "json"):
                _done([*command, "--picture", f"{at}.{ending}"])
        yield Path(name, "0.svg")


def _recorded() -> Iterator[str]:
    """Two weeks of three partitions by the hour: work by day, a batch by night, both growing."""
    yield "name,time,cores"
    begin = dt.datetime(2026, 9, 7)  # noqa: DTZ001 - a clock without a zone, as most recorders'
    for name, day, night in (("web", 2.0, 0.4), ("db", 3.5, 1.0), ("batch", 0.3, 6.0)):
        for at in range(14 * 24):
            moment = begin + dt.timedelta(hours=at)
            busy = day if 8 <= moment.hour < 18 else night
            yield f"{name},{moment},{busy * (1 + at / 5000):.3f}"


def _done(command: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        if call(command):
            raise RuntimeError(f"homenode {' '.join(command)} failed")


def gallery() -> None:
    """Write the page with every picture, and beneath each its numbers."""
    GALLERY.mkdir(exist_ok=True)
    page = [
        "# Gallery",
        "",
        "Every chart from a run of an example; `--picture` of its command draws it.",
        "",
    ]
    with _made(*DRAWN.values()) as first:
        for at, (title, command) in enumerate(DRAWN.items()):
            svg, spec = (
                first.with_name(f"{at}.{ending}").read_text() for ending in ("svg", "json")
            )
            (GALLERY / f"{at}.svg").write_text(svg, encoding="utf-8")
            words = " ".join(command).replace(f"{EXAMPLES}/", "")
            page += [
                f"## {title}", "", f"`homenode {words} --picture {at}.svg`", "",
                f"![{says(svg).replace(']', ')').replace('[', '(')}]({at}.svg)", "",
                *_tables(json.loads(spec)), "",
            ]  # fmt: skip
    (GALLERY / "index.md").write_text("\n".join(page), encoding="utf-8")


def _tables(spec: dict[str, Any]) -> Iterator[str]:
    """The numbers that are drawn, folded."""
    yield "<details><summary>The numbers</summary>"
    for rows in spec.get("datasets", {}).values():
        heads = list(dict.fromkeys(key for row in rows for key in row))
        yield "<table>" + _row("th", heads)
        for row in rows[:_MOST_ROWS]:
            yield _row("td", [row.get(head, "") for head in heads])
        yield "</table>"
        if len(rows) > _MOST_ROWS:
            yield f"<p>{len(rows) - _MOST_ROWS} more rows.</p>"
    yield "</details>"


def _row(tag: str, cells: list[object]) -> str:
    texts = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"


if __name__ == "__main__":
    gallery()
