"""The views against recordings of real systems: identities of numbers, bytes of layouts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from counted import cpu, partition, sample, shared, view

from homenode.tools import Sample, Srad, SystemConfiguration, lparstat, lssrad, mpstat

INTERVAL_NS = 300_000_000_000
Rows = dict[str, list[list[str]]]


@pytest.fixture(scope="module")
def nmon() -> list[str]:
    # A session fixture would do the same; the folder is asked for here so that the skip says why.
    path = Path(__file__).resolve().parents[3] / "shared" / "captures" / "nmon" / "aixlpar.nmon.gz"
    if not path.exists():
        pytest.skip("real recordings are not shipped: no ../shared/captures beside the repository")
    return gzip.decompress(path.read_bytes()).decode("latin-1").splitlines()


@pytest.fixture(scope="module")
def rows(nmon: list[str]) -> Rows:
    """Snapshots by section, without the section's heading."""
    found: Rows = {}
    for line in nmon:
        words = line.split(",")
        if len(words) > 2 and words[1].startswith("T") and words[1][1:].isdigit():
            found.setdefault(words[0], []).append(words)
    return found


def output(nmon: list[str], command: str) -> list[str]:
    """What a command printed when the recording began."""
    lines = [line.split(",", 3) for line in nmon if line.startswith("BBBP,")]
    return [words[3][1:-1] for words in lines if words[2] == command and len(words) == 4]


def recorded(rows: Rows, index: int) -> tuple[SystemConfiguration, Sample, list[float]]:
    """A snapshot as counters; the recorded percentages of the entitlement beside it."""
    lpar = [float(word) for word in rows["LPAR"][index][2:]]
    user, sys, wait, idle = (float(word) * INTERVAL_NS for word in rows["PCPU_ALL"][index][2:6])
    counted = partition(
        busy_ns=lpar[0] * INTERVAL_NS, user_ns=user, sys_ns=sys, wait_ns=wait, idle_ns=idle
    )
    configuration = shared(smt=4, vps=int(lpar[1]), ent=lpar[4], psize=int(lpar[3]))
    return configuration, sample(counted, elapsed_ns=INTERVAL_NS), lpar[11:15]


def test_percentages_of_a_real_partition_follow_from_its_cores(rows: Rows) -> None:
    errors: list[list[float]] = []
    for index in range(len(rows["LPAR"])):
        configuration, counted, published = recorded(rows, index)
        figures = lparstat.utilisation(configuration, counted)
        errors.append([abs(a - b) for a, b in zip(figures[:3], published, strict=False)])
    assert len(errors) == 187
    user, sys, wait = zip(*errors, strict=True)
    # The recording keeps cores to two digits: 0.005 of 1.3 cores is 0.385 points, and
    # percentages to two as well. Short waits are lost in that, their mean is not.
    assert max(user) < 0.39
    assert max(sys) < 0.39
    assert max(sum(column) / len(errors) for column in (user, sys, wait)) < 0.25


def test_a_real_partition_s_idle_holds_its_unused_entitlement(rows: Rows) -> None:
    for index, words in enumerate(rows["CPU_ALL"]):
        configuration, counted, _ = recorded(rows, index)
        figures = lparstat.utilisation(configuration, counted)
        # How the real system divides unused entitlement into idle and wait is not told.
        unused = float(words[4]) + float(words[5])
        assert figures.idle + figures.wait == pytest.approx(unused, abs=0.8)


def test_a_real_partition_s_share_of_the_pool(rows: Rows) -> None:
    for index, words in enumerate(rows["LPAR"]):
        configuration, counted, _ = recorded(rows, index)
        figures = lparstat.utilisation(configuration, counted)
        assert 100 * figures.physc / configuration.psize == pytest.approx(
            float(words[10]),
            abs=0.011,  # cut, not rounded
        )


def test_a_real_partition_s_cores_are_the_sum_of_its_processors(rows: Rows) -> None:
    for index in range(len(rows["LPAR"])):
        configuration, counted, _ = recorded(rows, index)
        cpus = []
        for number in range(configuration.lcpu):
            words = rows[f"PCPU{number + 1:02d}"][index]
            user, sys, wait, idle = (float(word) * INTERVAL_NS for word in words[2:6])
            cpus.append(
                cpu(number, number // 4, user_ns=user, sys_ns=sys, wait_ns=wait, idle_ns=idle)
            )
        whole = Sample(INTERVAL_NS, INTERVAL_NS, counted.partition, tuple(cpus))
        consumed = sum(p.consumed_pct for p in mpstat.processors(configuration, whole)) / 100
        # 28 values of two digits each, and idle cores that this level does not keep by processor.
        assert consumed <= counted.partition["busy_ns"] / INTERVAL_NS + 0.14


def test_the_listing_is_byte_for_byte_the_recorded_one(nmon: list[str]) -> None:
    configuration = shared(
        name="aixlpar", number=6, smt=4, vps=7, ent=1.3, mem_mb=43008, psize=16, system_cores=16,
        active_cores=16, shared_cores=16, pool_maximum=16.0, pool_entitled=14.9,
        processors=lparstat_limits(1, 16, 7), memory=lparstat_limits(256, 43008, 43008),
        capacity=lparstat_limits(0.1, 16.0, 1.3),
    )  # fmt: skip
    text = lparstat.render(view(configuration, [sample()]), ["-i"])
    assert text.splitlines() == output(nmon, "lparstat -i")


def lparstat_limits(minimum: float, maximum: float, desired: float) -> object:
    from homenode.tools import Limits

    return Limits(minimum, maximum, desired)


def test_the_hypervisor_table_is_laid_out_as_recorded(nmon: list[str]) -> None:
    real = output(nmon, "lparstat -H")
    configuration = shared(smt=4, vps=7, ent=1.3, mem_mb=43008, psize=16)
    counted = partition(
        cede_calls=125, cede_ns=125 * 109_873, cede_max_ns=1_591_250, prod_calls=76,
        prod_ns=76 * 1_020,
    )  # fmt: skip
    ours = lparstat.render(view(configuration, [sample(counted)]), ["-H"]).splitlines()
    assert len(ours) == len(real)
    assert ours[:8] == real[:8]
    untouched = [line for line in real[8:-1] if line.split()[1] == "0"]
    assert len(untouched) > 40
    assert set(untouched) <= set(ours)
    assert [line.split()[0] for line in ours[8:-1]] == [line.split()[0] for line in real[8:-1]]
    (cede,) = (line for line in real if line.startswith("cede"))
    assert cede[:48] in "\n".join(ours)
    assert cede[64:] in "\n".join(ours)


def test_shares_of_hypervisor_time_follow_from_calls_and_means(nmon: list[str]) -> None:
    table = [line.split() for line in output(nmon, "lparstat -H")[8:-1]]
    spent = sum(int(words[1]) * int(words[4]) for words in table)
    for words in table:
        assert 100 * int(words[1]) * int(words[4]) / spent == pytest.approx(
            float(words[3]), abs=0.1
        )


def test_mpstat_d_is_laid_out_as_recorded(nmon: list[str]) -> None:
    real = output(nmon, "mpstat -d")
    names = real[4].split()
    cpus = []
    for line in real[5:33]:
        words = dict(zip(names, line.split(), strict=True))
        counts = {f"s{d}rd": round(10 * float(words[f"S{d}rd"])) for d in range(6)}
        home = {f"s{d}hrd": round(10 * float(words[f"S{d}hrd"])) for d in (3, 4, 5)}
        switches = {name: int(words[name]) for name in ("cs", "ics", "ilcs", "vlcs")}
        cpus.append(cpu(int(words["cpu"]), **counts, **home, **switches))
    configuration = shared(smt=4, vps=7, ent=1.3)
    lines = mpstat.render(view(configuration, [sample(partition(), cpus)]), ["-d"]).splitlines()
    assert [lines[1], lines[3]] == [real[1], real[4]]
    assert lines[3].startswith(real[3])
    idle = {"bound", "rq", "push", "S3pull", "S3grd", "%nsp"}
    for ours, recorded_line in zip(lines[4:32], real[5:33], strict=True):
        theirs = dict(zip(names, recorded_line.split(), strict=True))
        mine = dict(zip(names, ours.split(), strict=True))
        for name in set(names) - idle:
            assert float(mine[name]) == pytest.approx(float(theirs[name]), abs=0.1001), name
    # A row without queue and migrations differs in nothing but the clock's percentage.
    assert lines[31].split()[:-1] == real[32].split()[:-1]
    assert lines[31][:-5] == real[32][:-5]


def test_lssrad_is_byte_for_byte_the_recorded_one(nmon: list[str]) -> None:
    srads = (Srad(0, 0, 38260.19, tuple(range(28))), Srad(1, 1, 3219.5, ()))
    text = lssrad.render(view(shared(srads=srads), [sample()]), ["-av"])
    assert text.splitlines() == output(nmon, "lssrad")


@pytest.mark.parametrize("name", ["shared", "dedicated-donating"])
def test_interval_tables_are_laid_out_as_recorded(name: str, shared_captures: Path) -> None:
    path = shared_captures / "lparstat" / f"lparstat-aix-{name}.txt"
    real = path.read_text(encoding="utf-8").splitlines()
    if name == "shared":
        configuration = shared(level="7.2", smt=8, vps=1, ent=0.5, mem_mb=4096, psize=19)
    else:
        configuration = shared(
            level="7.2", kind="Dedicated", mode="Donating", smt=8, vps=2, ent=2.0, mem_mb=4096
        )
    ours = lparstat.render(view(configuration, [sample()]), []).splitlines()
    assert ours[:5] == real[:5]
    read = dict(zip(real[3].split(), map(float, real[5].split()), strict=True))
    # The speed columns are one figure in two forms.
    assert read["%nsp"] == pytest.approx(100 / (1 - read["%utcyc"] / 100), abs=0.5)
