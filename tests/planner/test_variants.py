"""One partition as several, several as fewer, another machine, z/VM's switches: the same work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

import layouts
import pytest

from homenode.errors import HomenodeError
from homenode.planner import Advice, advise
from homenode.planner.loads import divided
from homenode.planner.problem import problem_of
from homenode.planner.reasons import of_groups
from homenode.planner.variants import Variant, Varying
from homenode.planner.virtual_machines import as_key, guests, tiles
from homenode.report.advice import advice_lines
from homenode.simulate.scenario import Scenario

ZVM = """\
name = "z"

[machine]
model = "ibm-z14"

[[partition]]
name = "zvm"
processors = {{ mode = "dedicated", cores = 8, type = "ifl" }}
memory = "64 GiB"
guest = {{ os = "zvm", smt = "off" }}
workload = {{ kind = "{kind}", profile = "web-small"{more} }}

[[partition.switch]]
name = "lan"
layer = 3

[run]
warmup = "100 ms"
duration = "200 ms"
replications = 3
"""
MACHINE = """
[[partition.virtual_machine]]
name = "{name}"
count = {count}
memory = "1 GiB"
switch = "lan"
{does}
"""


def big(advise: str = "", **options: Any) -> Scenario:
    """A partition that is too large for a drawer, beside two small ones."""
    told = {"rate": 2400, "entitlement": 8.0, "virtual": 24, "memory": "64 GiB", **options}
    small = [layouts.partition(f"web{n}", rate=100) for n in (1, 2)]
    return layouts.scenario(layouts.partition("db", **told), *small, advise=advise)


def several(count: int = 4) -> Scenario:
    """So many alike, by a count."""
    text = layouts.partition("web", rate=150, entitlement=2.0, virtual=4)
    return layouts.scenario(text.replace('name = "web"', f'name = "web"\ncount = {count}'))


def web(**machines: int) -> Scenario:
    """A z/VM whose clients and servers are on one switch of layer 3."""
    told = ', request = "300 B", file = "8 KiB", files = 2'
    tables = [
        MACHINE.format(name=name, count=count, does=f'role = "{name}"')
        for name, count in machines.items()
    ]
    return Scenario.from_toml(ZVM.format(kind="web", more=told) + "".join(tables))


def variants(scenario: Scenario, **asked: Any) -> list[Variant]:
    return [*Varying(problem_of(scenario, asked), []).all()]


def work_of(scenario: Scenario) -> float:
    """Transactions that come to all partitions."""
    spec: Any = scenario.layout_spec()
    return fsum(one["workload"]["rate_per_s"] for one in spec["partitions"])


def entitled(scenario: Scenario) -> float:
    return fsum(one.entitlement for one in scenario.partitions)


def test_parts_do_the_work_of_the_whole_with_what_it_had() -> None:
    told = big()
    found = variants(told, free=["split"])
    assert {one.after for one in found if one.name == "db"} == {2, 3, 4}
    for one in found:
        parts = one.problem.scenario
        assert work_of(parts) == pytest.approx(work_of(told), abs=1e-5)
        assert entitled(parts) <= entitled(told)
        assert entitled(parts) == pytest.approx(entitled(told), abs=0.05)
        held = [fsum(p.memory_bytes for p in s.partitions) for s in (told, parts)]
        assert held[1] == pytest.approx(held[0], rel=1e-3)
        assert fsum(one.problem.cost.work) == pytest.approx(fsum(problem_of(told, {}).cost.work))


def test_what_is_merged_and_divided_again_is_what_it_was() -> None:
    told = several()
    found = {one.after: one for one in variants(told, free=["merge"])}
    assert set(found) == {1, 2}
    assert [len(found[n].problem.scenario.partitions) for n in (1, 2)] == [1, 2]
    assert found[1].problem.scenario.partitions[0].name == "web"
    for one in found.values():
        assert work_of(one.problem.scenario) == pytest.approx(work_of(told))
    (back,) = [one for one in variants(found[2].problem.scenario, free=["split"]) if one.after == 4]
    keys = ("processors", "workload", "memory")
    specs: list[Any] = [s.layout_spec()["partitions"] for s in (told, back.problem.scenario)]
    for one, other in zip(*specs, strict=True):
        assert [one[key] for key in keys] == [other[key] for key in keys]


def test_cores_of_what_is_divided_are_those_for_the_work_of_now(tmp_path: Path) -> None:
    """Four loops that use their core whole: near their memory they get more done on it."""
    table = layouts.partition("lpar", "drawer0", virtual=1, entitlement=1.0)
    told = layouts.scenario(table).with_({
        "partition.lpar.workload": {
            "kind": "loops", "count": 4, "endless": True, "profile": "oltp",
        },
    })  # fmt: skip
    away = {"partition.lpar.memory": [{"size": "16 GiB", "on": "drawer1"}]}
    near, far = (one.run(out=tmp_path) for one in (told, told.with_(away)))
    groups = [(("lpar",), ("lpar",))]
    assert of_groups(groups, far, far) == "lpar 1.00 -> 1.00 cores"
    cores = float(of_groups(groups, near, far).split()[3])
    assert cores < 1.0
    assert float(of_groups(groups, far, near).split()[3]) == pytest.approx(1 / cores, rel=0.02)


def test_a_large_partition_is_cheaper_in_parts_that_fit_a_node(tmp_path: Path) -> None:
    found = advise(big(), free=["home", "split"], out=tmp_path, best=2)
    assert found.best
    first, *others = found.best[0].changes
    assert (first.word, first.path, first.before) == ("split", "partition.db.count", 1)
    told = big().with_({first.path: first.after, **first.also, **{c.path: c.after for c in others}})
    assert {one.name for one in told.partitions} >= {"db1", "db2"}
    assert found.best[0].saving.mean is not None
    assert found.best[0].saving.mean > (found.best[0].saving.ci95 or 0.0)
    alone = advise(big(), free=["home"], confirm=False, best=1)
    solved = advise(big(), free=["home", "split"], confirm=False, best=1)
    assert _cores(solved) < _cores(alone)
    new = [one.name for one in told.partitions if one.name.startswith("db")]
    assert _named("mksyscfg", found.best[0].commands) == new
    assert _named("rmsyscfg", found.best[0].commands) == ["db"]
    assert _named("mksyscfg", found.best[0].back) == ["db"]
    assert _named("rmsyscfg", found.best[0].back) == new
    assert found.as_json()["best"][0]["changes"][0]["also"] == {**first.also}


def _named(command: str, lines: Sequence[str]) -> list[str]:
    """Partitions that a command of the HMC creates or removes."""
    told = [line for line in lines if line.startswith(command)]
    return [re.findall(r'(?:"name=|-n )([\w-]+)', line)[0] for line in told]


def _cores(told: Advice) -> float:
    mean = told.best[0].cores.mean
    assert mean is not None
    return mean


LICENCE = """
apart = [["db", "web1"]]

[[advise.licence]]
product = "database"
partitions = ["db"]
cost = 1000.0
currency = "EUR"

[[advise.limit]]
partition = "db"
p95 = "10 s"
"""


def test_licences_and_rules_are_those_of_all_parts() -> None:
    found = variants(big(LICENCE), free=["split"])
    two = next(one for one in found if one.name == "db" and one.after == 2)
    licence = two.problem.cost.licences[0]
    assert licence.partitions == ["db1", "db2"]
    options = two.problem.solved(two.problem.space.now()).options
    assert two.problem.cost.licensed(licence, options)[0] == 24  # twelve virtual processors each
    names = {rule.name for rule in two.problem.rules}
    assert {"p95 of db1 under 10 s", "p95 of db2 under 10 s", "db1, db2, web1 apart"} <= names


def test_another_machine_of_the_same_kind_where_the_layout_fits() -> None:
    unfit: list[str] = []
    told = big()
    found = [*Varying(problem_of(told, {"free": ["machine"]}), unfit).all()]
    assert "ibm-power-795" in {one.after for one in found}
    assert all("ibm-z" not in str(one.after) for one in found)
    assert any(one.startswith("ibm-p5-570 does not fit: ") for one in unfit)
    other = next(one for one in found if one.after == "ibm-power-795")
    nodes = [
        {chip // s.machine.chips_per_node for one in s.partitions for chip in one.home}
        for s in (told, other.problem.scenario)
    ]
    assert nodes[0] == nodes[1] == {0}
    assert work_of(other.problem.scenario) == work_of(told)


def test_places_that_another_machine_lacks_are_told() -> None:
    """A home in the fourth drawer, and machines that have no fourth."""
    told = big().with_({"partition.web1.home": "drawer3", "machine.active_cores": None})
    unfit: list[str] = []
    found = [*Varying(problem_of(told, {"free": ["machine"]}), unfit).all()]
    assert any(one.startswith("ibm-p5-570 does not fit: ") and "block" in one for one in unfit)
    assert "ibm-power-795" in {one.after for one in found}
    shown = advise(told, free=["machine"], confirm=False, rounds=0)
    assert any("ibm-p5-570" in line for line in advice_lines(shown))
    assert shown.as_json()["unfit"] == unfit


def test_words_that_mean_nothing() -> None:
    with pytest.raises(HomenodeError, match="could be fewer"):
        advise(big(), free=["merge"], confirm=False)
    with pytest.raises(HomenodeError, match="has virtual switches"):
        advise(big(), free=["tiles"], confirm=False)
    idle = big().with_({f"partition.{n}.workload": {"kind": "idle"} for n in ("web1", "web2")})
    one = idle.with_({"partition.db.workload": {"kind": "cores", "use": "2", "profile": "oltp"}})
    with pytest.raises(HomenodeError, match="divided into equal parts"):
        advise(one, free=["split"], confirm=False)
    assert divided(one.partitions[0], Fraction(1, 2)) is None


def test_a_variant_is_a_change() -> None:
    found = advise(big("changes = 1"), free=["home", "split"], confirm=False)
    assert found.best
    assert all(len(one.changes) == 1 for one in found.best)


def test_tiles_hold_the_machines_that_there_are() -> None:
    told = web(client=4, server=6)
    (found,) = tiles(told.partitions[0])
    assert found.values == [1, 2]
    more = told.with_(
        {f"partition.zvm.{key}": value for key, value in found.also[as_key(2)].items()}
    )
    more = more.with_({f"partition.zvm.{found.below}": 2})
    specs: list[Any] = [s.layout_spec()["partitions"][0]["guest"] for s in (told, more)]
    kinds = [
        Counter(one["name"].rstrip("0123456789") for one in spec["machines"]) for spec in specs
    ]
    assert kinds[0] == kinds[1]


def test_a_table_is_searched_faster_than_a_list(tmp_path: Path) -> None:
    found = advise(web(client=4, server=16), free=["switches"], worth=0.001, out=tmp_path)
    assert found.best
    (change,) = found.best[0].changes
    assert (change.path, change.before, change.after) == ("partition.zvm.switch.lan.layer", 3, 2)
    assert any("DEFINE VSWITCH LAN ETHERNET" in line for line in found.best[0].commands)
    assert any("DEFINE VSWITCH LAN IP" in line for line in found.best[0].back)


def test_fewer_machines_of_a_kind_have_as_much_to_do() -> None:
    does = 'workload = { kind = "transactions", rate = "100/s" }'
    table = MACHINE.format(name="db", count=4, does=does)
    told = Scenario.from_toml(ZVM.format(kind="idle", more="") + table)
    (found,) = guests(told.partitions[0])
    assert set(found.values) >= {1, 2, 8}
    for count, also in found.also.items():
        rate = str(also["virtual_machine.db.workload.rate"]).removesuffix("/s")
        assert float(rate) * int(str(count)) == pytest.approx(400)


def test_advice_on_virtual_machines_is_what_their_layout_runs_like(tmp_path: Path) -> None:
    """Six of a kind may become any fewer that share their work evenly."""
    does = 'cpus = 2\nworkload = { kind = "transactions", rate = "6000/s" }'
    table = MACHINE.format(name="db", count=6, does=does)
    told = Scenario.from_toml(ZVM.format(kind="idle", more="") + table)
    assert {1, 3, 12} <= {*next(guests(told.partitions[0])).values}
    wide = told.with_({"partition.zvm.virtual_machine.db.cpus": 30})
    assert {3, 6, 12} <= {6, *next(guests(wide.partitions[0])).values} <= {3, 6, 12, 18, 24}
    found = advise(told, free=["guests"], worth=0.001, out=tmp_path)
    best = found.best[0]
    (change,) = best.changes
    assert change.path == "partition.zvm.virtual_machine.db.count"
    run = told.with_({change.path: change.after, **change.also}).run(out=tmp_path, replications=3)
    now = told.run(out=tmp_path, replications=3)
    used, before = (one.metrics["zvm"]["physc"].mean or 0.0 for one in (run, now))
    assert (found.do_nothing.cores.mean, best.cores.mean) == pytest.approx((before, used))
    assert used < before
    done, was = (one.metrics["zvm"]["etr_per_s"].mean for one in (run, now))
    assert done == pytest.approx(was, rel=0.03)


def two_large() -> Scenario:
    """Two partitions that are each too large for a drawer."""
    told = {"entitlement": 6.0, "virtual": 24, "memory": "64 GiB"}
    large = [layouts.partition("erp", rate=2000, **told)]
    large += [layouts.partition("shop", rate=1800, home="drawer1", **told)]
    return layouts.scenario(*large, layouts.partition("mail", rate=300, home="drawer2"))


def test_variants_are_combined_where_each_brings_something() -> None:
    asked: Any = {"free": ["home", "split"], "confirm": False, "rounds": 0}
    found = advise(two_large(), **asked)
    best = found.best[0]
    split = [one for one in best.changes if one.word == "split"]
    assert [one.partition for one in split] == ["erp", "shop"]
    alone = [advise(two_large(), pinned=[name], **asked) for name in ("erp", "shop")]
    for one in alone:
        assert _cores(found) < _cores(one)
    whole: dict[str, object] = {}
    for one in best.changes:
        whole |= {one.path: one.after, **one.also}
    told = two_large().with_(whole)
    assert work_of(told) == pytest.approx(work_of(two_large()), abs=1e-5)
    assert entitled(told) <= entitled(two_large())
    again = advise(two_large(), **asked)
    assert again.as_json() == found.as_json()


def test_in_which_order_variants_are_combined_does_not_matter() -> None:
    told = big()
    found = [*Varying(problem_of(told, {"free": ["split", "machine"]}), []).all()]
    split = next(one for one in found if (one.name, one.after) == ("db", 2))
    machine = next(one for one in found if one.after == "ibm-power-795")
    both = [
        Varying(one.problem, [], one).again(other)
        for one, other in ((split, machine), (machine, split))
    ]
    specs: list[Any] = []
    for one in both:
        assert one is not None
        assert {step.word for step in one.steps} == {"split", "machine"}
        assert (("db",), ("db1", "db2")) in one.groups
        assert fsum(one.problem.cost.work) == pytest.approx(fsum(problem_of(told, {}).cost.work))
        specs.append(one.problem.scenario.layout_spec()["partitions"])
    assert specs[0] == specs[1]


def test_combinations_are_bounded_and_count_as_changes() -> None:
    found = advise(two_large(), free=["home", "split"], confirm=False, rounds=0)
    assert any(one.startswith("only 8 of ") for one in found.unfit)
    assert not found.proven
    one = advise(two_large(), free=["home", "split"], confirm=False, rounds=0, changes=1)
    assert all(len(best.changes) == 1 for best in one.best)
