"""The screen: a line on what is looked at, the frame as a whole, one pane, the keys.

Four parts, each text that the panes write; this file only moves the clock and puts them there.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from homenode.top.clock import Clock
from homenode.top.frames import Frame, Source
from homenode.top.panes import PANES, busiest, summary

TICK_S = 0.1
"""How often the screen looks whether there is something new."""
KEYS = (
    ("c", "cpu", "partitions"), ("t", "top", "top"), ("p", "vp", "vp"),
    ("m", "node", "nodes"), ("d", "disp", "dispatch"), ("l", "lpar", "LPARs"),
    ("spc", "play", "play"), ("←→", "step", "step"), ("↑↓", "", "choose"), ("+-", "", "speed"),
    ("h", "help", "help"), ("q", "quit", "quit"),
)  # fmt: skip
"""Keys, what they do in a word for 80 columns (nothing: only told where there is room), in full."""
_ROOMY = 110
_HELP = """\
 c  partitions            t  the busiest first      l  LPARs, as topas
 p  virtual processors of the partition that is chosen (marked >)
 m  nodes, memory, links  d  dispatches: how many, and why they ended

 up, down     choose a partition
 space        play, pause
 left, right  a frame back, a frame forth        page up, page down  ten frames
 home, end    the first frame, the newest
 + and -      faster, slower
 h  this help             q, Ctrl-C  quit

 at: node and chip that a virtual processor is at home on, as 2.0

 █ used within the entitlement, ▓ used beyond it, | where it ends, · not used
 physc: cores used; %entc: of the entitlement; home, near, far: % of its core
 time on its home chip, on another chip of that node, on another node
"""
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class TopApp(App[None]):
    """`homenode top` over a source of frames."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #about { height: 1; text-style: reverse; }
    #summary { height: 2; }
    Static { text-wrap: nowrap; text-overflow: ellipsis; }
    #body { height: 1fr; scrollbar-size-vertical: 1; }
    #keys { height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"pane('{key}')", show=False) for key in PANES),
        Binding("L", "pane('l')", show=False),
        Binding("h,question_mark,f1", "help", show=False),
        Binding("q,ctrl+c,ctrl+q", "quit", show=False, priority=True),
        Binding("space", "play", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("pageup", "step(-10)", show=False, priority=True),
        Binding("pagedown", "step(10)", show=False, priority=True),
        Binding("home", "first", show=False, priority=True),
        Binding("end", "last", show=False, priority=True),
        Binding("plus,equals_sign", "speed(1)", show=False),
        Binding("minus", "speed(-1)", show=False),
        Binding("up", "choose(-1)", show=False, priority=True),
        Binding("down", "choose(1)", show=False, priority=True),
    ]

    def __init__(
        self, source: Source, clock: Clock, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._source, self._clock, self._now = source, clock, now
        self._looked = now()
        self._pane, self._helps, self._chosen = "c", False, ""
        self._shown: object = None
        self.ended_by: int | None = None
        """The signal that asked for the end, if one did."""

    def compose(self) -> ComposeResult:
        """The four parts, from the top."""
        for name in ("about", "summary"):
            yield Static(id=name, markup=False)
        with VerticalScroll(id="body", can_focus=False):
            yield Static(id="lines", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Begin to look, and hear who asks for the end."""
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.add_signal_handler(number, self._end, number)
        self.set_interval(TICK_S, self.look)
        self.look()

    def on_unmount(self) -> None:
        """Leave signals to whoever called."""
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.remove_signal_handler(number)

    def _end(self, number: int) -> None:
        self.ended_by = number
        self.exit()

    def on_resize(self) -> None:
        """Write all anew."""
        self._draw()

    def look(self) -> None:
        """Let the clock go on, and show what that changes."""
        now = self._now()
        source = self._source
        if not source.grows and not source.there:  # it failed before there was anything to show
            self.exit()
            return
        self._clock.tick(now - self._looked, source.there, grows=source.grows)
        self._looked = now
        seen = (self._clock.position, self._clock.playing, source.state, len(source.there))
        if seen != self._shown:
            self._shown = seen
            self._draw()

    def _draw(self) -> None:
        width = self.size.width
        self.query_one("#about", Static).update(self._about(width))
        self.query_one("#keys", Static).update(_keys(width, self._pane))
        there = self._source.there
        self._clock.keep_within(there)
        lines: list[Text]
        if self._helps:
            lines = [Text(_HELP)]
        elif not there:
            lines = [Text(" no interval has ended yet; frames come as the simulation goes on")]
        else:
            frame = self._source.frame(self._clock.position)
            lines = self._write(frame, width)
        self.query_one("#lines", Static).update(Text("\n").join(lines))

    def _write(self, frame: Frame, width: int) -> list[Text]:
        names = [one.name for one in frame.partitions]
        if self._chosen not in names:
            self._chosen = names[0] if names else ""
        self.query_one("#summary", Static).update(Text("\n").join(summary(frame, width)))
        return PANES[self._pane][1](frame, self._chosen, width - 1)

    def _about(self, width: int) -> Text:
        source, clock, there = self._source, self._clock, self._source.there
        at = f"frame {clock.position + 1}/{there.stop}" if there else "no frame yet"
        how = "playing" if clock.playing else "paused"
        right = f"{at}  {how} {clock.speed:g}/s "
        left = f" {source.title}  {source.state}"
        room = max(0, width - len(right) - 1)
        short = left if len(left) <= room else f"{left[: max(0, room - 1)]}…"
        return Text(f"{short}{' ' * max(1, width - len(short) - len(right))}{right}")

    def action_pane(self, key: str) -> None:
        """Show another pane."""
        self._pane, self._helps = key, False
        self.query_one("#body", VerticalScroll).scroll_home(animate=False)
        self._draw()

    def action_help(self) -> None:
        """Show the keys, or the pane again."""
        self._helps = not self._helps
        self._draw()

    def action_play(self) -> None:
        """Play or pause."""
        self._clock.toggle(self._source.there, grows=self._source.grows)
        self.look()

    def action_step(self, frames: int) -> None:
        """Back or forth."""
        self._clock.step(frames, self._source.there)
        self.look()

    def action_first(self) -> None:
        """To the first frame."""
        self._clock.first(self._source.there)
        self.look()

    def action_last(self) -> None:
        """To the newest."""
        self._clock.last(self._source.there, grows=self._source.grows)
        self.look()

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        self._clock.change_speed(by)
        self._draw()

    def action_choose(self, by: int) -> None:
        """The next partition, in the order in which they are shown; else scroll."""
        body = self.query_one("#body", VerticalScroll)
        there = self._source.there
        if self._helps or not there:
            body.scroll_relative(y=by, animate=False)
            return
        frame = self._source.frame(self._clock.position)
        rows = list(frame.partitions)
        if PANES[self._pane][1] is busiest:
            rows.sort(key=lambda one: -(one.used or 0.0))
        names = [one.name for one in rows]
        at = names.index(self._chosen) if self._chosen in names else 0
        at = max(0, min(at + by, len(names) - 1))
        self._chosen = names[at]
        self._draw()
        if self._pane in "ctld":
            body.scroll_to(y=max(0, at + 2 - body.size.height // 2), animate=False)


def _keys(width: int, pane: str) -> Text:
    """The keys; the pane that is shown stands in brackets."""
    told = Text()
    for key, short, full in KEYS:
        what = full if width >= _ROOMY else short
        if what:
            told.append(f" [{key}]" if key == pane else f" {key}", "bold")
            told.append(f" {what} ")
    told.rstrip()
    return told
