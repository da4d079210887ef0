"""Partitions on the map: dragged, moved from the menu, by keys; changed; taken back."""

from __future__ import annotations

import re

import pytest
from desk import Desk
from playwright.sync_api import Route, expect


def drag(desk: Desk, partition: str, place: str) -> None:
    """With the mouse, in steps, as a hand does, once the page stands still under it."""
    desk.block(partition).hover()
    mouse = desk.page.mouse
    mouse.down()
    target = desk.place(place).bounding_box()
    assert target
    mouse.move(target["x"] + target["width"] / 2, target["y"] + target["height"] - 8, steps=8)
    mouse.up()


def test_a_newcomer_gets_cores_back_without_reading(opened: Desk) -> None:
    page = opened.page
    page.goto(opened.server)
    page.locator(".card").first.click()
    opened.settled()
    last = page.locator("#map [data-partition]").last
    last.click()
    page.locator("[role=menuitem]").first.click()
    expect(page.locator("#change")).to_contain_text("cores fewer")
    expect(page.locator("#whose")).to_contain_text(re.compile(r"lpar3 \W\d.*, lpar4 \W\d"))
    page.locator("#undo").click()
    expect(page.locator("#whose")).to_be_empty()


def test_a_drag_moves_at_once_and_saves(opened: Desk) -> None:
    opened.open()
    before = opened.cores()
    drag(opened, "lpar4", "book7")
    opened.at_home("lpar4", "book7")
    expect(opened.page.locator("#change")).to_contain_text("cores fewer")
    assert opened.cores() < before
    assert "lpar4.home=book7" in opened.page.url


_HELD = """async (name) => {
    const map = document.querySelector("#map");
    const likeness = await new Promise((found) => {
        const look = () => map.querySelector(`[data-gliding="${name}"]`);
        new MutationObserver(() => look() && found(look())).observe(map,
            { childList: true, subtree: true });
    });
    const [way] = likeness.getAnimations();
    way.pause();
    const at = (time) => {
        way.currentTime = time;
        const { x, y } = likeness.getBoundingClientRect();
        return [x, y];
    };
    const there = map.querySelector(`[data-partition="${name}"]`).getBoundingClientRect();
    return { begins: at(0), ends: at(way.effect.getTiming().duration - 0.01),
        there: [there.x, there.y], last: likeness.parentElement.lastElementChild === likeness };
}"""


def test_a_block_glides_from_where_it_was_to_where_it_is_over_all_others(opened: Desk) -> None:
    page = opened.open().page
    page.route("**/api/figures", lambda _: None)  # nothing else is drawn meanwhile
    block = opened.block("lpar4")
    block.click()
    was = block.bounding_box()
    assert was
    handle = page.evaluate_handle(f"(name) => ({{ told: ({_HELD})(name) }})", "lpar4")
    page.locator("[role=menuitem]").first.click()
    held = handle.evaluate("(one) => one.told")
    assert held["last"]
    assert held["begins"] == pytest.approx([was["x"], was["y"]], abs=2)
    assert held["ends"] == pytest.approx(held["there"], abs=2)
    assert held["there"] != pytest.approx([was["x"], was["y"]], abs=20)


def test_the_map_moves_before_the_answer_is_there(opened: Desk) -> None:
    opened.open()
    waiting: list[Route] = []
    opened.page.route("**/api/figures", lambda route: waiting.append(route))  # noqa: PLW0108
    drag(opened, "lpar4", "book6")
    opened.at_home("lpar4", "book6")
    expect(opened.page.locator("#board")).to_have_attribute("aria-busy", "true")
    drag(opened, "lpar4", "book3")
    opened.at_home("lpar4", "book3")
    opened.until(lambda: len(waiting) >= 2)
    waiting[-1].continue_()
    opened.settled()
    opened.at_home("lpar4", "book3")


def test_first_figures_come_before_the_whole_layout(opened: Desk) -> None:
    opened.open()
    opened.first_figures()
    before = opened.cores()
    waiting: list[Route] = []
    opened.page.route("**/api/layout", lambda route: waiting.append(route))  # noqa: PLW0108
    drag(opened, "lpar4", "book4")
    board = opened.page.locator("#board")
    expect(board).to_have_class("rough")
    first = opened.cores()
    assert first < before
    expect(opened.page.locator("#change")).to_contain_text("cores fewer")
    opened.page.get_by_role("button", name="lpar4", exact=False).last.click()
    expect(opened.page.locator("#panel .figures")).to_be_visible()
    expect(opened.page.locator("#panel details")).to_have_class("stale")
    opened.fair()
    opened.until(lambda: waiting)
    waiting[0].continue_()
    expect(board).not_to_have_class("rough")
    assert abs(opened.cores() - first) < 0.01 * first
    expect(opened.page.locator("#panel details.stale")).to_have_count(0)


def test_what_is_taken_back_is_back_on_the_map_at_once(opened: Desk) -> None:
    opened.open("#base=example:frame&partition.lpar3.home=book1")
    waiting: list[Route] = []
    drag(opened, "lpar4", "book7")
    opened.settled()
    opened.page.route("**/api/*", lambda route: waiting.append(route))  # noqa: PLW0108
    opened.page.locator("#undo").click()
    opened.at_home("lpar4", "book5")
    opened.at_home("lpar3", "book1")
    expect(opened.page.locator("#board")).to_have_attribute("aria-busy", "true")


def test_a_drop_beside_the_machine_or_escape_moves_nothing(opened: Desk) -> None:
    opened.open()
    block = opened.block("lpar4").bounding_box()
    assert block
    mouse = opened.page.mouse
    for leave in ("drop", "escape"):
        mouse.move(block["x"] + 40, block["y"] + 10)
        mouse.down()
        mouse.move(block["x"] + 60, 5, steps=4)
        if leave == "escape":
            opened.page.keyboard.press("Escape")
        mouse.up()
        opened.at_home("lpar4", "book5")
    assert "home" not in opened.page.url


def test_all_by_keys(opened: Desk) -> None:
    opened.open()
    keys = opened.page.keyboard
    opened.block("lpar3").focus()
    keys.press("Enter")
    items = opened.page.locator("[role=menuitem]")
    expect(items.first).to_be_focused()
    opened.fair()
    keys.press("Escape")
    expect(items).to_have_count(0)
    expect(opened.block("lpar3")).to_be_focused()
    keys.press("Enter")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("Enter")
    opened.at_home("lpar3", "book2")
    opened.settled()
    expect(opened.block("lpar3")).to_be_focused()
    keys.press("Control+z")
    opened.at_home("lpar3", "book5")
    keys.press("Control+Shift+Z")
    opened.at_home("lpar3", "book2")
    keys.press("?")
    expect(opened.page.get_by_role("dialog")).to_be_visible()
    opened.fair()


def test_undo_redo_and_the_browsers_own_ways(opened: Desk) -> None:
    opened.open()
    undo, redo = opened.page.locator("#undo"), opened.page.locator("#redo")
    expect(undo).to_be_disabled()
    drag(opened, "lpar4", "book1")
    opened.at_home("lpar4", "book1")
    opened.page.get_by_role("button", name="Compare", exact=True).click()
    undo.click()
    opened.page.get_by_role("button", name="Map", exact=True).click()
    opened.at_home("lpar4", "book5")
    redo.click()
    opened.at_home("lpar4", "book1")
    expect(redo).to_be_disabled()
    opened.page.go_back()
    opened.at_home("lpar4", "book5")
    expect(redo).to_be_enabled()
    opened.page.go_forward()
    opened.page.reload()
    opened.at_home("lpar4", "book1")


def test_a_field_changes_the_layout(opened: Desk) -> None:
    opened.open()
    opened.page.get_by_role("button", name="lpar3", exact=False).last.click()
    field = opened.page.get_by_label("virtual processors", exact=False)
    field.fill("15")
    field.press("Enter")
    expect(opened.page.locator("#undo")).to_be_enabled()
    opened.settled()
    assert "partition.lpar3.processors.virtual=15" in opened.page.url


def test_a_refused_change_is_said_and_taken_back(opened: Desk) -> None:
    opened.open()
    opened.page.get_by_role("button", name="lpar3", exact=False).last.click()
    field = opened.page.get_by_label("entitlement", exact=False)
    field.fill("9999")
    field.press("Enter")
    expect(opened.page.locator("#notice")).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    opened.settled()
    opened.fair()
    assert "9999" not in opened.page.url
