"""A frame as lines of text, a function a pane. Nothing is told by colour alone: a bar has another
mark beyond the entitlement, and the figure stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.text import Text

from homenode.model.numbers import NOTHING, number
from homenode.records.exporting.dispatches import REASONS
from homenode.top.frames import Distances, Frame, PartitionRow

WITHIN, BEYOND, ENTITLED, FREE = "█", "▓", "|", "·"
"""Marks of a bar: used of the entitlement, used beyond it, where it ends, not used."""
_NAME = 14
_WIDE = 110
"""Columns from which on a pane tells more."""
_LEAST_BAR = 8
_GB = 1e9
NOT_TOLD = "a recording does not tell this: it holds the cores of each partition only"
_KEPT = "told with `record_dispatches = true` under [run]"
Pane = Callable[[Frame, str, int], list[Text]]
"""From a frame, the chosen partition's name and the width."""


def bar(used: float | None, entitled: float | None, scale: float, width: int) -> Text:
    """A use on a scale [cores], with a mark where the entitlement ends."""
    if used is None:
        return Text("not recorded"[:width].ljust(width), "dim")
    filled = _cells(used, scale, width)
    mark = width if entitled is None else _cells(entitled, scale, width)
    told = Text().append(WITHIN * min(filled, mark), "green")
    told.append(BEYOND * (filled - mark), "yellow")
    if entitled is None or filled > mark or filled == width:
        return told.append(FREE * (width - filled), "dim")
    mark = min(mark, width - 1)
    told.append(FREE * (mark - filled), "dim").append(ENTITLED, "bold")
    return told.append(FREE * (width - mark - 1), "dim")


def _cells(cores: float, scale: float, width: int) -> int:
    return round(width * min(cores, scale) / scale) if scale else 0


def summary(frame: Frame, width: int) -> list[Text]:
    """The frame as a whole: figures, and a bar of its capacity."""
    told = Text(f" {frame.time}   {frame.unit} used ")
    told.append(number(frame.used), "bold")
    told.append(f" / entitled {number(frame.entitled)} / capacity {number(frame.capacity, 0)}")
    if frame.used is not None and frame.capacity:
        told.append(f", {100 * frame.used / frame.capacity:.1f} %")
    scale = frame.capacity or max(frame.used or 0.0, frame.entitled)
    label = Text(" frame ")
    return [told, label + bar(frame.used, frame.entitled, scale, max(_LEAST_BAR, width - 8))]


def partitions(frame: Frame, chosen: str, width: int) -> list[Text]:
    """The partitions in their order, and the shared pools."""
    return [*_partitions(frame, frame.partitions, chosen, width), *_pools(frame, width)]


def busiest(frame: Frame, chosen: str, width: int) -> list[Text]:
    """The partitions, those that use most first."""
    order = sorted(frame.partitions, key=lambda one: -(one.used or 0.0))
    return _partitions(frame, order, chosen, width)


def _partitions(frame: Frame, rows: Sequence[PartitionRow], chosen: str, width: int) -> list[Text]:
    wide = width >= _WIDE
    scale = max((one.scale for one in rows), default=0.0)
    left = [f" {'partition':{_NAME}} mode         ent   physc  %entc "]
    right = f" {'home':>4} {'near':>4} {'far':>4}"
    if wide:
        right += f" {'vp':>4} {'unf':>4} {'runq':>6} {'resp ms':>8}"
    space = max(_LEAST_BAR, width - len(left[0]) - len(right))
    head = f"0{f'{scale:g} {frame.unit}':>{space - 1}}"
    found = [_head(f"{left[0]}{head}{right}")]
    for one in rows:
        line = Text(f"{_name(one.name, chosen)} {one.mode:9} ")
        line.append(
            f"{number(one.entitled):>6} {number(one.used):>7} {number(one.entc_pct, 1):>6} "
        )
        line += bar(one.used, one.entitled, scale, space)
        line.append(_distances(one.distances))
        if wide:
            line.append(
                f" {_whole(one.virtual):>4} {_whole(one.unfolded):>4} {number(one.runnable, 1):>6}"
                f" {number(one.response_ms, 1):>8}"
            )
        found.append(_marked(line, one.name == chosen))
    return found


def _pools(frame: Frame, width: int) -> list[Text]:
    if len(frame.pools) < 2 and all(one.cores == frame.capacity for one in frame.pools):
        return []
    found = [Text(""), _head(f" {'pool':{_NAME}}          cores    used")]
    for one in frame.pools:
        line = Text(f" {one.name[:_NAME]:{_NAME}}          {one.cores:5g} {one.used:7.2f}        ")
        found.append(line + bar(one.used, None, one.cores, max(_LEAST_BAR, width - 62)))
    return found


def lpars(frame: Frame, chosen: str, width: int) -> list[Text]:  # noqa: ARG001 - one shape
    """The partitions by columns that people of topas know."""
    if all(one.states is None for one in frame.partitions):
        return [Text(f" {NOT_TOLD}")]
    found = [
        _head(f" {'host':{_NAME}} M   mem   lp  us  sy  wa  id  physb    ent %entc   vcsw   phi")
    ]
    for one in frame.partitions:
        us, sy, wa, idle = (100 * share for share in one.states or (0, 0, 0, 0))
        memory = NOTHING if one.memory_bytes is None else f"{one.memory_bytes / 2**30:.0f}G"
        lp = (one.virtual or 0) * (one.smt or 1)
        line = Text(
            f"{_name(one.name, chosen)} {one.mode[:1].upper()} {memory:>5} {lp:>4} {us:3.0f}"
            f" {sy:3.0f} {wa:3.0f} {idle:3.0f} {number(one.used):>6} {number(one.entitled):>6}"
            f" {number(one.entc_pct, 0):>5} {one.per_s['vcsw']:6.0f} {one.per_s['phint']:5.0f}"
        )
        found.append(_marked(line, one.name == chosen))
    return [*found, Text(" M: C capped, U uncapped, D dedicated or donating", "dim")]


def processors(frame: Frame, chosen: str, width: int) -> list[Text]:
    """The virtual processors of the chosen partition."""
    of = next((one for one in frame.partitions if one.name == chosen), None)
    if of is None or not of.processors:
        return [Text(f" {NOT_TOLD}" if of is None or of.states is None else f" {chosen}: idle")]
    head = (
        f" {chosen}: {len(of.processors)} virtual processors, {_whole(of.unfolded)} unfolded, "
        f"{number(of.runnable, 1)} threads runnable"
    )
    left = f" {'vp':>4} {'at':>5} physc  us%  sy%  wa%  id% "
    right = f" {'home':>4} {'near':>4} {'far':>4} vlcs/s ilcs/s"
    space = max(_LEAST_BAR, width - len(left) - len(right))
    found = [Text(head, "bold"), _head(f"{left}{f'0{1:>{space - 1}}'}{right}")]
    for one in of.processors:
        states = " ".join(f"{100 * share:4.0f}" for share in one.states)
        line = Text(f" {one.number:>4} {one.home or NOTHING:>5} {one.used:5.2f} {states} ")
        line += bar(one.used, None, 1.0, space)
        line.append(_distances(one.distances))
        line.append(f" {one.voluntary_per_s:6.0f} {one.involuntary_per_s:6.0f}")
        found.append(line)
    return found


def nodes(frame: Frame, chosen: str, width: int) -> list[Text]:
    """The nodes: cores, memory and links, who is at home there, who ran there."""
    if not frame.nodes:
        return [Text(f" {NOT_TOLD}")]
    unit = "cores" if frame.unit == "cores" else "procs"
    left = f" node {unit}   used  memory GB/s read      %     in    out wait ns  "
    wide = width >= _WIDE and any(one.ran for one in frame.nodes)
    room = (width - len(left)) // 2 if wide else width - len(left)
    found = [_head(f"{left}{'at home':{room}}{'ran there' if wide else ''}".rstrip())]
    for one in frame.nodes:
        memory = f"{one.memory_bytes / 2**30:,.0f}G"
        line = Text(
            f" {one.name:>4} {one.cores:>5} {number(one.used):>6} {memory:>7}"
            f" {one.memory_gb_per_s:>9.2f} {one.memory_pct:>6.1f} {one.into_gb_per_s:>6.2f}"
            f" {one.out_gb_per_s:>6.2f} {one.wait_ns:>7.1f}  "
        )
        home = _names(one.home_of, room - 2 if wide else room)
        line.append(f"{home:{room}}" if wide else home, "bold" if chosen in one.home_of else "")
        if wide:
            line.append(_names((f"{name} {cores:.1f}" for name, cores in one.ran), room, ", "))
        found.append(line)
    if all(one.used is None for one in frame.nodes):
        found += [Text(""), Text(f" whose cores were used where is {_KEPT}", "dim")]
    return found


def dispatches(frame: Frame, chosen: str, width: int) -> list[Text]:  # noqa: ARG001 - one shape
    """Why partitions were dispatched, and why they lost the core."""
    if not any(one.per_s for one in frame.partitions):
        return [Text(f" {NOT_TOLD}")]
    titles = ("disp", "cede", "confer", "prod", "evict", "phint", "thrott")
    keys = (
        "dispatches", "cede_calls", "confer_calls", "prod_calls", "evictions", "phint",
        "throttled_periods",
    )  # fmt: skip
    head = " ".join(f"{title:>7}" for title in titles)
    found = [_head(f" {'a second':{_NAME}} {head} wait ms")]
    for one in frame.partitions:
        rates = " ".join(f"{one.per_s[key]:7,.0f}" for key in keys)
        line = Text(f"{_name(one.name, chosen)} {rates} {one.per_s['ready_ms']:7.3f}")
        found.append(_marked(line, one.name == chosen))
    if any(one.reasons for one in frame.partitions):
        return [*found, Text(""), *_reasons(frame, chosen)]
    return [*found, Text(""), Text(f" why each dispatch ended is {_KEPT}", "dim")]


def _reasons(frame: Frame, chosen: str) -> list[Text]:
    """Dispatches in a second by why they ended; only reasons that occur."""
    there = [name for name in REASONS if any(name in one.reasons for one in frame.partitions)]
    widths = {name: max(7, len(name)) for name in there}
    found = [
        _head(f" {'ended by':{_NAME}} " + " ".join(f"{name:>{widths[name]}}" for name in there))
    ]
    for one in frame.partitions:
        rates = " ".join(f"{one.reasons.get(n, 0):{widths[n]},.0f}" for n in there)
        found.append(_marked(Text(f"{_name(one.name, chosen)} {rates}"), one.name == chosen))
    return found


PANES: dict[str, tuple[str, Pane]] = {
    "c": ("partitions", partitions),
    "t": ("busiest first", busiest),
    "p": ("virtual processors", processors),
    "m": ("nodes and memory", nodes),
    "d": ("dispatches", dispatches),
    "l": ("LPARs", lpars),
}
"""By key, what a pane is called and who writes it."""


def _head(text: str) -> Text:
    return Text(text, "bold underline")


def _name(name: str, chosen: str) -> str:
    """A name in its column, marked where it is chosen."""
    short = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    return f"{'>' if name == chosen else ' '}{short:{_NAME}}"


def _marked(line: Text, chosen: bool) -> Text:
    if chosen:
        line.stylize("bold")
    return line


def _distances(shares: Distances | None) -> str:
    told = (NOTHING,) * 3 if shares is None else tuple(f"{100 * one:.0f}" for one in shares)
    return "".join(f" {one:>4}" for one in told)


def _whole(count: float | None) -> str:
    return NOTHING if count is None else f"{count:.0f}"


def _names(names: Iterable[str], width: int, between: str = " ") -> str:
    """As many as fit, and how many more there are."""
    told, rest = "", list(names)
    while rest:
        more = f" +{len(rest)}"
        longer = f"{told}{between if told else ''}{rest[0]}"
        if len(longer) + (len(more) if len(rest) > 1 else 0) > max(width, 12):
            return f"{told}{more}".strip()
        told = longer
        rest.pop(0)
    return told or NOTHING
