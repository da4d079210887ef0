"""`homenode consolidate` as it is typed: its answer, and each refusal with its next step."""

from __future__ import annotations

import datetime as dt
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from uses_made import BEGIN, day_and_night, four, nmon

from homenode.cli import call

TARGET = "ibm-power-e1080"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    four(tmp_path / "made")


def homenode(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = call(shlex.split(f"consolidate {line}"))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answer(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    code, out, err = homenode(capsys, f"{line} --json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_answer_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = homenode(capsys, f"made --onto {TARGET}x2")
    assert code == 0
    for part in (
        "4 partitions: they fit: ",
        "cores to license: ",
        "fewest machines: 1 of these 2 would do",
        "days left: not told, 3 days count; growth is told from 14 days on",
        "more that fit: ",
        "a machine lost: they fit still",
        "a node lost: they fit still",
        "busiest hour: ",
        "at the 97th percentile",
    ):
        assert part in out
    assert "no time zone" in err


def test_the_answer_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, f"made --onto {TARGET}x2 --headroom 20% --growth 2%/month")
    assert told["fits"] is True
    assert told["cores_usable"] == pytest.approx(2 * 240 * 0.8)
    assert told["cores_left"] == pytest.approx(told["cores_usable"] - told["peak_of_sums"])
    assert {one["name"] for one in told["partitions"]} == {"a", "b", "c", "d"}
    placed = [name for one in told["machines"] for name in one["partitions"]]
    assert sorted(placed) == ["a", "b", "c", "d"]
    assert sum(one["licensed"] for one in told["machines"]) == told["cores_licensed"]
    assert told["days_left"][0]["trend"] == "compound"
    assert told["recorded"]["step_s"] == 900
    lost = told["machine_lost"]
    assert set(lost["moves"]) == set(
        next(one["partitions"] for one in told["machines"] if one["name"] == lost["lost"])
    )


def test_what_ratings_compare_does_no_work(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = homenode(capsys, f"made --onto {TARGET}")
    assert "in those of the machine, doing oltp\n" in out
    _, out, _ = homenode(capsys, f"made --onto {TARGET} --rating *=9 --rating {TARGET}=26")
    assert "factor: what a core of rating 9 of 26 is in those of the machine\n" in out


def test_what_is_said_of_all_cores_is_not_said_of_the_target(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = homenode(capsys, f"made --onto {TARGET} --rating *=9")
    assert code == 2
    assert f"the target {TARGET} has no rating: say it with --rating {TARGET}=" in err


def test_the_same_twice_and_whatever_the_processors(capsys: pytest.CaptureFixture[str]) -> None:
    line = f"made --onto ibm-power-770 --onto {TARGET} --apart a,d"
    first = answer(capsys, line)
    assert answer(capsys, f"{line} --cpus 1") == first
    where = {one["name"]: one["machine"] for one in first["partitions"]}
    assert where["a"] != where["d"]


def test_layouts_are_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, f"made --onto {TARGET} -o out")
    assert told["scenarios"] == [f"out/{TARGET}.toml"]
    assert [str(one) for one in Path("out").iterdir()] == told["scenarios"]
    code, out, err = homenode(capsys, f"made --onto {TARGET} -o out")
    assert (code, out) == (2, "")
    assert "--force" in err


def test_what_cannot_fit_is_told_with_how_many_would_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = homenode(capsys, "made --onto ibm-power-770 --cores 6")
    assert code == 0
    assert "they do not fit: ibm-power-770 is " in out
    assert "; 2 machines would do" in out


def test_one_sample_and_no_use_at_all_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    Path("one").mkdir()
    Path("one/a.nmon").write_text(nmon("a", [1.0]))
    code, out, _ = homenode(capsys, f"one --onto {TARGET}x3")
    assert code == 0
    assert "1 partition: they fit" in out
    assert "1 day counts" in out
    Path("one/a.nmon").write_text(nmon("a", [0.0] * 96))
    told = answer(capsys, f"one --onto {TARGET}")
    assert (told["peak_of_sums"], told["cores_licensed"]) == (0, 0)


def test_recordings_of_other_years_tell_no_growth_of_the_time_between(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("years").mkdir()
    for number, name in enumerate("ab"):
        begin = BEGIN - dt.timedelta(days=700 * number)
        Path(f"years/{name}.nmon").write_text(nmon(name, day_and_night(1), begin=begin))
    told = answer(capsys, f"years --onto {TARGET}")
    assert told["growth"]["why"].startswith("6 days count; growth")
    assert any("not recorded all the time: a 99.6%" in one["text"] for one in told["notes"])
    code, out, err = homenode(capsys, f"years --onto {TARGET} --gaps leave-out")
    assert (code, out) == (2, "")
    assert "no step of the recordings counts" in err


def test_steps_that_are_left_out_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some").mkdir()
    for number, name in enumerate("ab"):
        begin = BEGIN + dt.timedelta(days=2 * number)
        Path(f"some/{name}.nmon").write_text(nmon(name, day_and_night(1), begin=begin))
    notes = answer(capsys, f"some --onto {TARGET} --gaps leave-out")["notes"]
    told = [one["text"] for one in notes if "steps were recorded of all" in one["text"]]
    assert told == ["96 of 480 steps were recorded of all; the others are left out (--gaps)"]


@pytest.mark.parametrize(
    "time", ["{0:%Y-%m-%d %H:%M:%S}+00:00", "{0:%Y-%m-%dT%H:%M:%SZ}", "{1:.0f}"], ids=str
)
def test_a_table_that_tells_its_zone_is_not_added_to_one_that_does_not(
    time: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, form in (("a", time), ("b", "{0:%Y-%m-%d %H:%M:%S}")):
        moments = [BEGIN.replace(tzinfo=dt.UTC) + dt.timedelta(hours=at) for at in range(48)]
        rows = [f"{name},{form.format(one, one.timestamp())},1.5" for one in moments]
        Path(f"{name}.csv").write_text("\n".join(["name,time,cores", *rows]) + "\n")
    line = f"a.csv b.csv --onto {TARGET} --from '*=ibm-power-770'"
    code, out, err = homenode(capsys, line)
    assert (code, out) == (2, "")
    assert "nothing tells the time zone of b, that of a is known" in err
    notes = answer(capsys, f"{line} --zone b=America/New_York")["notes"]
    assert any("a 7.7%, b 7.7%" in one["text"] for one in notes)


def test_a_table_of_which_some_times_tell_a_zone_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [f"a,2026-09-07 {hour:02}:00:00{'Z' * (hour < 8)},1.5" for hour in range(24)]
    Path("a.csv").write_text("\n".join(["name,time,cores", *rows]) + "\n")
    notes = answer(capsys, f"a.csv --onto {TARGET} --from '*=ibm-power-770'")["notes"]
    told = "8 of 24 times tell their time zone; the others are taken for UTC"
    assert any(told in one["text"] for one in notes)


REFUSED = {
    "no such folder": ("nowhere", "nowhere"),
    "empty folder": ("empty", "there is no file"),
    "no such machine": ("made --onto ibm-power-e1090", "did you mean ibm-power-e1080?"),
    "none of a machine": (f"made --onto {TARGET}x0", "none of that machine"),
    "too many machines": (f"made --onto {TARGET}x2000", "more than 1,000"),
    "not enough memory": (f"made --onto {TARGET} --memory 16GiB", "name more machines with --onto"),
    "more memory than it holds": (f"made --onto {TARGET} --memory 1000TiB", "holds at most"),
    "no memory": (f"made --onto {TARGET} --memory lots", "--memory"),
    "too many cores": (f"made --onto {TARGET} --cores 241", "name 1 to 240"),
    "no cores": (f"made --onto {TARGET} --cores 0", "--cores"),
    "hours": (f"made --onto {TARGET} --hours 8-25", "write them like 8-18 or 22-6"),
    "hours of nothing": (f"made --onto {TARGET} --hours 8-8", "--hours 8-8"),
    "days": (f"made --onto {TARGET} --days mon-fry", "write them like mon-fri"),
    "days that were not recorded": (f"made --onto {TARGET} --days sat,sun", "no step of the"),
    "zone": (f"made --onto {TARGET} --zone Mars/Base", "IANA"),
    "two zones": (f"made --onto {TARGET} --zone UTC --zone Europe/Rome", "in one zone"),
    "zone of nobody": (f"made --onto {TARGET} --zone x=UTC", "no partition or file is x"),
    "zone that is none": (f"made --onto {TARGET} --zone a=Nowhere", "no time zone Nowhere"),
    "rating": (f"made --onto {TARGET} --rating a", "NAME=RATING"),
    "rating of nobody": (f"made --onto {TARGET} --rating zz=2", "nothing that was recorded"),
    "rating without the target's": (f"made --onto {TARGET} --rating a=2", f"--rating {TARGET}="),
    "from": (f"made --onto {TARGET} --from a", "write --from NAME=MACHINE"),
    "from a machine that is none": (f"made --onto {TARGET} --from a=vax", "no machine is called"),
    "growth": (f"made --onto {TARGET} --growth lots", "2%/month or 0.5 cores/year"),
    "apart alone": (f"made --onto {TARGET} --apart a", "name two or more"),
    "apart of nobody": (f"made --onto {TARGET}x2 --apart a,x", "there is no partition x"),
    "apart on one machine": (f"made --onto {TARGET} --apart a,b", "cannot be apart on 1 machine"),
    "apart twice": (f"made --onto {TARGET}x3 --apart a,b --apart b,c", "write them as one"),
    "percentile 0": (f"made --onto {TARGET} --percentile 0", "above 0 and up to 100"),
    "percentile 101": (f"made --onto {TARGET} --percentile 101", "above 0 and up to 100"),
    "percentile nan": (f"made --onto {TARGET} --percentile nan", "above 0 and up to 100"),
    "headroom": (f"made --onto {TARGET} --headroom 100%", "--headroom"),
    "headroom below 0": (f"made --onto {TARGET} --headroom -1%", "--headroom"),
    "step": (f"made --onto {TARGET} --step 2d", "--step"),
    "seed": (f"made --onto {TARGET}x2 --seed 99999999999999999999", "--seed"),
    "profile": (f"made --onto {TARGET} --profile oltq", "oltp"),
    "cells": ("made --onto hp-rx8640 -o out", "leave -o out"),
}


@pytest.mark.parametrize(("line", "told"), REFUSED.values(), ids=REFUSED)
def test_refusals_say_what_to_do(capsys: pytest.CaptureFixture[str], line: str, told: str) -> None:
    Path("empty").mkdir()
    line = line if "--onto" in line else f"{line} --onto {TARGET}"
    code, out, err = homenode(capsys, line)
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())
    assert "Traceback" not in err
    assert sorted(one.name for one in Path().iterdir()) == ["empty", "made"]


def test_two_tales_of_one_time_are_refused_by_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("made/again.nmon").write_text(nmon("b", day_and_night(7), memory_mib=16384))
    code, out, err = homenode(capsys, f"made --onto {TARGET}")
    assert (code, out) == (2, "")
    assert "again.nmon" in err
    assert "b.nmon" in err
    assert "give one of them" in err


def test_a_server_of_unknown_speed_is_named_with_how_to_say_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = nmon("x", day_and_night(1), serial="99", machine=("ACME,1-2", "Mill"))
    Path("made/x.nmon").write_text(text)
    code, out, err = homenode(capsys, f"made --onto {TARGET}")
    assert (code, out) == (2, "")
    assert "1-2" in err
    assert "--from NAME=MACHINE" in err
    assert homenode(capsys, f"made --onto {TARGET} --from x=ibm-power-795")[0] == 0


def test_headroom_over_the_days_as_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    asked = f"made --onto {TARGET}x2 --growth 2%/month"
    assert homenode(capsys, f"{asked} --picture left.json")[0] == 0
    drawn = json.loads(Path("left.json").read_text())
    assert len(drawn["vconcat"]) == 2
    rows = [row for data in drawn["datasets"].values() for row in data if "days" in row]
    by_kind: dict[str, list[float]] = {}
    for row in sorted(rows, key=lambda row: row["days"]):
        by_kind.setdefault(row["kind"], []).append(row["left"])
    told = answer(capsys, asked)
    assert by_kind.pop("recorded") == [one["left"] for one in told["by_day"]]
    (left,) = by_kind.values()
    # Demand that grows leaves less each day.
    assert left == sorted(left, reverse=True)
    assert left[0] == pytest.approx(told["cores_left"])
    # Three days tell no growth: then there is what they left, and no more.
    assert homenode(capsys, f"made --onto {TARGET} --picture now.json")[0] == 0
    drawn = json.loads(Path("now.json").read_text())
    rows = [row for data in drawn["datasets"].values() for row in data if "days" in row]
    assert {(row["kind"], row["days"]) for row in rows} == {("recorded", at) for at in (-2, -1, 0)}
