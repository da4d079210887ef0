"""Every view, narrow and dark too, without serious findings of axe; trouble as designed."""

from __future__ import annotations

import pytest
from desk import Desk
from playwright.sync_api import Route, expect

NARROW = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DARK = {"color_scheme": "dark"}
STILL = {"reduced_motion": "reduce"}
BASE = "#base=example:frame&partition.lpar4.home=book7"
VIEWS = {
    "start": ("", ".card"),
    "map": (BASE, "#map svg"),
    "compare": (f"{BASE}&view=compare", "#compared:not(.stale) svg"),
    "advise": (f"{BASE}&view=advise", "#goal"),
    "studies": ("#view=studies", "#studied tbody tr"),
    "study": ("#view=studies&study=p795-lpar-affinity", "#studied table"),
    "wrong": ("#base=example:there-is-none", "#notice strong"),
}
HOW = {"light": {}, "dark": DARK, "narrow": NARROW}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("opened", HOW.values(), ids=HOW, indirect=True)
def test_a_view_is_for_everybody(opened: Desk, view: str, request: pytest.FixtureRequest) -> None:
    fragment, shown = VIEWS[view]
    page = opened.page
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{opened.server}/{fragment}")
    expect(page.locator(shown).first).to_be_visible()
    if view in ("map", "advise"):
        opened.settled()
    if view == "map":
        opened.block("lpar3").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    opened.shot(f"{view}-{request.node.callspec.id.split('-')[0]}")
    wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, "the page is wider than its window"
    opened.fair()


@pytest.mark.parametrize("opened", [NARROW], indirect=True)
def test_a_finger_opens_the_menu(opened: Desk) -> None:
    opened.open()
    opened.block("lpar4").tap()
    opened.page.get_by_role("menuitem", name="book 6").tap()
    opened.at_home("lpar4", "book6")


@pytest.mark.parametrize("opened", [STILL, {}], ids=["still", "moving"], indirect=True)
def test_motion_is_as_wished(opened: Desk, request: pytest.FixtureRequest) -> None:
    opened.open()
    opened.page.evaluate(
        """() => { window.moved = 0; const real = Element.prototype.animate;
        Element.prototype.animate = function (...how) { window.moved++;
        return real.apply(this, how); }; }"""
    )
    opened.block("lpar4").click()
    opened.page.get_by_role("menuitem", name="book 6").click()
    opened.at_home("lpar4", "book6")
    opened.settled()
    moved = opened.page.evaluate("() => window.moved")
    assert (moved > 0) == ("moving" in request.node.callspec.id)


def test_a_busy_server_is_asked_once_more(opened: Desk) -> None:
    opened.open()
    asked = []

    def busy(route: Route) -> None:
        asked.append(route)
        route.fulfill(
            status=503,
            headers={"Retry-After": "0"},
            json={"error": {"message": "busy", "next_step": "try again", "where": None}},
        )

    opened.page.route("**/api/layout", busy)
    opened.block("lpar4").click()
    opened.page.get_by_role("menuitem", name="book 6").click()
    expect(opened.page.locator("#notice")).to_contain_text("busy")
    assert len(asked) == 2
    opened.shot("busy")
    opened.page.unroute("**/api/layout")
    opened.page.get_by_role("button", name="Try again").click()
    opened.settled()
    opened.at_home("lpar4", "book6")


def test_a_lost_server_is_said_and_found_again(opened: Desk) -> None:
    opened.open()
    opened.page.route("**/api/**", lambda route: route.abort())
    opened.block("lpar4").click()
    opened.page.get_by_role("menuitem", name="book 6").click()
    expect(opened.page.locator("#lost")).to_be_visible()
    opened.shot("lost")
    opened.page.unroute("**/api/**")
    expect(opened.page.locator("#lost")).to_be_hidden()
    opened.settled()
    opened.at_home("lpar4", "book6")
