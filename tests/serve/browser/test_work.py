"""What takes a while: simulations, comparisons, advice, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import Desk
from playwright.sync_api import Route, expect

SMALL = b"""\
name = "small"
machine = { model = "ibm-power-770" }
run = { duration = "0.2 s", warmup = "0.1 s" }

[[partition]]
name = "one"
home = "drawer0"
processors = { mode = "shared", entitlement = 1, virtual = 2 }
memory = "8 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "oltp" }
"""
RECORDING = Path(__file__).resolve().parents[3] / "fuzz" / "seeds" / "nmon" / "aix-shared.nmon"
MOVED = "#base=example:frame&partition.lpar4.home=book7"


def view(desk: Desk, name: str) -> None:
    desk.page.get_by_role("navigation").get_by_role("button", name=name, exact=True).click()


def test_a_run_is_simulated_kept_and_shown(opened: Desk) -> None:
    opened.open()
    opened.page.get_by_role("button", name="Simulate").click()
    expect(opened.page.locator(".job")).to_have_count(1)
    expect(opened.page.locator("#ran table").first).to_be_visible(timeout=300_000)
    expect(opened.page.locator(".job")).to_have_count(0)
    run = opened.page.locator("#ran h2").inner_text().removeprefix("Run ")
    opened.shot("run")
    opened.fair()
    view(opened, "Open")
    kept = opened.page.locator("#kept tbody tr").filter(has_text=run)
    kept.get_by_role("button").click()
    opened.page.get_by_role("button", name="Open its layout").click()
    opened.at_home("lpar4", "book5")


class Ends:
    """Simulations of no server's, which end when a test says so."""

    def __init__(self, opened: Desk) -> None:
        self.opened, self.going = opened, list[Route]()
        opened.page.route("**/events", lambda one: self.going.append(one))  # noqa: PLW0108
        opened.page.route("**/api/run", lambda route: route.fulfill(json={"job": "of-nobody"}))

    def elsewhere(self, run: str, looked_at: str) -> None:
        """Simulate on the map; the run has ended when another view is looked at."""
        view(self.opened, "Map")
        before = len(self.going)
        self.opened.page.get_by_role("button", name="Simulate").click()
        self.opened.until(lambda: len(self.going) > before)
        view(self.opened, looked_at)
        told = json.dumps({"result": {"run": run}})
        self.going[-1].fulfill(
            content_type="text/event-stream", body=f"event: done\ndata: {told}\n\n"
        )
        expect(self.opened.page.get_by_role("button", name="Cancel")).to_have_count(0)
        expect(self.opened.page.locator(".arrived").first).to_be_visible()
        assert "view=run" not in self.opened.page.url


def test_who_has_gone_elsewhere_is_told_of_his_run_and_comes_when_he_likes(opened: Desk) -> None:
    page, ends = opened.page, Ends(opened)
    opened.open(MOVED)
    shows, dismisses = (
        page.get_by_role("button", name=name) for name in ("Show the run", "Dismiss")
    )
    ends.elsewhere("its-run", "Studies")
    expect(page.locator("#said")).to_contain_text("Show the run")
    opened.shot("run-elsewhere")
    opened.fair()
    dismisses.press("Enter")
    expect(shows).to_have_count(0)
    expect(page.locator("#jobs")).to_be_focused()
    assert "view=studies" in page.url
    ends.elsewhere("its-run", "Compare")
    shows.press("Enter")
    expect(page.locator(".job")).to_have_count(0)
    assert "view=run" in page.url
    assert "id=its-run" in page.url


@pytest.mark.parametrize("opened", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_what_is_done_is_folded_but_for_the_newest(opened: Desk) -> None:
    page, ends = opened.page, Ends(opened)
    opened.open(MOVED)
    for at in range(14):
        ends.elsewhere(f"run-{at}", "Studies")
    expect(page.get_by_role("button", name="Show the run")).to_have_count(2)
    older = page.locator(".older")
    expect(older).to_contain_text("10 more are done")
    high = page.locator("#jobs").bounding_box()
    assert high
    assert high["height"] < 844 / 2, "notices hide the page"
    opened.shot("many-done")
    older.locator("summary").click()
    expect(page.get_by_role("button", name="Show the run")).to_have_count(12)
    opened.shot("many-done-unfolded")
    opened.fair()
    # The newest leads to its run, the next one takes its place.
    page.get_by_role("button", name="Show the run").first.click()
    opened.until(lambda: "id=run-13" in page.url)
    expect(older).to_contain_text("9 more are done")
    older.get_by_role("button", name="Show the run").last.click()
    opened.until(lambda: "id=run-2" in page.url)
    older.get_by_role("button", name="Dismiss these").click()
    expect(older).to_have_count(0)
    expect(page.get_by_role("button", name="Show the run")).to_have_count(2)
    expect(page.locator("#jobs")).to_be_focused()


def test_a_name_that_begins_a_refusal_is_written_as_it_is(opened: Desk) -> None:
    told = {"message": "shop asks 9 cores", "next_step": "db gives some back", "where": None}
    answer = {"error": told}
    opened.page.route("**/api/layout", lambda route: route.fulfill(status=400, json=answer))
    opened.page.goto(f"{opened.server}/#base=example:frame")
    expect(opened.page.locator("#notice strong")).to_have_text("shop asks 9 cores")
    expect(opened.page.locator("#notice p").nth(1)).to_have_text("db gives some back")


def test_the_first_screen_does_not_grow_with_what_is_kept(opened: Desk) -> None:
    changes = {"partition.one.home": "drawer1", "partition.one.workload.demand": None}
    of_one = {"scenario": "small", "title": "small", "when": "", "version": "", "changes": changes}

    def many(route: Route) -> None:
        told = route.fetch().json()
        runs = [{"id": f"run-{one}", **of_one} for one in range(200)]
        route.fulfill(json={**told, "runs": runs, "kept": 230})

    opened.page.route("**/api/start", many)
    opened.page.goto(opened.server)
    rows, kept = opened.page.locator("#kept tbody tr"), opened.page.locator("#kept")
    expect(rows).to_have_count(10)
    expect(kept).to_contain_text("The newest 10 of 230")
    expect(rows.first).to_contain_text("one home drawer 1, one demand")
    opened.page.get_by_role("button", name="Show 190 older").click()
    expect(rows).to_have_count(200)
    expect(rows.nth(10).get_by_role("button")).to_be_focused()
    expect(kept).to_contain_text("homenode runs lists all of them")


def test_a_run_is_cancelled(opened: Desk) -> None:
    # So long that it is at work still when it is cancelled, however late that is.
    opened.open_own(duration="50 min")
    opened.page.get_by_role("button", name="Simulate").click()
    opened.page.get_by_role("button", name="Cancel").click()
    expect(opened.page.locator(".job")).to_have_count(0)
    expect(opened.page.locator("#said")).to_contain_text("cancelled")


def test_two_layouts_side_by_side(opened: Desk) -> None:
    opened.open(MOVED)
    view(opened, "Compare")
    expect(opened.page.locator("#compared svg")).to_have_count(2)
    expect(opened.page.locator("#compared .big").first).to_contain_text("cores fewer")
    expect(opened.page.locator("#compared table").first).to_be_visible()
    opened.shot("compare")
    opened.page.get_by_label("right").select_option("opened")
    expect(opened.page.locator("#compared .big").first).to_contain_text("as many")


def test_two_kept_runs_are_held_against_each_other(opened: Desk) -> None:
    page = opened.page
    page.goto(opened.server)
    expect(page.locator(".card").first).to_be_visible()
    small = {"name": "small.toml", "mimeType": "application/toml", "buffer": SMALL}
    page.locator("#files").set_input_files([small])
    opened.settled()
    kept = []
    for virtual in ("2", "1"):
        page.locator("#partitions").get_by_role("button").click()
        field = page.get_by_label("virtual processors", exact=False)
        if field.input_value() != virtual:
            field.fill(virtual)
            field.press("Enter")
            opened.settled()
        page.get_by_role("button", name="Simulate").click()
        expect(page.locator("#ran table").first).to_be_visible()
        kept.append(page.locator("#ran h2").inner_text().removeprefix("Run "))
        view(opened, "Map")
        opened.settled()
    assert kept[0] != kept[1]
    view(opened, "Compare")
    for side, run in zip(("left", "right"), kept, strict=True):
        page.get_by_label(side).select_option(f"run:{run}")
        expect(page.get_by_label(side)).to_have_value(f"run:{run}")
    said = page.locator("#compared:not(.stale)")
    expect(said).to_contain_text("Simulated: 1.00 cores fewer")
    expect(said.locator(".big").first).to_contain_text("1.0 cores fewer")
    expect(said.locator("h3").first).to_contain_text(kept[0])
    opened.shot("compare-runs")
    opened.fair()
    page.set_viewport_size({"width": 390, "height": 844})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, "long names of runs push the page beyond a narrow screen"


def test_advice_is_played_taken_and_left(opened: Desk) -> None:
    opened.open()
    view(opened, "Advice")
    opened.page.get_by_label("Searches for").fill("3")
    opened.page.get_by_role("button", name="Ask for advice").click()
    play = opened.page.get_by_role("button", name="Play on the map").first
    play.click(timeout=300_000)
    opened.settled()
    opened.shot("advice")
    opened.fair()
    step = opened.page.locator("#advice h2")
    expect(step).to_contain_text("Move 1 of")
    count = int(step.inner_text().rpartition(" ")[2])
    opened.page.get_by_role("button", name="Take it").click()
    for _ in range(count - 1):
        opened.page.get_by_role("button", name="Leave it").click()
    expect(opened.page.locator("#change")).to_be_visible()
    opened.settled()
    assert opened.page.url.count("partition.") == 1
    opened.page.locator("#undo").click()
    opened.settled()
    assert "partition." not in opened.page.url


def test_a_damaged_file_is_refused_and_a_good_one_opened(opened: Desk) -> None:
    page = opened.page
    page.goto(opened.server)
    expect(page.locator(".card").first).to_be_visible()
    choose = page.locator("#files")
    good = b'[machine]\nmodel = "ibm-power-770"\n\n[[partition]]\nname = "alone"\n'
    good += b'processors = { mode = "shared", entitlement = 2.0, virtual = 4 }\n'
    good += b'memory = "8 GiB"\nworkload = { kind = "transactions", rate = "100/s",'
    good += b' bursts = 20, wait = "3 ms", profile = "oltp" }\n'
    file = {"mimeType": "application/toml"}
    choose.set_input_files([{**file, "name": "bad.toml", "buffer": good[:-25]}])
    expect(page.locator("#notice")).to_be_visible()
    opened.shot("damaged")
    choose.set_input_files([{**file, "name": "good.toml", "buffer": good}])
    opened.settled()
    expect(opened.block("alone")).to_be_visible()


def test_recordings_become_a_layout(opened: Desk) -> None:
    opened.page.goto(opened.server)
    expect(opened.page.locator(".card").first).to_be_visible()
    opened.page.locator("#files").set_input_files([RECORDING])
    expect(opened.page.locator("#imported-head")).to_be_visible()
    expect(opened.page.locator("#imported-state")).to_be_empty()
    expect(opened.page.locator(".job")).to_have_count(0)
    opened.shot("imported")
    opened.fair()
    opened.page.get_by_role("button", name="Open the layout").click()
    opened.settled()
    assert "base=scenario:" in opened.page.url


def test_what_was_read_is_shown_and_opened_where_its_windows_were_not_played(opened: Desk) -> None:
    page = opened.page
    table = {"title": "What was recorded", "heads": ["partition"], "rows": [["alone"]]}
    early = {"scenario": opened.own(), "gaps": [], "assumed": [], "tables": [table]}
    going: list[Route] = []
    page.route("**/events", lambda route: going.append(route))  # noqa: PLW0108
    page.locator("#files").set_input_files([RECORDING])
    opened.until(lambda: going)
    told = f"event: early\ndata: {json.dumps(early)}\n\n"
    going[0].fulfill(content_type="text/event-stream", body=f"retry: 50\n{told}")
    expect(page.locator("#imported-state")).to_contain_text("until then")
    opened.until(lambda: len(going) > 1)
    opened.fair()
    ends = f"{told}event: cancelled\ndata: {{}}\n\n"
    going[1].fulfill(content_type="text/event-stream", body=ends)
    expect(page.locator("#imported-state")).to_contain_text("not played to their end")
    page.get_by_role("button", name="Open the layout").click()
    opened.at_home("lpar4", "book5")


def test_a_recording_that_is_none_is_refused(opened: Desk) -> None:
    opened.page.goto(opened.server)
    expect(opened.page.locator(".card").first).to_be_visible()
    noise = {"name": "noise.bin", "mimeType": "application/octet-stream", "buffer": b"\0\1" * 99}
    opened.page.locator("#files").set_input_files([noise])
    expect(opened.page.locator("#notice")).to_be_visible()


def test_a_scenario_is_handed_out(opened: Desk) -> None:
    opened.open(MOVED)
    opened.page.get_by_role("button", name="Download").click()
    with opened.page.expect_download() as waiting:
        opened.page.get_by_role("menuitem", name="Scenario").click()
    assert 'home = "book7"' in waiting.value.path().read_text(encoding="utf-8")
