"""Does the page, or its server, grow? A seeded hand clicks, drags, types and goes back and forth in
a real browser for so many minutes; now and then what is held is counted, after the browser has
collected its garbage. Prints a row each time, and how much the last quarter holds beside the
second; exit code 1 where that is more than `GROWTH`, or where a script of the page failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from playwright.sync_api import CDPSession, Error, Page, sync_playwright

from serve import address_of, memory_mib

SCENARIO = """
run = { duration = "0.2 s", warmup = "0.1 s" }

[machine]
model = "ibm-power-770"

[[partition]]
name = "shop"
count = 4
home = "drawer0"
processors = { mode = "shared", entitlement = 2.0, virtual = 4 }
memory = "8 GiB"
workload = { kind = "users", count = 100, think = "200 ms", profile = "oltp" }
"""
GROWTH = 0.1
"""Share by which the last quarter may hold more than the second: the first fills what is bounded,
answers that are kept for those who ask again, files that workers have read.
"""
_ROWS = 24
_MOST_PLACES = 6
_PLACES = """() => Object.fromEntries([...document.querySelectorAll("[id]")].map(
    (one) => [one.id, one.getElementsByTagName("*").length]))"""
"""Elements within each that has a name."""
_KEPT = 10
"""Kept runs to begin with: as many as are listed unless somebody asks for more, since a list that
fills up is no leak.
"""
_REST = (
    ("#", "#view-start:not([hidden])"),
    ("#base=scenario:four&view=compare", "#view-compare:not([hidden]) #compared:not(.stale) svg"),
    ("#base=scenario:four", "#board[aria-busy=false]:not(.rough)"),
)
"""Where it goes before what is held is counted, and what is there then: hidden views hold what they
showed last.
"""
_BUSY_S = 600
"""An answer takes so long at most, on a machine that has other work too."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_MS = 1500
_BUTTONS = "button:visible:not([disabled]), summary:visible, [role=menuitem]:visible"
_KEYS = ("m", "c", "a", "s", "u", "y", "o", "?", "Escape", "Tab", "Enter", "ArrowDown", "Control+z")


@dataclass(frozen=True)
class Held:
    """What there is at one time."""

    minutes: float
    heap_mib: float
    nodes: float
    listeners: float
    server_mib: float
    processes: float
    files: float


def main() -> None:
    """Starts a server and a browser, lets the hand at them, tells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="monkey-") as folder:
        rows, places = _watched(Path(folder), asked.minutes, asked.seed, faults)
    grown = growth(rows)
    print(
        "least of the last quarter beside that of the second: "
        + ", ".join(f"{k} {v:+.1%}" for k, v in grown.items())
    )
    print("elements of the page that grew most: " + ", ".join(_grown(places)))
    print(f"{len(faults)} faults of scripts", *faults[:3], sep="\n")
    sys.exit(1 if faults or max(grown.values()) > GROWTH else 0)


def growth(rows: list[Held]) -> dict[str, float]:
    """By what is held, by which share the least of the last quarter is more than that of the
    second: what leaks is in the least too, and what a view happens to show is not.
    """
    quarter = max(1, len(rows) // 4)
    found = {}
    for one in fields(Held)[1:]:
        values = [getattr(row, one.name) for row in rows]
        before = min(values[quarter : 2 * quarter])
        found[one.name] = min(values[-quarter:]) / max(before, 1.0) - 1.0
    return found


def _grown(places: list[dict[str, int]]) -> list[str]:
    """Where the elements are that there are more of in the last quarter than in the second."""
    quarter = max(1, len(places) // 4)

    def least(rows: list[dict[str, int]], name: str) -> int:
        return min(row.get(name, 0) for row in rows)

    more = {
        name: least(places[-quarter:], name) - least(places[quarter : 2 * quarter], name)
        for name in places[-1]
    }
    most = sorted(more, key=more.__getitem__, reverse=True)[:_MOST_PLACES]
    return [f"{name} {more[name]:+}" for name in most if more[name] > 0]


def _watched(
    folder: Path, minutes: float, seed: int, faults: list[str]
) -> tuple[list[Held], list[dict[str, int]]]:
    (folder / "temporary").mkdir()
    (folder / "four.toml").write_text(SCENARIO)
    for seed in range(_KEPT):
        words = [sys.executable, "-m", "homenode", "run", "four.toml", "--seed", str(seed)]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    draw, rows, acts = random.Random(seed), [], 0
    places: list[dict[str, int]] = []
    with _server(folder) as server, _page(address_of(server), faults) as (page, inside):
        begun = time.monotonic()
        print(" ".join(f"{one.name:>10}" for one in fields(Held)), flush=True)
        for row in range(_ROWS):
            while time.monotonic() - begun < 60 * minutes * (row + 1) / _ROWS:
                with contextlib.suppress(Error):  # what was there has gone: as for a hasty hand
                    draw.choice(_ACTS)(page, draw)
                acts += 1
            for place, there in _REST:
                _rest(page, place, there)
            held = _held(inside, server.pid, folder, (time.monotonic() - begun) / 60)
            print(" ".join(f"{value:10.1f}" for value in astuple(held)), flush=True)
            rows.append(held)
            places.append(page.evaluate(_PLACES))
    print(f"{acts} acts in {minutes:g} minutes, seed {seed}")
    return rows, places


def _rest(page: Page, place: str, there: str) -> None:
    """Go to a place and wait for what is there, going back where a simulation that has ended leads
    to its run; a server that was too busy is asked once more, as its page offers.
    """
    begun, shown = time.monotonic(), False
    while not shown:
        page.evaluate("(place) => { location.hash = place; }", place)
        page.wait_for_timeout(_PATIENCE_MS)
        shown = page.locator(there).first.is_visible()
        if not shown and time.monotonic() - begun > _BUSY_S:
            said = page.locator("#notice").inner_text() or "without a notice"
            sys.exit(f"{place} does not come: {said}")
        again = page.get_by_role("button", name="Try again")
        with contextlib.suppress(Error):
            if not shown and again.is_visible():
                again.click()


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[subprocess.Popen[str]]:
    words = ["-m", "homenode", "serve", "--no-browser", "--port", "0", "four.toml"]
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            yield server
        finally:
            server.terminate()


@contextlib.contextmanager
def _page(address: str, faults: list[str]) -> Iterator[tuple[Page, CDPSession]]:
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        sys.exit(f"there is no browser: none of {', '.join(_NAMES)} is on the path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{address}/#base=scenario:four", timeout=60_000)
        yield page, page.context.new_cdp_session(page)
        browser.close()


def _held(inside: CDPSession, server: int, folder: Path, minutes: float) -> Held:
    inside.send("HeapProfiler.collectGarbage")
    inside.send("Performance.enable")
    told = {one["name"]: one["value"] for one in inside.send("Performance.getMetrics")["metrics"]}
    mib, processes = memory_mib(server)
    return Held(
        minutes=minutes,
        heap_mib=told["JSHeapUsedSize"] / (1 << 20),
        nodes=told["Nodes"],
        listeners=told["JSEventListeners"],
        server_mib=mib,
        processes=processes,
        files=sum(1 for one in (folder / "temporary").rglob("*") if one.is_file()),
    )


def _click(page: Page, draw: random.Random) -> None:
    there = page.locator(_BUTTONS)
    there.nth(draw.randrange(max(1, there.count()))).click()


def _move(page: Page, draw: random.Random) -> None:
    blocks = page.locator("#map [data-partition][role=button]")
    blocks.nth(draw.randrange(max(1, blocks.count()))).click()
    _choose(page, draw)


def _choose(page: Page, draw: random.Random) -> None:
    items = page.locator("[role=menuitem]:visible")
    items.nth(draw.randrange(max(1, items.count()))).click()


def _drag(page: Page, draw: random.Random) -> None:
    places = page.locator("#map [data-place]")
    block = page.locator("#map [data-partition][role=button]").nth(draw.randrange(4))
    block.drag_to(places.nth(draw.randrange(max(1, places.count()))))


def _type(page: Page, draw: random.Random) -> None:
    there = page.locator("#panel input:visible")
    field = there.nth(draw.randrange(max(1, there.count())))
    field.fill(str(draw.choice((1, 2, 3, 5, 8, 99999, -1))))
    field.press("Enter")


def _press(page: Page, draw: random.Random) -> None:
    page.keyboard.press(draw.choice(_KEYS))


def _back(page: Page, draw: random.Random) -> None:
    draw.choice((page.go_back, page.go_forward))()


def _home(page: Page, _: random.Random) -> None:
    page.evaluate("() => { location.hash = '#base=scenario:four'; }")


_ACTS: list[Callable[[Page, random.Random], None]] = [
    *[_move, _drag, _click] * 3, _type, _press, _back, _home,
]  # fmt: skip

if __name__ == "__main__":
    main()
