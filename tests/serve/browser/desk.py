"""The page as a test handles it."""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

_SHADES = """async (shown) => {
    const bytes = Uint8Array.from(atob(shown), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height), found = [];
    for (let at = 0; at < data.length; at += 12)
        found.push(Math.round((data[at] + data[at + 1] + data[at + 2]) / 3));
    return found;
}"""
ELSEWHERE = "elsewhere.test"
"""A name by which the browser reaches this machine, and which is none of the server's."""
TOKEN = "a-token-of-the-browsers-tests"
_PATIENCE_S = 60
_FRAME = {"base": "example:frame", "edits": {}}


@dataclass
class Desk:
    """The page as a person has it before him."""

    page: Page
    server: str

    def open(self, fragment: str = "#base=example:frame") -> Desk:
        """Go to a layout, by default one with lpar3 and lpar4 in book 5, and wait for figures."""
        self.page.goto(f"{self.server}/{fragment}")
        self.settled()
        return self

    def own(self, **run: str) -> str:
        """The same layout as a file that this visitor alone brings, by its id: the server, which
        all tests share, has no answer to it yet, whatever was asked before. `run` replaces keys of
        `[run]`.
        """
        self.page.goto(self.server)
        asks = self.page.context.request
        text = asks.post(f"{self.server}/api/download", data={**_FRAME, "what": "scenario"}).text()
        for key, value in run.items():
            text, count = re.subn(rf"^{key} = .*$", f'{key} = "{value}"', text, flags=re.MULTILINE)
            assert count == 1, key
        headers = {"content-type": "application/toml", "x-name": "frame.toml"}
        brought = asks.post(f"{self.server}/api/upload", data=text.encode(), headers=headers)
        assert brought.ok, brought.text()
        name: str = brought.json()["scenario"]
        return name

    def open_own(self, edits: str = "", **run: str) -> Desk:
        """Go to it and wait for figures."""
        return self.open(f"#base=scenario:{self.own(**run)}{edits}")

    def first_figures(self) -> None:
        """From now on a move is answered with figures first, as where the whole layout is not there
        soon.
        """

        def alone(route: Route) -> None:
            told = route.fetch().json()["solved"]
            route.fulfill(json={"solved": {key: told[key] for key in ("cores", "partitions")}})

        self.page.route("**/api/figures", alone)

    def until(self, holds: Callable[[], object]) -> None:
        """Let the page go on until something holds that it does not show, such as a request."""
        end = time.monotonic() + _PATIENCE_S
        while not holds():
            assert time.monotonic() < end, "the page does nothing of the kind"
            self.page.wait_for_timeout(20)

    def settled(self) -> None:
        """Wait until the figures are those of what is shown."""
        expect(self.page.locator("#board")).to_have_attribute("aria-busy", "false")
        expect(self.page.locator("#cores")).not_to_be_empty()

    def block(self, partition: str) -> Locator:
        """A partition on the map."""
        return self.page.locator(f'#map [data-partition="{partition}"]').first

    def place(self, name: str) -> Locator:
        """A node on the map."""
        return self.page.locator(f'#map [data-place="{name}"]')

    def at_home(self, partition: str, place: str) -> None:
        """Expect a partition there."""
        where = f'#map [data-place="{place}"] [data-partition="{partition}"]'
        expect(self.page.locator(where)).to_have_count(1)

    def cores(self) -> float:
        """The large figure."""
        self.settled()
        return float(self.page.inner_text("#cores").split()[0])

    def fair(self) -> None:
        """Expect that axe has nothing serious to say of what is shown."""
        found = Axe().run(self.page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, "\n".join(
            f"{one['id']}: {one['help']}: {node['html'][:200]}"
            for one in serious
            for node in one["nodes"]
        )

    def shades(self, selector: str) -> list[int]:
        """How light each pixel of what is shown there is, of 255; thinned out."""
        shown = base64.b64encode(self.page.locator(selector).first.screenshot()).decode()
        found: list[int] = self.page.evaluate(_SHADES, shown)
        return found

    def shot(self, name: str) -> None:
        """Keep a picture where `HOMENODE_SHOTS` says, to be looked at."""
        folder = os.environ.get("HOMENODE_SHOTS")
        if folder:
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
