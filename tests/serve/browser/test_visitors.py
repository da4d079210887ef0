"""Who is not let in is told why, on a page; who is, sees a layout."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from desk import ELSEWHERE, TOKEN, Desk
from playwright.sync_api import Browser, Page, expect

REFUSED = {
    "without a token": ("/", 401, "A token is needed here"),
    "with a wrong one": (f"/?token=not-{TOKEN}", 401, "A token is needed here"),
    "by another name": (f"/?token={TOKEN}", 421, f"This server is not {ELSEWHERE}"),
}


@pytest.fixture
def page(browser: Browser) -> Page:
    """Of somebody who was never here."""
    return browser.new_context().new_page()


@pytest.mark.parametrize("case", REFUSED)
def test_who_is_not_let_in_is_told_why(page: Page, guarded: str, case: str) -> None:
    path, status, says = REFUSED[case]
    port = urlsplit(guarded).port
    host = ELSEWHERE if status == 421 else "127.0.0.1"
    answer = page.goto(f"http://{host}:{port}{path}")
    assert answer
    assert answer.status == status
    expect(page.get_by_role("main")).to_contain_text(says)
    assert page.locator("script").count() == 0
    assert page.request.get(f"http://127.0.0.1:{port}/api/start").status == 401
    Desk(page, guarded).fair()
    page.context.close()


def test_who_has_the_token_is_let_in(page: Page, guarded: str) -> None:
    page.goto(f"{guarded}/?token={TOKEN}")
    page.locator(".card").first.click()
    Desk(page, guarded).settled()
    assert TOKEN not in page.url
    page.context.close()
