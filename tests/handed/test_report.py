"""Reports to hand over: one file, no network, every picture named, nothing of a name taken for
markup.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the compiled engine is not installed")

from homenode.cli import call
from homenode.model.catalog import machine
from homenode.model.estimate import Estimate
from homenode.planner.advice import Advice, Answer, Change
from homenode.report.handed.page import page_text, write_report
from homenode.report.handed.pdf import browser, write_pdf
from homenode.report.handed.section import Section
from homenode.report.handed.sections import sections
from homenode.report.handed.trust import assumed_table, studies_of
from homenode.simulate.kept.grid import Grid
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario

SCENARIO = """\
title = "<b>Should & must</b> it move?"
[machine]
model = "ibm-power-770"
[[partition]]
name = "db"
processors = {{ mode = "shared", entitlement = 2.0, virtual = 4 }}
memory = "16 GiB"
home = "{home}"
workload = {{ kind = "loops", count = 8, endless = true, profile = "oltp" }}
[run]
warmup = "100 ms"
duration = "300 ms"
replications = 2
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    out = tmp_path_factory.mktemp("runs")
    homes = {"asis": "drawer0", "moved": "drawer1"}
    return [
        Scenario.from_toml(SCENARIO.format(home=home), name).run(out=out)
        for name, home in homes.items()
    ]


class _Seen(HTMLParser):
    """Tags that were opened, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_is_one_file_without_scripts_or_addresses(runs: list[Run], tmp_path: Path) -> None:
    path = write_report("asis", sections(runs[:1]), tmp_path / "asis.html")
    seen = _Seen(path.read_text())
    assert not {"script", "iframe", "link", "object"} & {tag for tag, _ in seen.tags}
    for _, attributes in seen.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    policy = next(told for tag, told in seen.tags if "http-equiv" in told)["content"] or ""
    assert "default-src 'none'" in policy


def test_pictures_have_names_and_ids_are_given_once(runs: list[Run]) -> None:
    seen = _Seen(page_text("asis", sections(runs[:1])))
    drawn = [told for tag, told in seen.tags if tag == "svg" and told.get("role") == "img"]
    assert len(drawn) == [tag for tag, _ in seen.tags].count("figure") >= 3
    assert all(told["aria-label"] for told in drawn)
    ids = Counter(told["id"] for _, told in seen.tags if told.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []


def test_what_a_picture_refers_to_is_there(runs: list[Run]) -> None:
    text = page_text("asis", sections(runs[:1]))
    ids = set(re.findall(r'\bid="([^"]+)"', text))
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= ids


def test_names_are_no_markup(runs: list[Run]) -> None:
    seen = _Seen(page_text("asis", sections(runs[:1])))
    assert "b" not in [tag for tag, _ in seen.tags]
    assert "<b>Should & must</b> it move?" in seen.text


def test_every_section_says_something_and_figures_are_those_of_the_run(runs: list[Run]) -> None:
    told = {one.title: one for one in sections(runs[:1], question="Why?")}
    assert told["Question"].lines[0] == "Why?"
    assert all(one.lines or one.tables for one in told.values())
    used = f"{runs[0].metric('db', 'physc').mean:.2f}"
    assert used in " ".join(told["Answer"].lines)
    rows = [row for grid in told["Where the cores went"].tables for row in grid.rows]
    assert any(cell.startswith(used) for row in rows for cell in row)


def test_cores_in_all_are_the_same_in_each_sentence(tmp_path: Path) -> None:
    # Each of many partitions is rounded in the tables, their sum is not one of these.
    many = SCENARIO.format(home="drawer0").replace('name = "db"', 'name = "db"\ncount = 12')
    many = many.replace('"loops", count = 8, endless = true', '"users", count = 7, think = "37 ms"')
    (answer,) = [one for one in sections([Scenario.from_toml(many, "many").run(out=tmp_path)])
                 if one.title == "Answer"]  # fmt: skip
    frame, greatest = (
        re.search(r"([0-9.]+)(?: ± [0-9.]+)?(?: of [0-9]+)? cores", line)
        for line in answer.lines[:2]
    )
    assert frame is not None
    assert greatest is not None
    assert frame[1] == greatest[1]


def test_another_run_is_held_against_the_first(runs: list[Run]) -> None:
    told = sections(runs)
    (against,) = [one for one in told if " against " in one.title]
    assert against.tables
    assert against.pictures
    assert runs[1].name in " ".join(next(one for one in told if one.title == "Answer").lines)


def test_studies_are_those_that_touch_the_machine_or_a_profile() -> None:
    near = [one.name for one in studies_of(machine("ibm-power-795"), frozenset())]
    assert near[0] == "p795-lpar-affinity"
    assert "hp-vpars" not in near
    more = {one.name for one in studies_of(machine("ibm-power-795"), frozenset({"oltp"}))}
    assert set(near) <= more


def test_what_is_assumed_has_a_range() -> None:
    table = assumed_table(machine("ibm-power-795"))
    ranges = [str(cell) for cell in table.columns[2].cells]
    assert ranges
    assert all(" to " in one for one in ranges)


def test_long_tables_are_folded_and_whole(runs: list[Run]) -> None:
    grid = Grid("long", ("row", "value"), [(str(at), "1") for at in range(40)])
    text = page_text("x", [Section("Long", tables=(grid,))])
    assert text.count("<details>") == 1
    assert text.count("<tr>") == 41


def test_long_narrow_tables_stand_side_by_side_on_paper(tmp_path: Path) -> None:
    many = [("row", str(at)) for at in range(40)]
    grids = [Grid(title, ("left", "right"), many) for title in ("first", "second")]
    prose = Grid("third", ("left", "right"), [("row", "many words " * 9)] * 40)
    section = Section("Long", tables=(*grids, prose))
    html = write_report("x", [section], tmp_path / "x.html")
    page = html.read_text()
    (abreast,) = re.findall(r'<div class="abreast">.*?</details>\n</div>', page, re.DOTALL)
    assert "first" in abreast
    assert "second" in abreast
    assert "third" not in abreast
    if browser() is None or shutil.which("pdftotext") is None:
        pytest.skip("no Chromium to print with, or no pdftotext: the PDF was not read")
    pdf = write_pdf(html, tmp_path / "x.pdf")
    words = ["pdftotext", "-layout", pdf, "-"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert text.index("second") < text.index("row     1\n"), "two columns"


def test_short_narrow_tables_stand_side_by_side_and_are_not_cut() -> None:
    short = Grid("short", ("left", "right"), [("row", "1")])
    wide = Grid("wide", ("left", "right"), [("many words " * 6, "1")] * 3)
    page = page_text("x", [Section("Short", tables=(short, replace(short, title="next"), wide))])
    (abreast,) = re.findall(
        r'<div class="abreast">.*?</table>\n</div>\n</div>\n</div>', page, re.DOTALL
    )
    assert "short" in abreast
    assert "next" in abreast
    assert "many words" not in abreast
    assert page.count('<div class="whole">') == 3


def test_broad_pictures_are_told_from_high_ones(runs: list[Run]) -> None:
    """Three broad ones go on a page."""
    wide = '<figure tabindex="0"( class="broad")?>\n.*?viewBox="(.*?)"'
    drawn = re.findall(wide, page_text("asis", sections(runs)), re.DOTALL)
    for broad, box in drawn:
        width, height = map(float, box.split()[2:])
        assert bool(broad) == (width >= 1.5 * height)
    assert drawn


def test_too_much_to_mail_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    grid = Grid("long", ("row", "value"), [(str(at), "1" * 90) for at in range(40_000)])
    path = tmp_path / "large.html"
    with pytest.raises(Exception, match="more than 3"):
        write_report("x", [Section("Large", tables=(grid,))], path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere", "-o", "x.html"], "nowhere"),
        (["asis", "-o", "x.txt"], ".html"),
        (["asis", "-o", "no/such/x.html"], "cannot write"),
        (["asis", "-o", "x.html", "--advise", "soon"], "--advise"),
    ],
)
def test_the_command_refuses_in_words(
    runs: list[Run],
    words: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["report", *words, "--out", str(runs[0].path.parent)]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_pdf_without_a_browser_is_refused(
    runs: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_report("asis", sections(runs[:1]), tmp_path / "asis.html")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Exception, match="none is installed"):
        write_pdf(path, tmp_path / "asis.pdf")


@pytest.mark.slow("starts a browser")
def test_a_pdf_is_printed_by_a_real_browser(runs: list[Run], tmp_path: Path) -> None:
    if browser() is None:
        pytest.skip("no Chromium is installed: the PDF was not printed")
    path = write_report("asis", sections(runs[:1]), tmp_path / "asis.html")
    printed = write_pdf(path, tmp_path / "asis.pdf").read_bytes()
    assert printed[:5] == b"%PDF-"
    if (program := shutil.which("pdftotext")) is None:
        return
    words = subprocess.run(
        [program, tmp_path / "asis.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    pages = words.rstrip("\f").split("\f")
    assert all(page.strip() for page in pages), "a page is blank"
    assert "drawer0" in pages[0], "the map is on the first page"


@pytest.mark.slow("starts a browser")
@pytest.mark.skipif(browser() is None, reason="no Chromium to print with")
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext to read with")
def test_the_answer_is_on_the_first_page_and_none_but_the_last_is_mostly_empty(
    tmp_path: Path,
) -> None:
    six = SCENARIO.format(home="drawer0").replace('name = "db"', 'name = "db"\ncount = 6')
    run = Scenario.from_toml(six, "six").run(out=tmp_path)
    moves = [
        Change(name, "home", f"partition.{name}.home", "drawer0", "drawer1", "nearer")
        for name in run.partitions
    ]
    told = Advice(
        name="six", goal="cores", machine="", node_name="drawer", verdict="change",
        told="6 changes save 2 cores.", do_nothing=_answer(4.0),
        best=tuple(_answer(2.0, *moves[at:]) for at in range(3)),
        solved=2, proven=True, currency=None,
    )  # fmt: skip
    html = write_report("six", sections([run], None, told), tmp_path / "x.html")
    pdf = write_pdf(html, tmp_path / "x.pdf")
    words = ["pdftotext", "-bbox", pdf, "-"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    pages = text.split("<page ")[1:]
    assert ">useful</word>" in pages[0], "the answer is on the first page"
    for at, page in enumerate(pages[:-1], start=1):
        high = float(re.findall(r'height="([0-9.]+)"', page)[0])
        lowest = max(map(float, re.findall(r'yMax="([0-9.]+)"', page)))
        assert lowest > high / 2, f"page {at} of {len(pages)} is mostly empty"


def _answer(cores: float, *changes: Change) -> Answer:
    return Answer(changes, Estimate(cores), None, Estimate(None), 1.0)


HOW = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}},
}
_INK = """() => [...document.querySelectorAll("figure svg text")]
    .map((one) => getComputedStyle(one).fill)"""
_GROUND = "() => getComputedStyle(document.body).backgroundColor"


@pytest.mark.slow("starts a browser")
@pytest.mark.parametrize("how", HOW)
def test_a_report_is_for_everybody(runs: list[Run], tmp_path: Path, how: str) -> None:
    path = write_report("asis", sections(runs), tmp_path / "asis.html")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    program = browser()
    if program is None:
        pytest.skip("no Chromium is installed: the report was not looked at")
    with sync_api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        # The page's own policy forbids the checker's script.
        page = found.new_context(bypass_csp=True, **HOW[how]).new_page()
        page.goto(path.as_uri())
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        told = axe.Axe().run(page).response["violations"]
        inks = Counter(page.evaluate(_INK))
        ground = page.evaluate(_GROUND)
        page.emulate_media(media="print")
        on_paper = Counter(page.evaluate(_INK))
        found.close()
    assert wide <= 0, "the page is wider than its window"
    assert [one["id"] for one in told if one["impact"] in ("serious", "critical")] == []
    light, dark = "rgb(232, 236, 238)", "rgb(27, 35, 40)"
    assert inks[light if how == "dark" else dark] > 0
    assert inks[dark if how == "dark" else light] == 0
    assert (ground == "rgb(27, 27, 27)") == (how == "dark")
    assert on_paper[light] == 0


def test_the_answer_has_three_sentences_whatever_was_asked(runs: list[Run]) -> None:
    for asked in (runs[:1], runs):
        (answer,) = [one for one in sections(asked) if one.title == "Answer"]
        assert len(answer.lines[:3]) == 3
        assert "cores used" in answer.lines[0]
        assert "useful work" in answer.lines[1]
    assert "in place of" in answer.lines[2]
    assert "within their tolerance" in sections(runs[:1])[2].lines[2]


def test_runs_of_one_scenario_are_told_apart(runs: list[Run], tmp_path: Path) -> None:
    again = Scenario.from_toml(SCENARIO.format(home="drawer1"), "asis").run(out=tmp_path)
    told = sections([runs[0], again])
    assert f"{again.id} against {runs[0].id}" in [one.title for one in told]
    assert again.id in told[2].lines[2]


def test_what_is_assumed_of_the_work_is_told_too(runs: list[Run]) -> None:
    assumed = sections(runs[:1])[-1]
    titles = [one.title for one in assumed.tables]
    assert titles == ["Assumed of ibm-power-770", "Assumed of oltp"]


def test_where_it_is_from_names_the_state_of_the_program_and_the_scenario(runs: list[Run]) -> None:
    (line,) = sections(runs[:1])[-2].lines
    content = (runs[0].path / "scenario.toml").read_bytes()
    assert hashlib.sha256(content).hexdigest()[:12] in line
    assert (runs[0].provenance["commit"] or "")[:12] in line


@pytest.mark.skipif(browser() is None, reason="no Chromium to print with")
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext to read with")
def test_a_long_command_is_printed_whole(tmp_path: Path) -> None:
    """On paper nothing can be moved sideways."""
    command = f"chsyscfg {' '.join(f'word{at}' for at in range(60))}"
    html = write_report("x", [Section("Advice", commands=(command,))], tmp_path / "x.html")
    pdf = write_pdf(html, tmp_path / "x.pdf")
    text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True)
    assert all(f"word{at}" in text.stdout for at in range(60))
