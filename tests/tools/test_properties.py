"""Whatever was counted: percentages add up, all is defined, the text reads back as numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from counted import CPU_COLUMNS, PARTITION_COLUMNS, cpu, dedicated, partition, shared, view
from hypothesis import given, settings
from hypothesis import strategies as st

from homenode.tools import Sample, SystemConfiguration, lparstat, mpstat, sar, vmstat

BIG = 10**15
COSTLY = settings(max_examples=40)
"""Several reports of each example, each of which asks a database."""
LEVELS = ("5.3", "6.1", "7.1", "7.2", "7.3")

counts = st.integers(0, BIG)


@st.composite
def configurations(draw: st.DrawFn) -> SystemConfiguration:
    level, smt = draw(st.sampled_from(LEVELS)), draw(st.sampled_from((1, 2, 4, 8)))
    if draw(st.booleans()):
        ent = draw(st.integers(5, 400)) / 100
        return shared(
            level=level, smt=smt, ent=ent, mode=draw(st.sampled_from(("Capped", "Uncapped"))),
            pool_authority=draw(st.booleans()),
        )  # fmt: skip
    mode = draw(st.sampled_from(("Capped", "Donating")))
    return dedicated(level=level, smt=smt, mode=mode)


@st.composite
def sound_samples(draw: st.DrawFn, configuration: SystemConfiguration) -> Sample:
    """Counters that obey the contract: states add up to what was dispatched."""
    elapsed = draw(st.integers(1, 10**12))
    states = [draw(st.integers(0, elapsed)) for _ in range(4)]
    if configuration.is_shared:
        busy = sum(states)
    else:
        whole = round(configuration.ent * elapsed)
        states[3] = max(0, whole - sum(states[:3]))
        scale = whole / max(1, sum(states))
        states = [int(state * min(1.0, scale)) for state in states]
        busy = draw(st.integers(0, whole))
    names = ("user_ns", "sys_ns", "wait_ns", "idle_ns")
    counted = {name: draw(counts) for name in PARTITION_COLUMNS}
    counted |= dict(zip(names, states, strict=True))
    counted["busy_ns"] = busy
    cpus = [
        {**cpu(number, number // configuration.smt), **{name: draw(counts) for name in CPU_COLUMNS}}
        for number in range(2)
    ]
    return Sample(elapsed, elapsed, counted, tuple(cpus), {"idle_ns": draw(counts)})


@st.composite
def runs(draw: st.DrawFn) -> tuple[SystemConfiguration, Sample]:
    configuration = draw(configurations())
    return configuration, draw(sound_samples(configuration))


def numbers(row: dict[str, Any]) -> list[float]:
    return [value for value in row.values() if isinstance(value, int | float)]


@given(runs())
def test_shares_of_a_partition_add_up_to_100(run: tuple[SystemConfiguration, Sample]) -> None:
    configuration, sample = run
    figures = lparstat.utilisation(configuration, sample)
    assert sum(figures[:4]) == pytest.approx(100.0, abs=1e-4)
    assert min(figures[:4]) >= 0
    line = lparstat.render(view(configuration, [sample]), []).splitlines()[5]
    assert sum(float(word) for word in line.split()[:4]) == pytest.approx(100.0, abs=0.2001)


@COSTLY
@given(runs())
def test_every_figure_is_a_number(run: tuple[SystemConfiguration, Sample]) -> None:
    configuration, sample = run
    kept = view(configuration, [sample])
    for tool, modes in ((lparstat, ("", "-h", "-d", "-H", "-E")), (mpstat, ("", "-a", "-d", "-s"))):
        for mode in modes:
            arguments = [mode] if mode else []
            for row in tool.rows(kept, arguments):
                assert all(math.isfinite(value) and value >= 0 for value in numbers(row)), row
    for row in vmstat.rows(kept, []) + sar.rows(kept, ["-P", "ALL"]):
        assert all(math.isfinite(value) and value >= 0 for value in numbers(row)), row


@given(configurations(), st.fixed_dictionaries(dict.fromkeys(PARTITION_COLUMNS, counts)))
def test_no_elapsed_time_is_no_division(
    configuration: SystemConfiguration, counted: dict[str, int]
) -> None:
    for something in (counted, partition()):
        sample = Sample(0, 0, something, (cpu(0),))
        figures = lparstat.utilisation(configuration, sample)
        assert all(math.isfinite(value) for value in figures)
        assert (figures.physc, figures.entc) == (0.0, 0.0)
        assert all(math.isfinite(v) for v in lparstat.normalised(configuration, sample))
        rows = [*mpstat.report(configuration, sample), vmstat.figures(configuration, sample)]
        assert all(math.isfinite(value) for row in rows for value in numbers(row))


@COSTLY
@given(runs())
def test_the_text_reads_back_as_the_numbers(run: tuple[SystemConfiguration, Sample]) -> None:
    configuration, sample = run
    kept = view(configuration, [sample])
    for mode in ([], ["-h"], ["-d"]):
        lines = lparstat.render(kept, mode).splitlines()
        read = dict(zip(lines[3].split(), map(float, lines[5].split()), strict=True))
        (row,) = lparstat.rows(kept, mode)
        assert list(read) == [name for name in row if name != "time_s"]
        for name, value in read.items():
            tolerance = 0.5001 if name == "%nsp" else 0.05001
            assert value == pytest.approx(row[name], rel=1e-9, abs=tolerance), name


@COSTLY
@given(runs())
def test_rows_of_mpstat_read_back_too(run: tuple[SystemConfiguration, Sample]) -> None:
    configuration, sample = run
    kept = view(configuration, [sample])
    for mode in ([], ["-d"], ["-a"]):
        lines = mpstat.render(kept, mode).splitlines()[3:]
        rows = mpstat.rows(kept, mode)
        assert [line.split()[0] for line in lines[1:]] == [row["cpu"] for row in rows]
        for line, row in zip(lines[1:], rows, strict=True):
            values = list(row.values())[2:]
            for word, value in zip(line.split()[1:], values, strict=True):
                if value is None:
                    assert word == "-"
                else:
                    assert float(word) == pytest.approx(value, rel=1e-9, abs=0.5001)
