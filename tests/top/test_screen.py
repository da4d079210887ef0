"""The screen by Textual's pilot: what it shows at two sizes, what each key does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from homenode.simulate.kept.kept_run import KeptRun
from homenode.top.clock import Clock
from homenode.top.kept import KeptSource
from homenode.top.screen import TopApp

SMALL, LARGE = (80, 24), (120, 40)
Play = Callable[[Pilot[None], TopApp], Awaitable[None]]


def screen(app: TopApp) -> list[str]:
    """The lines of the screen."""
    strips = app.screen._compositor.render_strips()
    return ["".join(part.text for part in strip) for strip in strips]


def watch(run: KeptRun, size: tuple[int, int], play: Play, clock: Clock | None = None) -> None:
    """Play on a screen whose clock stands still."""

    async def go() -> None:
        app = TopApp(KeptSource(run), clock or Clock(playing=False), now=lambda: 0.0)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await play(pilot, app)

    asyncio.run(go())


async def shown(pilot: Pilot[None], app: TopApp, *keys: str) -> str:
    await pilot.press(*keys)
    await pilot.pause()
    return "\n".join(screen(app))


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_all_is_on_the_screen(run: KeptRun, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        lines = screen(app)
        assert (len(lines[0]), len(lines)) == size
        assert run.id in lines[0]
        assert "frame 1/5" in lines[0]
        assert "0.2 of 1 s" in lines[1]
        assert "capacity 64" in lines[1]
        assert [line.split()[0] for line in lines[4:7]] == [">web", "db", "own"]
        assert lines[-1].strip().startswith("[c]")
        assert lines[-1].strip().endswith("q quit")

    watch(run, size, play)


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("t", "partition"),
        ("p", "web: 4 virtual processors"),
        ("m", "GB/s read"),
        ("d", "ended by"),
        ("l", "physb"),
        ("L", "physb"),
        ("h", "used within the entitlement"),
    ],
)
def test_each_key_has_its_pane(run: KeptRun, size: tuple[int, int], key: str, told: str) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        assert told in await shown(pilot, app, key)
        assert "mode" in await shown(pilot, app, "c")

    watch(run, size, play)


@pytest.mark.parametrize("size", [(60, 15), (30, 8)])
def test_a_narrow_screen_breaks_no_line(run: KeptRun, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        lines = screen(app)
        assert [line.split()[0] for line in lines[3:7]] == ["partition", ">web", "db", "own"]
        assert lines[-1].strip().startswith("[c]")

    watch(run, size, play)


def test_steps_change_the_figures(run: KeptRun) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        first = screen(app)
        then = await shown(pilot, app, "right")
        assert "frame 2/5" in then
        assert screen(app)[4:7] != first[4:7]
        await shown(pilot, app, "left")
        assert screen(app)[4:7] == first[4:7]
        assert "frame 5/5" in await shown(pilot, app, "end")
        assert "frame 5/5" in await shown(pilot, app, "right")
        assert "frame 1/5" in await shown(pilot, app, "home")

    watch(run, SMALL, play)


def test_space_and_speed_are_shown(run: KeptRun) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        assert "paused 1/s" in screen(app)[0]
        assert "playing 1/s" in await shown(pilot, app, "space")
        assert "playing 4/s" in await shown(pilot, app, "plus", "plus")
        assert "paused 2/s" in await shown(pilot, app, "minus", "space")

    watch(run, SMALL, play)


def test_the_clock_moves_the_frames(run: KeptRun) -> None:
    async def go() -> None:
        now = [0.0]
        app = TopApp(KeptSource(run), Clock(), now=lambda: now[0])
        async with app.run_test(size=SMALL) as pilot:
            now[0] = 3.0
            app.look()
            await pilot.pause()
            assert "frame 4/5" in screen(app)[0]

    asyncio.run(go())


def test_the_chosen_partition_is_the_one_whose_processors_are_shown(run: KeptRun) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        assert ">db" in await shown(pilot, app, "down")
        assert "db: 4 virtual" in await shown(pilot, app, "p")
        assert "own: 2 virtual" in await shown(pilot, app, "down", "down", "down")

    watch(run, SMALL, play)


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_it_can_be_left(run: KeptRun, key: str) -> None:
    async def play(pilot: Pilot[None], app: TopApp) -> None:
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running
        assert app.return_code == 0

    watch(run, SMALL, play)
