"""A whole measurement as the command line and a notebook start it."""

from __future__ import annotations

from pathlib import Path

import fake_adapter
import pytest
from able import needs_groups_that_can, own_processors
from fake_adapter import row, write_suite

from homenode.hosts.errors import MeasureError
from homenode.hosts.live import Host, TaskTotals
from homenode.hosts.live.cgroups import Setting
from homenode.hosts.live.gate import Quiet
from homenode.hosts.result import load
from homenode.hosts.run_suite import run_suite
from homenode.hosts.session import Options
from homenode.hosts.settings import System
from homenode.report.hosts import sentences


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    fake_adapter.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_progress_tells_what_is_rejected_while_it_runs(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every repetition is disturbed: seen from the second on, not when all is over."""

    def disturbed(*_: object) -> str:
        return "others used 50 % of the host"

    monkeypatch.setattr(Quiet, "reason", disturbed)
    told: list[str] = []
    options = Options(patience_s=0.0, retries=0)
    kept = run_suite(
        str(write_suite(here, row("one", "print(1)"), defaults="repeats = 3\nseconds = 0.01")),
        options=options,
        out=here / "r.json",
        progress=lambda doing, _share, _left: told.append(doing),
    )
    assert told == [
        "fake/one (1)",
        "fake/one (2), 1 of 1 rejected so far",
        "fake/one (3), 2 of 2 rejected so far",
    ]
    assert kept.result.used() == []


def test_sides_of_several_sizes_cannot_share_a_load_by_the_processors(here: Path) -> None:
    suite = str(write_suite(here, row("one", "print(1)", "load_per_processor = 2")))
    sides = [System("a", Setting(cpus=(0,))), System("b", Setting(cpus=(0, 1)))]
    with pytest.raises(MeasureError, match="the sides have 1 and 2 processors"):
        run_suite(suite, sides, Options(foreign_limit=None), out=here / "ab.json")
    assert not (here / "ab.json").exists()


def test_a_load_by_the_processors_is_that_of_the_sides(here: Path) -> None:
    needs_groups_that_can("cpuset")
    suite = str(write_suite(here, row("one", "print(1)", "load_per_processor = 2")))
    sides = [System(name, Setting(cpus=(own_processors()[0],))) for name in "ab"]
    kept = run_suite(suite, sides, Options(foreign_limit=None), out=here / "ab.json")
    assert {(run.processors, run.load) for run in kept.result.records} == {(1, 2.0)}


def test_accounts_that_run_backwards_are_not_known(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that ends while the accounts are read may be in none of them."""
    given = iter(TaskTotals(1.0, 1.0, 9, 9 - i, 9, 1) for i in range(9))
    monkeypatch.setattr(Host, "totals", lambda *_: next(given))
    kept = run_suite(
        str(write_suite(here, row("one", "print(1)"), defaults="repeats = 1\nseconds = 0.01")),
        options=Options(foreign_limit=None),
        out=here / "r.json",
    )
    (record,) = kept.result.records
    assert (record.switches, record.run_delay_s) == (None, None)
    assert sentences(load(kept.path))


@pytest.mark.parametrize("anonymous", [False, True])
def test_where_all_fails_the_tools_own_words_stay(here: Path, *, anonymous: bool) -> None:
    """Nothing else is there to find out why; an older result of that name loses nothing."""
    older = run_suite(
        str(write_suite(here, row("one", "print(1)"))),
        options=Options(foreign_limit=None),
        out=here / "r.json",
    )
    words = sorted(path.name for path in older.raw.iterdir())
    suite = str(write_suite(here, row("bad", "import sys; sys.exit('out of luck')")))
    with pytest.raises(MeasureError, match=r"out of luck") as raised:
        run_suite(
            suite, options=Options(foreign_limit=None), out=here / "r.json", anonymous=anonymous
        )
    kept = [path for path in here.glob("r-failed-*.raw") if path.name in str(raised.value)]
    assert len(kept) == len([*here.glob("r-failed-*")]) == (0 if anonymous else 1)
    for folder in kept:
        assert any(b"out of luck" in file.read_bytes() for file in folder.rglob("*.err"))
    assert sorted(path.name for path in older.raw.iterdir()) == words
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
