"""One list of all errors with what they print; facts that the sentence holds are not repeated."""

from __future__ import annotations

import pytest

import homenode
from homenode import errors

FACTS = {
    "asked": "40",
    "there": "there are 30",
    "where": errors.Where("s.toml", 3, 7),
    "next_step": "ask for 30",
}
SUBJECT = "web asks 40 cores"
CLASSES = [
    homenode.HomenodeError,
    homenode.InputError,
    homenode.ScenarioError,
    homenode.MachineError,
    homenode.ProfileError,
    homenode.StudyError,
    errors.SuiteError,
    errors.CapabilityError,
    homenode.NotFoundError,
    errors.NoSuchNameError,
    homenode.RunError,
    homenode.DamagedRunError,
    homenode.StoreError,
    homenode.EngineError,
    homenode.EngineMissingError,
    homenode.Interrupted,
]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_one_message(kind: type[errors.HomenodeError]) -> None:
    error = kind(SUBJECT, **FACTS)
    assert str(error) == "s.toml:3:7: web asks 40 cores: there are 30; ask for 30"
    assert (error.asked, error.there, error.next_step) == ("40", "there are 30", "ask for 30")
    assert str(kind("nothing more")) == "nothing more"
    assert error.exit_code == (130 if kind is homenode.Interrupted else 2)
    assert isinstance(error, homenode.HomenodeError)


def test_all_classes_are_listed() -> None:
    defined = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.HomenodeError)
    }
    assert defined == set(CLASSES)


def test_places_are_written_as_far_as_known() -> None:
    assert str(errors.Where("a.toml")) == "a.toml"
    assert str(errors.Where("a.toml", 4)) == "a.toml:4"


def test_nearest() -> None:
    assert errors.nearest("lpar11", ["lpar1", "web"]) == "; did you mean lpar1?"
    assert errors.nearest("zzz", ["lpar1", "web"]) == "; there are lpar1, web"
    assert errors.nearest("zzz", ["lpar1"]) == "; there is lpar1"
    assert errors.nearest("zzz", []) == "; there are none"
