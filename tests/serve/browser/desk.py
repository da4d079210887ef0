"""The page as a test handles it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect


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

    def shot(self, name: str) -> None:
        """Keep a picture where `HOMENODE_SHOTS` says, to be looked at."""
        folder = os.environ.get("HOMENODE_SHOTS")
        if folder:
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
