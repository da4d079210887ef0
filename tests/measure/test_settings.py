"""The words of two sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.hosts.errors import MeasureError
from homenode.hosts.settings import call, parse


def test_words_become_a_setting() -> None:
    words = "cpus=0-1,3 weight=200 quota=0.5 period=50ms burst=2ms idle env=A=b=c switch='true x'"
    system = parse("a", words)
    assert system.setting.cpus == (0, 1, 3)
    assert system.setting.weight == 200
    assert system.setting.quota == 0.5
    assert system.setting.period_us == 50_000
    assert system.setting.burst_us == 2_000
    assert system.setting.idle
    assert system.env == {"A": "b=c"}
    assert system.switch == "true x"
    assert system.as_json()["cpus"] == "0-1,3"


def test_no_words_are_a_setting_too() -> None:
    assert parse("b", "").as_json() == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("wieght=200", "did you mean weight"),
        ("weight=heavy", "no such value"),
        ("cpus=0;1", "no such value"),
        ("cpus=", "no such value"),
        ("cpus=0-99999999999", "no such value"),
        ("quota=nan", "makes no sense"),
        ("quota=inf", "makes no sense"),
        ("quota=1e30", "makes no sense"),
        ("quota=0.1 burst=20ms", "more than the quota"),
        ("idle=no", "idle takes no value"),
        ("quota=", "no such value"),
        ("period=50", "no such value"),
        ("env=A", "env=NAME=value"),
        ("switch=", "needs a command"),
        ("weight='1", "No closing quotation"),
        ("weight=0", "out of range"),
    ],
)
def test_words_that_make_no_sense(words: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse("a", words)


def test_a_switch_that_fails_says_its_words(tmp_path: Path) -> None:
    call(f"touch '{tmp_path}/on'")
    assert (tmp_path / "on").exists()
    with pytest.raises(MeasureError, match=r"code 3: it printed: no such knob"):
        call("echo no such knob >&2; exit 3")
