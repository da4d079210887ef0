"""Which frame is shown when."""

from __future__ import annotations

import pytest

from homenode.top.clock import SPEEDS, Clock

TEN = range(10)


@pytest.mark.parametrize("speed", SPEEDS)
def test_so_many_frames_in_a_second(speed: float) -> None:
    clock = Clock(speed=speed)
    for _ in range(80):
        clock.tick(0.1, range(1_000))
    assert clock.position == pytest.approx(8 * speed, abs=1)


def test_it_stops_at_the_end_and_plays_again_from_the_beginning() -> None:
    clock = Clock(speed=32.0)
    clock.tick(1.0, TEN)
    assert (clock.position, clock.playing) == (9, False)
    clock.toggle(TEN)
    assert (clock.position, clock.playing) == (0, True)


def test_paused_it_stays() -> None:
    clock = Clock()
    clock.toggle(TEN)
    clock.tick(60.0, TEN)
    assert clock.position == 0


def test_a_pause_keeps_no_part_of_a_frame() -> None:
    clock = Clock()
    clock.tick(0.9, TEN)
    clock.toggle(TEN)
    clock.toggle(TEN)
    clock.tick(0.9, TEN)
    assert clock.position == 0


@pytest.mark.parametrize(("frames", "place"), [(1, 6), (-1, 4), (10, 9), (-10, 0)])
def test_steps_pause_and_stay_within(frames: int, place: int) -> None:
    clock = Clock(position=5)
    clock.step(frames, TEN)
    assert (clock.position, clock.playing) == (place, False)


def test_it_follows_what_grows_until_somebody_steps() -> None:
    clock = Clock(follows=True)
    clock.tick(0.1, range(7), grows=True)
    assert clock.position == 6
    clock.step(-2, range(7))
    clock.tick(5.0, range(9), grows=True)
    assert (clock.position, clock.playing) == (4, False)
    clock.last(range(9), grows=True)
    clock.tick(0.1, range(12), grows=True)
    assert clock.position == 11


def test_what_grows_is_waited_for() -> None:
    clock = Clock(speed=32.0)
    clock.tick(1.0, range(3), grows=True)
    assert (clock.position, clock.playing) == (2, True)


def test_frames_that_are_gone_are_not_shown() -> None:
    clock = Clock(position=2)
    clock.step(-1, range(5, 20))
    assert clock.position == 5


def test_speed_has_bounds() -> None:
    clock = Clock()
    clock.change_speed(99)
    assert clock.speed == SPEEDS[-1]
    clock.change_speed(-99)
    assert clock.speed == SPEEDS[0]


def test_nothing_there_is_no_error() -> None:
    clock = Clock()
    clock.tick(1.0, range(0), grows=True)
    clock.step(1, range(0))
    assert clock.position == 0
