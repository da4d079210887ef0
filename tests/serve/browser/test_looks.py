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
    if view == "compare":
        dark = request.node.callspec.id.split("-")[0] == "dark"
        shades = opened.shades("#compared img")
        ground, ink = max(set(shades), key=shades.count), [min(shades), max(shades)][dark]
        assert (ground < 80) if dark else (ground > 220)
        assert abs(ground - ink) > 150, "letters are not read on their ground"
    if view in ("compare", "study"):
        drawn = page.locator("figure img").first
        size = drawn.evaluate("(one) => (one.clientWidth - 16) / one.naturalWidth")
        assert size > 0.99, "letters of a picture are too small to be read"
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


def swipe(desk: Desk, start: tuple[float, float], end: tuple[float, float]) -> None:
    """With a finger, in steps: what a browser makes of it is its own."""
    hand = desk.page.context.new_cdp_session(desk.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        told = [{"x": x, "y": y} for x, y in points]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    (x, y), (to_x, to_y) = start, end
    touch("touchStart", start)
    for step in range(1, 9):
        touch("touchMove", (x + (to_x - x) * step / 8, y + (to_y - y) * step / 8))
    touch("touchEnd")
    hand.detach()


@pytest.mark.parametrize("opened", [NARROW], indirect=True)
def test_a_finger_drags_by_the_letter_and_scrolls_by_the_rest(opened: Desk) -> None:
    opened.open()
    opened.block("lpar4").scroll_into_view_if_needed()
    grip = opened.block("lpar4").locator(".key").last.bounding_box()
    target = opened.place("book6").bounding_box()
    assert grip
    assert target
    middle = (grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    beside = (middle[0] + 90, middle[1])
    swipe(opened, beside, (beside[0], beside[1] - 60))
    opened.at_home("lpar4", "book5")
    assert "home" not in opened.page.url
    opened.page.evaluate("() => scrollTo(0, 0)")
    opened.block("lpar4").scroll_into_view_if_needed()
    swipe(opened, middle, (target["x"] + target["width"] / 2, target["y"] + 20))
    opened.at_home("lpar4", "book6")
    expect(opened.page.locator("#change")).to_contain_text("cores fewer")
    expect(opened.page.locator("[role=menu]")).to_have_count(0)


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


def busy(asked: list[Route], route: Route) -> None:
    asked.append(route)
    told = {"message": "busy", "next_step": "try again", "where": None}
    route.fulfill(status=503, headers={"Retry-After": "0"}, json={"error": told})


def test_a_busy_server_is_asked_once_more(opened: Desk) -> None:
    opened.open()
    asked: list[Route] = []
    opened.page.route("**/api/figures", lambda route: busy(asked, route))
    opened.block("lpar4").click()
    opened.page.get_by_role("menuitem", name="book 6").click()
    expect(opened.page.locator("#notice")).to_contain_text("busy")
    assert len(asked) == 2
    opened.shot("busy")
    opened.page.unroute("**/api/figures")
    opened.page.get_by_role("button", name="Try again").click()
    opened.settled()
    opened.at_home("lpar4", "book6")


def test_while_a_server_is_busy_nothing_is_said_to_be_loading(opened: Desk) -> None:
    asked: list[Route] = []
    opened.page.route("**/api/layout", lambda route: busy(asked, route))
    opened.page.goto(f"{opened.server}/#base=example:frame")
    expect(opened.page.locator("#notice")).to_contain_text("busy")
    expect(opened.page.locator("#board")).to_be_hidden()
    opened.page.unroute("**/api/layout")
    opened.page.get_by_role("button", name="Try again").click()
    opened.settled()
    expect(opened.page.locator("#board")).to_be_visible()


def test_first_figures_stay_while_a_server_is_busy(opened: Desk) -> None:
    opened.open()
    opened.first_figures()
    asked: list[Route] = []
    opened.page.route("**/api/layout", lambda route: busy(asked, route))
    opened.block("lpar4").click()
    opened.page.get_by_role("menuitem", name="book 4").click()
    expect(opened.page.locator("#board")).to_have_class("rough")
    opened.until(lambda: len(asked) >= 2)
    expect(opened.page.locator("#change")).to_contain_text("cores fewer")
    expect(opened.page.locator("#notice")).to_be_hidden()
    opened.page.unroute("**/api/layout")
    expect(opened.page.locator("#board")).not_to_have_class("rough")
    opened.at_home("lpar4", "book4")


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
