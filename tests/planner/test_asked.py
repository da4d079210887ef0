"""What is asked wrongly is answered in words; what it costs is counted as it is sold."""

from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any

import layouts
import numpy as np
import pytest

from homenode.cli import call
from homenode.errors import HomenodeError
from homenode.model.scenario.file.advise import Licence
from homenode.planner import Change, advise
from homenode.planner.commands import commands, dynamic
from homenode.planner.confirm import Runs, is_sure, saved
from homenode.planner.loads import grown
from homenode.planner.questions import add, more, rate
from homenode.planner.rules import Rule
from homenode.report.advice import advice_lines
from homenode.simulate.run import Run
from homenode.simulate.scenario import Scenario
from homenode.simulate.solved.solve import solve_scenario

LICENCE = """
[[advise.licence]]
product = "db"
partitions = ["lpar1", "lpar2"]
cost = 1000.0
currency = "EUR"
"""


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ('goal = "money"', ("no licence tells a price", "advise.licence")),
        ('pinned = ["lpar9"]', ('"lpar9"', "lpar1, lpar2, lpar3, lpar4")),
        ("[[advise.limit]]", ("limits nothing", "response")),
        (LICENCE.replace("cost = 1000.0\n", ""), ("cost is missing",)),
        (
            LICENCE + LICENCE.replace("EUR", "USD").replace('"db"', '"app"'),
            ("EUR, USD", "one currency"),
        ),
        ('[advise.values]\n"run.seed" = [1]', ("no path into a partition",)),
        ('free = ["hom"]', ("hom",)),
        ("worth = 2", ("worth",)),
        ('apart = [["lpar1", "lpar2", "lpar1"]]', ("lpar1 is named twice",)),
        ('apart = [["lpar1"]]', ("at least 2 entries are needed",)),
        (
            'apart = [["lpar1", "lpar2", "lpar3", "lpar4"]]',
            ("lpar1, lpar2, lpar3, lpar4 are 4", "3 places", "drawer0, drawer1, drawer2"),
        ),
    ],
)
def test_a_table_that_cannot_be(told: str, words: tuple[str, ...]) -> None:
    with pytest.raises(HomenodeError) as caught:
        layouts.crowded(told)
    assert all(word in str(caught.value) for word in words)
    assert "scenario.toml:" in str(caught.value)


def test_the_only_node_cannot_be_lost() -> None:
    told = layouts.crowded("node_lost = true", entitlement=0.5, virtual=2)
    alone = {"machine.active_cores": 16}
    with pytest.raises(HomenodeError, match="all active cores are on drawer0"):
        told.with_(alone)
    told.with_({**alone, "advise.free": ["machine"]})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"goal": "money"}, ("no licence tells a price",)),
        ({"goal": "gold"}, ("gold", "cores, money")),
        ({"free": ["hom"]}, ("did you mean home",)),
        ({"free": []}, ("at least one entry",)),
        ({"free": ["cpuset"]}, ("no partition is kept to processors", "there is home")),
        ({"free": ["pool"]}, ("there is no second shared pool",)),
        ({"pinned": ["lpar1", "lpar2", "lpar3", "lpar4"]}, ("every partition is pinned",)),
        ({"pinned": ["lpar7"]}, ("lpar7",)),
        ({"changes": 0}, ("advise.changes = 0",)),
        ({"worth": 2.0}, ("200 %", "at most 100 %")),
        ({"gaol": "cores"}, ("gaol",)),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(HomenodeError) as caught:
        advise(layouts.crowded(), confirm=False, **asked)
    assert all(word in str(caught.value) for word in words)


def test_values_of_a_path_that_the_file_does_not_write() -> None:
    told = layouts.crowded('[advise.values]\n"partition.lpar1.processors.weight" = [10, 200]')
    found = advise(told, free=["home"], confirm=False)
    assert found.solved > 4


def test_a_sweep_is_no_layout() -> None:
    text = layouts.crowded().text + '\n[sweep]\n"partition.lpar1.smt" = [1, 2]\n'
    with pytest.raises(HomenodeError, match=r"is a sweep of partition\.lpar1\.smt"):
        advise(Scenario.from_toml(text))


def test_a_layout_that_is_not_steady_is_mended_or_told(tmp_path: Path) -> None:
    """One virtual processor for the work of several: more of them mend it, a move does not."""
    told = layouts.scenario(layouts.partition("lpar1", entitlement=1, virtual=1, rate=300))
    mended = advise(told, free=["virtual"], slower=100.0, out=tmp_path)
    assert mended.do_nothing.breaks
    assert mended.do_nothing.cores.mean is None
    assert mended.best
    assert mended.best[0].changes[0].path == "partition.lpar1.processors.virtual"
    left = advise(told, free=["home"], out=tmp_path)
    assert [one.rule for one in left.conflict] == ["lpar1 meets its demand"]


def licensed(pool: str = "DefaultPool", **processors: Any) -> float:
    """Licences for two of three partitions; the third is dedicated."""
    told = {"entitlement": 2.4, "virtual": 6, "capped": "false", **processors}
    shared = (
        f'mode = "shared", entitlement = {told["entitlement"]}, virtual = {told["virtual"]}, '
        f'capped = {told["capped"]}, pool = "{pool}"'
    )
    usual = 'mode = "shared", entitlement = 2.0, virtual = 8'
    ours = [layouts.partition(f"lpar{n}").replace(usual, shared) for n in (1, 2)]
    other = layouts.partition("own").replace(usual, 'mode = "dedicated", cores = 8')
    problem = layouts.problem(layouts.scenario(*ours, other, head=layouts.POOLS), free=["home"])
    licence = Licence(product="db", partitions=["lpar1", "lpar2"], cost=1.0, currency="EUR")
    options = np.zeros((1, 3), dtype=np.int64)
    found = problem.cost.licensed(licence, options)[0]
    full = licence.model_copy(update={"count": "full", "factor": 0.5})
    assert problem.cost.licensed(full, options)[0] == 24
    return float(found)


def test_sub_capacity_counts_what_partitions_can_use() -> None:
    assert licensed() == 12  # virtual processors
    assert licensed(capped="true") == 5  # 4.8 entitled cores, whole ones are paid
    assert licensed("small") == 8  # the pool's maximum
    assert licensed(virtual=24, entitlement=3) == 40  # all that is not dedicated


def test_money_is_saved_where_licences_are() -> None:
    told = layouts.scenario(
        layouts.partition("lpar1", virtual=12), layouts.partition("lpar2", "drawer1", virtual=12),
        advise=f'goal = "money"\nfree = ["virtual"]\nslower = "50 %"\n{LICENCE}',
    )  # fmt: skip
    found = advise(told, confirm=False)
    assert found.do_nothing.money == 24_000
    assert found.best
    assert found.best[0].money is not None
    assert found.best[0].money < 24_000
    assert found.currency == "EUR"
    money = found.as_json()["do_nothing"]["money"]
    assert money == {"mean": 24_000, "ci95": None, "currency": "EUR"}


def test_running_partitions_never_have_more_or_less_than_may_be() -> None:
    """Between two commands entitlement and virtual processors still fit each other."""
    for before, after in (((3.0, 30), (1.0, 8)), ((1.0, 2), (4.0, 8)), ((2.0, 4), (1.0, 8)),
                          ((2.0, 8), (3.0, 4))):  # fmt: skip
        changes = [
            Change("lpar1", word, word, one, other, "")
            for word, one, other in zip(("entitlement", "virtual"), before, after, strict=True)
        ]
        entitled, virtual = before
        for line in dynamic(changes):
            sign = 1 if " -o a " in line else -1
            words = line.split()
            entitled += (
                sign * float(words[words.index("--procunits") + 1]) if "--procunits" in words else 0
            )
            virtual += sign * int(words[words.index("--procs") + 1]) if "--procs" in words else 0
            assert 0.1 * virtual <= entitled + 1e-9
            assert entitled <= virtual
        assert (entitled, virtual) == after


def test_who_gives_comes_before_who_takes() -> None:
    changes = [
        Change("lpar1", "entitlement", "", 1.0, 2.0, ""),
        Change("lpar2", "entitlement", "", 3.0, 2.0, ""),
    ]
    assert [line.split()[8] for line in dynamic(changes)] == ["lpar2", "lpar1"]
    own = [
        Change("lpar1", "entitlement", "", 1.0, 3.0, ""),
        Change("own", "cores", "", 4, 2, ""),
    ]
    first, second = dynamic(own)
    assert first.endswith("-o r -p own --procs 2")
    assert "-p lpar1 --procunits 2.00" in second


def test_all_cores_cannot_stay_unused() -> None:
    told = layouts.scenario(layouts.partition("lpar1"), advise='headroom = "100 %"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = advise(told, free=["capped"], confirm=False)
    assert [one.rule for one in found.conflict] == ["headroom of 100 %"]


def test_loops_answer_nobody() -> None:
    loops = {"kind": "loops", "count": 4, "endless": True, "profile": "compute"}
    both = layouts.scenario(layouts.partition("lpar1"), layouts.partition("lpar2"))
    told = both.with_({"partition.lpar2.workload": loops})
    problem = layouts.problem(told, free=["virtual"])
    now = problem.solved_now
    assert now.response[0] == pytest.approx(now.figures.response_ns[0, 0] / 1e6)
    longer = [rule.name for rule in problem.rules if "longer" in rule.name]
    assert longer == ["response of lpar1 at most 10 % longer"]
    limits = [{"partition": "lpar2", "response": "1 s"}]
    with pytest.raises(HomenodeError, match="lpar2 has no response") as caught:
        advise(told.with_({"advise.limit": limits}), confirm=False)
    assert "answer nobody" in str(caught.value)
    everybody = layouts.problem(told.with_({"advise.limit": [{"response": "1 s"}]}))
    assert [rule.name for rule in everybody.rules if "under" in rule.name] == [
        "response of lpar1 under 1 s"
    ]


def test_one_replication_tells_nothing_of_chance(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"free": ["home"], "best": 1, "changes": 1, "out": tmp_path}
    told = advise(layouts.crowded(), replications=1, **asked).told
    assert "of one replication, which tells nothing of chance" in told
    assert "chance" not in advise(layouts.crowded(), **asked).told


def test_a_saving_within_chance_is_none() -> None:
    assert is_sure(saved([5.0, 5.2, 5.1], [4.0, 4.1, 4.1]), 0.5)
    assert not is_sure(saved([5.0, 5.2, 5.1], [4.0, 4.1, 4.1]), 1.5)
    assert not is_sure(saved([5.0, 4.0, 6.0], [4.0, 5.0, 4.5]), 0.0)
    assert not is_sure(saved([4.0, 4.1, 4.1], [5.0, 5.2, 5.1]), 0.0)


def test_where_does_the_next_partition_go(tmp_path: Path) -> None:
    new = tmp_path / "new.toml"
    new.write_text(layouts.partition("new", "drawer0"), encoding="utf-8")
    found = add(layouts.crowded(), new, runs=Runs(out=tmp_path / "runs"))
    assert found.best
    assert {one.partition for answer in found.best for one in answer.changes} == {"new"}
    assert found.best[0].changes[0].after != "drawer0"
    assert "Left to the hypervisor: new at drawer0" in found.told
    new.write_text("[machine]\nmodel = 'ibm-power-770'\n", encoding="utf-8")
    with pytest.raises(HomenodeError, match="machine cannot be added") as caught:
        add(layouts.crowded(), new)
    assert "new.toml:1" in str(caught.value)
    assert all("mksyscfg" in str(one.commands) for one in found.best)
    new.write_text("", encoding="utf-8")
    with pytest.raises(HomenodeError, match="holds no partition"):
        add(layouts.crowded(), new)


def test_where_nobody_chooses_a_home_the_nearest_thing_is_asked(tmp_path: Path) -> None:
    guest = layouts.partition("new", None).replace("entitlement = 2.0, ", "")
    new = tmp_path / "new.toml"
    new.write_text(guest, encoding="utf-8")
    head = layouts.HEAD.replace("ibm-power-770", "intel-xeon-6240-2s")
    told = Scenario.from_toml(head.format(name="host").replace("active_cores = 48", "") + guest)
    with pytest.raises(HomenodeError, match="no home that could be chosen"):
        add(told.with_({"partition.new.name": "old"}), new, free=["home"])
    found = add(told.with_({"partition.new.name": "old"}), new)
    assert found.solved == 4, "the cpuset of the new one: none, each socket, both"


def test_what_is_not_there_yet_is_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, new = tmp_path / "base.toml", tmp_path / "new.toml"
    base.write_text(layouts.crowded().text, encoding="utf-8")
    new.write_text(layouts.partition("new", "drawer0"), encoding="utf-8")
    words = ["advise", str(base), "--add", str(new), "--out", str(tmp_path / "runs")]
    assert call(words) == 0
    shown = capsys.readouterr().out
    assert "advice 1" in shown
    created, back = shown.split("And back")
    (made,) = [line for line in created.splitlines() if line.startswith("mksyscfg")]
    assert '-i "name=new,profile_name=$PROFILE,lpar_env=aixlinux,' in made
    assert "-o on -n new" in created
    assert not any(word in shown for word in ("chhwres", "chsyscfg"))
    assert [line.split()[0] for line in back.split("\n") if "-n new" in line] == [
        "chsysstate", "rmsyscfg",
    ]  # fmt: skip
    new.write_text("\n[machine]\nactive_cores = 16\n" + layouts.partition("new"), encoding="utf-8")
    assert call(words) == 2
    told = capsys.readouterr().err
    assert "new.toml:2" in told
    assert "machine cannot be added" in told


def test_one_change_is_told_by_what_was_simulated(tmp_path: Path) -> None:
    """Without it all is as it is; of several each has a part, by the search."""
    found = advise(layouts.crowded(), free=["home"], out=tmp_path, best=3)
    assert {len(one.changes) > 1 for one in found.best} == {True, False}
    for one in found.best:
        parts = ["without it" in change.why for change in one.changes]
        assert all(parts) if len(parts) > 1 else not any(parts)
    (told,) = [line for line in advice_lines(found) if "is of the search" in line]
    single = dataclasses.replace(
        found, best=tuple(one for one in found.best if len(one.changes) == 1)
    )
    assert told not in [*advice_lines(single)]
    assert not any("is of the search" in line for line in advice_lines(single))


def fewer(count: int, folder: Path) -> tuple[Scenario, dict[str, float], dict[str, float]]:
    """Four crowded partitions of eight virtual processors that may have fewer, and their responses
    with these, solved and simulated [ms].
    """
    names = [f"partition.lpar{number}.processors.virtual" for number in range(1, 5)]
    values = "".join(f'"{name}" = [{count}]\n' for name in names)
    told = layouts.crowded(f'free = ["virtual"]\n[advise.values]\n{values}')
    less = told.with_(dict.fromkeys(names, count))
    runs = [solve_scenario(less), Run.load(str(advise(less, out=folder).do_nothing.run), folder)]
    means = [
        {p: run.metrics[p]["response_ms_mean"].mean or 0.0 for p in run.metrics} for run in runs
    ]
    return told, means[0], means[1]


def test_longer_by_chance_is_no_reason_to_refuse(tmp_path: Path) -> None:
    """One of four responses is more than 2 % longer in some replications and not in others, where
    the solver says that none is.
    """
    told = fewer(6, tmp_path)[0].with_({"run.seed": 3})
    found = advise(told, out=tmp_path, best=1, slower=0.02)
    assert len(found.best[0].changes) == 4
    assert (found.best[0].saving.mean or 0.0) > 2.5
    simulated = [Run.load(str(run), tmp_path) for run in (found.do_nothing.run, found.best[0].run)]
    before, after = (run.metrics["lpar1"]["response_ms_mean"].mean or 0.0 for run in simulated)
    assert after > 1.02 * before


def test_what_only_simulations_refuse_is_told_with_their_figures(tmp_path: Path) -> None:
    """Solved, the change keeps the limit; simulated, one response is a little too long."""
    told, solved, simulated = fewer(4, tmp_path)
    lpar = max(solved, key=lambda name: simulated[name] / solved[name])
    most = f"{500 * (solved[lpar] + simulated[lpar]):.0f} us"
    limit = {"partition": lpar, "response": most}
    found = advise(told.with_({"advise.limit": [limit]}), out=tmp_path, best=1, slower=100.0)
    (one,) = [one for one in found.refused if one.shown is not None]
    assert not found.best
    assert one.rule.rule.startswith(f"response of {lpar} under ")
    assert one.shown == f"it is {simulated[lpar]:.3g} ms"
    runs = {path.name for path in tmp_path.iterdir()}
    assert one.run in runs - {found.do_nothing.run}
    cores = [Run.load(name, tmp_path) for name in (found.do_nothing.run, one.run) if name]
    less = [sum(run.metrics[p]["physc"].mean or 0 for p in run.partitions) for run in cores]
    assert one.saving == pytest.approx(less[0] - less[1])
    assert f"but breaks {one.rule}: {one.shown}" in found.told
    assert f"  {one}" in [*advice_lines(found)]
    assert one.as_json()["run"] == one.run


def test_comments_stay_with_what_is_new(tmp_path: Path) -> None:
    """Of a z/VM alone, and no head with nothing below it."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    told = (examples / "prsm-three-partitions.toml").read_text(encoding="utf-8")
    brief = '\n[run]\nwarmup = "50 ms"\nduration = "100 ms"\nreplications = 1\n'
    now = Scenario.from_toml(told.split("\n[run]", 1)[0] + brief)
    path = "partition.zvm.guest.unparking"
    one, other = (s.run(out=tmp_path) for s in (now, now.with_({path: "large"})))
    lines = commands(one, other, [Change("zvm", "unparking", path, "medium", "large", "")])
    assert lines[0].endswith("homenode runs none of the commands.")
    assert lines[-2:] == ("* CP commands", "SET SRM UNPARKING LARGE")
    assert {line.split()[2] for line in lines if line.startswith("* Partition")} == {"ZVM:"}


def test_headroom_is_told_as_the_solvers(tmp_path: Path) -> None:
    found = advise(layouts.crowded(), goal="headroom", free=["home"], out=tmp_path, best=1)
    assert "of headroom, by the solver alone" in found.told


def test_each_change_brings_headroom() -> None:
    asked = {"goal": "headroom", "free": ["home", "virtual", "entitlement"]}
    found = advise(layouts.crowded(rate=400), confirm=False, **asked)
    assert found.best
    assert not any("0.00" in change.why for one in found.best for change in one.changes)


def test_running_partitions_stay_within_their_profile(tmp_path: Path) -> None:
    told = layouts.crowded()
    path = "partition.lpar1.processors.virtual"
    one, other = (layout.run(out=tmp_path) for layout in (told, told.with_({path: 4})))
    lines = commands(one, other, [Change("lpar1", "virtual", path, 8, 4, "")])
    first = next(at for at, line in enumerate(lines) if "--procs 4" in line)
    assert any("minimum and maximum of the active profile" in line for line in lines[:first])


def test_entitlements_that_a_lost_node_leaves_no_room_for_are_told(tmp_path: Path) -> None:
    """40 cores are entitled, next to none used; one of three drawers lost leaves 32."""
    told = layouts.scenario(
        *(layouts.partition(f"lpar{n}", f"drawer{n}", entitlement=20, virtual=20, rate=20)
          for n in range(2)),
        advise='free = ["entitlement"]\nnode_lost = true',
    )  # fmt: skip
    found = advise(told, out=tmp_path, best=1)
    (broken,) = found.do_nothing.breaks
    assert broken.startswith("one node of 16 cores may be lost, entitlements fit the others (")
    (change,) = found.best[0].changes
    assert float(str(change.after)) <= 12
    large = told.with_({"partition.lpar0.memory": "3 TiB", "advise.node_lost": True})
    names = {rule.name for rule in _broken_now(large)}
    assert "one node of 16 cores may be lost, memory fits the others" in names


def _broken_now(told: Scenario) -> list[Rule]:
    problem = layouts.problem(told)
    over = problem.broken(problem.space.now())[0]
    return [rule for rule, amount in zip(problem.rules, over, strict=True) if amount]


def test_how_many_more_fit() -> None:
    """By entitlement: 48 cores, 4 x 9 are entitled."""
    told = layouts.crowded(entitlement=9, virtual=9, rate=50)
    found = more(told, "lpar1")
    assert found.most == 1
    assert found.run is None
    assert (found.response_ms or 0) > 0
    assert (found.response_ms_now or 0) > 0
    with pytest.raises(HomenodeError, match="did you mean lpar1"):
        more(told, "lpar")
    pinched = more(layouts.crowded('headroom = "90 %"'), "lpar1")
    assert pinched.most == 0
    assert "headroom of 90 %" in pinched.limit
    with pytest.raises(HomenodeError, match="pages"):
        more(told, "lpar1", free=["pages"])


def test_copies_of_a_partition_have_names_that_are_nobodys_and_not_too_long() -> None:
    names = ("lpar1", "lpar1-more", "lpar1-more-2", "l" * 64)
    told = layouts.scenario(
        *(layouts.partition(name, entitlement=9, virtual=9, rate=50) for name in names)
    )
    assert more(told, "lpar1").most == 1
    assert more(told, names[-1]).most == 1


def test_who_answers_nobody_leaves_the_response_of_the_others_told() -> None:
    told = layouts.crowded(rate=50).with_({"partition.lpar1.workload": {"kind": "idle"}})
    found = advise(told, free=["home"], confirm=False)
    assert (found.do_nothing.response_ms.mean or 0) > 1
    assert not found.do_nothing.unknown
    # One that cannot meet its demand is held, and counts for nothing either.
    busy = layouts.scenario(
        layouts.partition("busy", rate=9000), layouts.partition("shop", "drawer1", rate=50)
    )
    found = advise(busy, free=["home"], confirm=False)
    assert (found.do_nothing.response_ms.mean or 0) > 1


def test_one_rule_that_nothing_keeps_contradicts_no_other() -> None:
    told = layouts.crowded('headroom = "88 %"')
    found = advise(told, free=["home"], confirm=False, seconds=1e-6)
    assert len(found.do_nothing.breaks) == 1
    assert not found.conflict


def test_the_largest_load_keeps_the_limit_and_more_does_not(tmp_path: Path) -> None:
    told = layouts.crowded('headroom = "50 %"', rate=100)
    found = rate(told)
    assert 1 < found.most < 64
    assert "headroom" in found.limit
    more_of_it = rate(layouts.crowded('headroom = "40 %"', rate=100))
    assert more_of_it.most > found.most
    # What it costs who waits is told, too.
    assert (found.response_ms or 0) > (found.response_ms_now or 0) > 0
    one = rate(told, "lpar1")
    assert [*one.amounts] == ["partition.lpar1.workload.rate"]
    idle = told.with_({"partition.lpar1.workload": {"kind": "idle"}})
    with pytest.raises(HomenodeError, match="no load that could be told in a rate"):
        rate(idle, "lpar1")


def test_how_much_more_is_told_where_nothing_may_change() -> None:
    pinned = [f"lpar{number}" for number in range(1, 5)]
    found = rate(layouts.crowded('headroom = "50 %"', rate=100), pinned=pinned)
    assert found.most > 1
    alone = layouts.crowded(rate=50).with_({"machine.active_cores": 8})
    with pytest.raises(HomenodeError, match="the only value that it can have"):
        advise(alone, free=["home"], confirm=False)


def test_every_kind_of_load_that_has_an_amount_grows() -> None:
    """Twice as much of each key; of loops and recorded demand there is none."""
    tables = {
        "rate": {"kind": "transactions", "rate": "20/s", "profile": "oltp"},
        "count": {"kind": "users", "count": 7, "think": "1 s", "profile": "oltp"},
        "use": {"kind": "cores", "use": "1.5", "profile": "oltp"},
        "busy": {"kind": "cores", "busy": "15 %", "profile": "oltp"},
    }
    asked = {"kind": "pairs", "count": 2, "rate": "20/s", "exchanges": 4, "profile": "oltp"}
    one = layouts.crowded().with_({"partition.lpar1.workload": asked})
    ((below, of),) = grown(one.partitions[0])
    assert (below, of(2.0)) == ("workload.rate", "40/s")
    doubled = {"rate": "40/s", "count": 14, "use": "3", "busy": "30 %"}
    for key, table in tables.items():
        one = layouts.crowded().with_({"partition.lpar1.workload": table})
        ((below, of),) = grown(one.partitions[0])
        assert (below, of(2.0)) == (f"workload.{key}", doubled[key])
    both = layouts.crowded().with_({"partition.lpar1.workload": [tables["rate"], tables["count"]]})
    names = [below for below, _ in grown(both.partitions[0])]
    assert names == ["workload.transactions.rate", "workload.users.count"]
    loops = {"kind": "loops", "count": 2, "endless": True, "profile": "compute"}
    still = layouts.crowded().with_({"partition.lpar1.workload": loops})
    assert [*grown(still.partitions[0])] == []
    day = [{"from": "00:00", "use": "1"}, {"from": "12:00", "busy": "20 %"}]
    daily = {"kind": "cores", "schedule": day, "profile": "oltp"}
    one = layouts.crowded().with_({"partition.lpar1.workload": daily, "run.duration": "24 s"})
    ((below, of),) = grown(one.partitions[0])
    assert below == "workload.schedule"
    assert of(2.0) == [{"from": "00:00", "use": "2"}, {"from": "12:00", "busy": "40 %"}]


def test_several_loads_grow_together() -> None:
    loads = [
        {"kind": "transactions", "rate": "100/s", "profile": "oltp"},
        {"kind": "users", "count": 50, "think": "1 s", "profile": "oltp"},
    ]
    told = layouts.crowded('headroom = "20 %"', rate=50).with_({"partition.lpar1.workload": loads})
    found = rate(told, "lpar1")
    assert found.most > 1
    assert {path.rpartition(".workload.")[2] for path in found.amounts} == {
        "transactions.rate",
        "users.count",
    }


def test_the_command_says_it_in_json_and_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(layouts.crowded().text, encoding="utf-8")
    words = ["advise", str(path), "--free", "home", "--best", "1", "--out", str(tmp_path / "runs")]
    assert call(words) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("do nothing", "advice 1", "And back:", "optmem"))
    assert call([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert f"{told['best'][0]['saving_cores']['mean']:.2f}" in shown
    assert call([*words[:2], "--find", "rate", "--no-simulate", "-p", "lpar1"]) == 0
    assert "times the load of lpar1" in capsys.readouterr().out
    for wrong in (["--goal", "gold"], ["--worth", "x"], ["--more", "lpar1", "--find", "rate"],
                  ["-p", "lpar1"], ["--time", "0 s"]):  # fmt: skip
        assert call([*words, *wrong]) == 2
        assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pin", "lpar7"], '--pin "lpar7"'),
        (["--free", "hom"], '--free "hom"'),
        (["--free", "pool"], '--free "pool"'),
        ([f"--pin=lpar{at}" for at in (1, 2, 3, 4)], "out of --pin"),
        (["--changes", "0"], "--changes 0"),
    ],
)
def test_who_gave_an_option_is_told_of_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(layouts.crowded().text, encoding="utf-8")
    assert call(["advise", str(path), "--no-simulate", *options]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "advise." not in said


def test_json_holds_all_that_is_told(tmp_path: Path) -> None:
    found = advise(layouts.crowded(), free=["home"], out=tmp_path, best=1)
    told = json.loads(json.dumps(found.as_json()))
    assert told["verdict"] == "change"
    assert set(told["do_nothing"]["cores"]) == {"mean", "ci95"}
    (best,) = told["best"]
    assert set(best["saving_cores"]) == {"mean", "ci95"}
    assert set(best["changes"][0]) == {"path", "from", "to", "why"}
    assert best["saving_cores"]["mean"] > best["saving_cores"]["ci95"] > 0
    back = {line for line in best["back"] if line.startswith("# lpar")}
    there = {line for line in best["commands"] if line.startswith("# lpar")}
    assert there
    assert not back & there
    assert dataclasses.is_dataclass(found)


def test_a_response_that_is_not_solved_is_not_told_as_that_of_the_others() -> None:
    """The mean beside it would be of all, and so no figure to compare with."""
    free = layouts.partition("lpar1", "drawer1", rate=200)
    pooled = layouts.partition("lpar2", rate=500, more=', pool = "small"')
    one, other = (more(layouts.scenario(*of, head=layouts.POOLS), "lpar1") for of in (
        [free, pooled], [free, layouts.partition("lpar2", rate=500)]
    ))  # fmt: skip
    assert other.response_ms is not None
    assert other.response_ms_now is not None
    assert (one.response_ms, one.response_ms_now) == (None, None)
