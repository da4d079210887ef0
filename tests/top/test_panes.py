"""What a frame is as lines: figures, marks, widths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from homenode.top.frames import Frame, NodeRow, PartitionRow, PoolRow, ProcessorRow
from homenode.top.panes import BEYOND, ENTITLED, FREE, NOT_TOLD, PANES, WITHIN, bar, summary

PER_S = dict.fromkeys(
    (
        "dispatches",
        "cede_calls",
        "confer_calls",
        "prod_calls",
        "evictions",
        "phint",
        "vcsw",
        "throttled_periods",
        "ready_ms",
    ),
    0.0,
)


def partition(name: str, used: float, entitled: float) -> PartitionRow:
    return PartitionRow(
        name=name,
        mode="uncapped",
        used=used,
        entitled=entitled,
        virtual=8,
        smt=4,
        memory_bytes=40 << 30,
        states=(0.7, 0.2, 0.0, 0.1),
        distances=(0.5, 0.3, 0.2),
        unfolded=6,
        runnable=9.5,
        response_ms=12.25,
        per_s={**PER_S, "dispatches": 17_393.0, "evictions": 38.0},
        reasons={"cede": 12_000.0, "evicted": 38.0},
        processors=(
            ProcessorRow(0, "5.0", 0.96, (0.78, 0.2, 0.0, 0.02), (0.5, 0.3, 0.2), 403.0, 376.0),
        ),
    )


FRAME = Frame(
    time="3 of 10 s",
    partitions=(partition("web", 2.0, 3.0), partition("database-of-the-shop", 6.0, 4.0)),
    capacity=16.0,
    pools=(PoolRow("IFL", 8.0, 10.0), PoolRow("CP", 0.0, 2.0)),
    nodes=(
        NodeRow(
            name="5",
            cores=32,
            used=7.25,
            home_of=("web",),
            memory_bytes=80 << 30,
            memory_gb_per_s=15.08,
            memory_pct=3.8,
            into_gb_per_s=1.71,
            out_gb_per_s=1.05,
            wait_ns=1.6,
            ran=(("database-of-the-shop", 5.5), ("web", 1.75)),
        ),
    ),
)
RECORDED = Frame("12:00", (PartitionRow("aix", "", None),))


def lines(key: str, frame: Frame = FRAME, width: int = 79, chosen: str = "web") -> list[str]:
    return [line.plain for line in PANES[key][1](frame, chosen, width)]


@pytest.mark.parametrize("key", PANES)
@pytest.mark.parametrize("width", [79, 119, 200])
def test_no_line_is_longer_than_the_width(key: str, width: int) -> None:
    assert max(map(len, lines(key, width=width))) <= width


@pytest.mark.parametrize(
    ("used", "entitled", "told"),
    [
        (4.0, 8.0, WITHIN * 4 + FREE * 4 + ENTITLED + FREE * 7),
        (8.0, 4.0, WITHIN * 4 + BEYOND * 4 + FREE * 8),
        (4.0, None, WITHIN * 4 + FREE * 12),
        (32.0, 16.0, WITHIN * 16),
        (0.0, 16.0, FREE * 15 + ENTITLED),
    ],
)
def test_a_bar_tells_by_marks(used: float, entitled: float | None, told: str) -> None:
    assert bar(used, entitled, 16.0, 16).plain == told


def test_the_frame_is_added_up() -> None:
    first, second = (line.plain for line in summary(FRAME, 80))
    assert "cores used 8.00 / entitled 7.00 / capacity 16, 50.0 %" in first
    assert second.count(WITHIN) + second.count(BEYOND) == 36


def test_a_partition_has_its_figures_and_its_distances() -> None:
    web = next(line for line in lines("c") if "web" in line)
    assert web.startswith(">web")
    assert web.split()[1:5] == ["uncapped", "3.00", "2.00", "66.7"]
    assert web.split()[-3:] == ["50", "30", "20"]


def test_more_room_tells_more() -> None:
    assert "resp ms" not in lines("c")[0]
    assert "resp ms" in lines("c", width=119)[0]
    assert next(line for line in lines("c", width=119) if "web" in line).split()[-1] == "12.2"


def test_the_busiest_come_first() -> None:
    assert [line[1:4] for line in lines("t")[1:]] == ["dat", "web"]
    assert [line[1:4] for line in lines("c")[1:3]] == ["web", "dat"]


def test_pools_of_their_own_are_told() -> None:
    assert any(line.split()[:3] == ["IFL", "10", "8.00"] for line in lines("c"))


def test_topas_has_its_columns() -> None:
    head, web = lines("l")[:2]
    told = dict(zip(head.split(), web.removeprefix(">").split(), strict=True))
    assert told["lp"] == "32"
    assert (told["us"], told["sy"], told["id"], told["physb"]) == ("70", "20", "10", "2.00")


def test_processors_are_those_of_the_chosen_one() -> None:
    head, _, first = lines("p")
    assert head.startswith(" web: 1 virtual processors, 6 unfolded")
    assert first.split()[:3] == ["0", "5.0", "0.96"]


def test_nodes_tell_who_is_at_home() -> None:
    assert lines("m")[1].split() == [
        *("5", "32", "7.25", "80G", "15.08", "3.8", "1.71", "1.05", "1.6", "web"),
    ]


def test_more_room_tells_who_ran_on_a_node() -> None:
    head, node = lines("m", width=125)
    assert head.split()[-3:] == ["home", "ran", "there"]
    assert node[head.index("ran there") :] == "database-of-the-shop 5.5 +1"
    assert lines("m", width=140)[1].endswith("database-of-the-shop 5.5, web 1.8")


def test_where_dispatches_were_not_recorded_nodes_say_what_to_do() -> None:
    bare = replace(FRAME, nodes=(replace(FRAME.nodes[0], used=None, ran=()),))
    head, node, _, hint = lines("m", bare, width=140)
    assert "ran there" not in head
    assert node.split()[2] == "-"
    assert "record_dispatches = true" in hint
    assert "record_dispatches" not in "".join(lines("m"))


def test_dispatches_tell_why() -> None:
    told = lines("d")
    assert "17,393" in told[1]
    assert told[-2].split() == [">web", "12,000", "38"]


@pytest.mark.parametrize("key", ["l", "p", "m", "d"])
def test_what_a_recording_does_not_tell_is_said(key: str) -> None:
    assert NOT_TOLD in lines(key, RECORDED, chosen="aix")[0]


def test_what_was_not_recorded_has_no_figure() -> None:
    assert "not recorded" in lines("c", RECORDED, chosen="aix")[1]
    assert "0.00" not in lines("c", RECORDED, chosen="aix")[1]
