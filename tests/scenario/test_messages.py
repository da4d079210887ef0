"""Everything that may be wrong with a scenario file: one message with place, facts and next step.

Each row changes the base scenario in one place and names the whole message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import HomenodeError, NotFoundError, Scenario, ScenarioError, load_scenario
from homenode.errors import listed
from homenode.model import catalog

WRONG: list[tuple[str, str, str]] = [
    # unknown keys, missing keys
    (
        "entitlement = 2.0",
        "entitlment = 2.0",
        (
            's.toml:8:33: partition web: processors: unknown key "entitlment": '
            "did you mean entitlement?"
        ),
    ),
    ("[run]", "[runs]", 's.toml:21:2: unknown key "runs": did you mean run?'),
    (
        "smt = 4",
        "zzz = 4",
        (
            's.toml:9:1: partition web: unknown key "zzz": the keys here are name, number, count, '
            "npartition, processors, smt, memory, home, io, guest, workload, mode, "
            "virtual_machine, cpu_pool, switch, paging, cp, kvm, interrupts, minimum, "
            "... (22 in all)"
        ),
    ),
    (
        'rate = "100/s", profile = "oltp"',
        'rate = "100/s"',
        (
            "s.toml:13:1: partition web: workload: profile is missing: name a profile, such as"
            " oltp; `homenode profiles` lists them"
        ),
    ),
    (
        'kind = "loops", count',
        "count",
        (
            "s.toml:19:1: partition batch: workload: kind is missing: write kind = with one of "
            "transactions, users, loops, warehouses, pairs, barriers, web, trace, cores, idle"
        ),
    ),
    (
        'kind = "loops", count',
        'knd = "loops", count',
        's.toml:19:14: partition batch: workload: unknown key "knd": did you mean kind?',
    ),
    (
        'rate = "100/s", profile = "oltp"',
        'speed = "100/s", profle = "oltp"',
        (
            's.toml:13:1: partition web: workload: rate is missing: arrivals, such as "1400/s"\n'
            's.toml:13:37: partition web: workload: unknown key "speed": the keys here are name, '
            "kind, rate, bursts, wait, burst_work, profile\n"
            's.toml:13:54: partition web: workload: unknown key "profle": did you mean profile?'
        ),
    ),
    (
        '[machine]\nmodel = "ibm-power-795"\n',
        "[machine]\n",
        (
            's.toml:3:2: machine: it names no machine; write model = "ibm-power-795" or '
            'file = "mine.toml"; `homenode machines` lists the models'
        ),
    ),
    # more than can be simulated
    (
        'rate = "100/s", profile = "oltp"',
        'rate = "1e9/s", profile = "oltp"',
        (
            's.toml:13:44: partition web: workload.rate = "1e9/s": rate is out of range; '
            "at most 1e7/s is possible"
        ),
    ),
    (
        'rate = "100/s", profile = "oltp"',
        'rate = "100/s", profile = { base = "oltp", instructions = 1, why = "tiny" }',
        (
            's.toml:13:12: partition web: workload = { kind = "transactions", rate = "100/s", '
            "profile = { base...: 1 instructions in 1 bursts take 0.32 ns each; at least 1 ns is "
            "needed; write more instructions or fewer bursts"
        ),
    ),
    # wrong units, wrong kinds
    (
        'memory = "16 GiB"',
        'memory = "16 GB"',
        (
            's.toml:10:10: partition web: memory = "16 GB": "16 GB" has the unit \'GB\', which is'
            " none of a size; write GiB (2^30 bytes)"
        ),
    ),
    (
        'duration = "10 s"',
        "duration = 10",
        (
            "s.toml:22:12: run.duration = 10: 10 has no unit; a time is written with one of ns,"
            ' us, ms, s, min, h, d, like "10 ms"'
        ),
    ),
    (
        "virtual = 4",
        'virtual = "4"',
        's.toml:8:62: partition web: processors.virtual = "4": a whole number is needed here',
    ),
    (
        "virtual = 4",
        "virtual = 4.5",
        "s.toml:8:62: partition web: processors.virtual = 4.5: a whole number is needed here",
    ),
    (
        "smt = 4",
        "smt = true",
        "s.toml:9:7: partition web: smt = true: a whole number is needed here",
    ),
    (
        'mode = "shared"',
        'mode = "share"',
        (
            's.toml:8:23: partition web: processors.mode = "share": there is shared, dedicated; '
            "did you mean shared?"
        ),
    ),
    (
        "throughput_mode = 2",
        "throughput_mode = 3",
        "s.toml:12:29: partition web: guest.throughput_mode = 3: there is 0, 1, 2, 4, 8",
    ),
    # absurd values
    (
        'memory = "16 GiB"',
        'memory = "-1 GiB"',
        (
            's.toml:10:10: partition web: memory = "-1 GiB": size is out of range; at least 1 MiB'
            " is possible"
        ),
    ),
    (
        'memory = "16 GiB"',
        'memory = "16e9 GiB"',
        (
            's.toml:10:10: partition web: memory = "16e9 GiB": size is out of range; at most 1024'
            " TiB is possible"
        ),
    ),
    (
        'duration = "10 s"',
        'duration = "0 s"',
        's.toml:22:12: run.duration = "0 s": time is out of range; at least 1 ms is possible',
    ),
    (
        "virtual = 4 }",
        "virtual = 4, weight = 256 }",
        "s.toml:8:74: partition web: processors.weight = 256: at most 255 is possible",
    ),
    (
        "entitlement = 2.0",
        "entitlement = nan",
        "s.toml:8:47: partition web: processors.entitlement = nan: a finite number is needed here",
    ),
    # what contradicts itself
    (
        "virtual = 4",
        "virtual = 21",
        (
            "s.toml:8:62: partition web: processors.virtual = 21: 2 cores make 0.0952 for each,"
            " POWER7 needs at least 0.10; ask for at most 20 virtual processors or at least 2.10"
            " cores of entitlement"
        ),
    ),
    (
        "virtual = 4",
        "virtual = 1",
        (
            "s.toml:8:62: partition web: processors.virtual = 1: 1 can use 1 cores at most, it is "
            "entitled to 2; ask for at least 2 virtual processors or at most 1 cores"
        ),
    ),
    (
        "entitlement = 2.0, virtual = 4",
        "entitlement = 255.0, virtual = 256",
        (
            "s.toml:8:47: partition web: processors.entitlement = 255.0: web asks 255 cores, 254"
            " of the pool's 254 are left; lower entitlements, reserve less or activate more cores"
        ),
    ),
    (
        "entitlement = 2.0",
        "entitlement = 2.005",
        (
            "s.toml:8:47: partition web: processors.entitlement = 2.005: capacity is given in "
            "hundredths of a core; write 2"
        ),
    ),
    (
        'home = "book1"',
        'home = "book8"',
        (
            's.toml:11:8: partition web: home = "book8": IBM Power 795 (9119-FHB) has books 0 to'
            " 7; write book0 to book7"
        ),
    ),
    (
        'home = "book1"',
        'home = ["book1", "book1.chip4"]',
        (
            's.toml:11:18: partition web: home[1] = "book1.chip4": IBM Power 795 (9119-FHB) has'
            " chips 0 to 3 in a node; write chip0 to chip3"
        ),
    ),
    (
        'home = "book1"',
        'home = "drawer1"',
        (
            's.toml:11:8: partition web: home = "drawer1": "drawer1" is no place; write book0, '
            "book0.chip1 or chip3"
        ),
    ),
    (
        'model = "ibm-power-795"',
        'model = "ibm-power-795"\nactive_cores = 32',
        (
            's.toml:12:8: partition web: home = "book1": no core is active there; the 32 active'
            " ones end at book0.chip3; name a place up to there"
        ),
    ),
    (
        'name = "batch"',
        'name = "web"',
        (
            's.toml:16:8: partition web: name = "web": partition number 1 of the file is called'
            " web; give each partition a name of its own"
        ),
    ),
    (
        "smt = 4",
        "smt = 8",
        (
            "s.toml:9:7: partition web: smt = 8: a core of IBM Power 795 (9119-FHB) (POWER7) has 4"
            " threads; write smt = 1 to 4"
        ),
    ),
    (
        "virtual = 4 }",
        'virtual = 4, pool = "dev" }',
        (
            's.toml:8:72: partition web: processors.pool = "dev": the pools are DefaultPool; '
            "add [[pool]] with that name"
        ),
    ),
    (
        "cores = 2",
        "cores = 257",
        (
            "s.toml:17:44: partition batch: processors.cores = 257: so many cores are not left in"
            " IBM Power 795 (9119-FHB) for batch; ask for fewer cores, give it a larger home or"
            " move other dedicated partitions"
        ),
    ),
    (
        'memory = "16 GiB"',
        'memory = "9000 GiB"',
        (
            's.toml:10:10: partition web: memory = "9000 GiB": IBM Power 795 (9119-FHB) holds 8'
            " TiB; ask for less, or say in [machine.memory] maximum how much there is"
        ),
    ),
    (
        'profile = "oltp"',
        'profile = "oltpp"',
        (
            's.toml:13:63: partition web: workload.profile = "oltpp": the profiles are {profiles}; '
            "did you mean oltp?"
        ),
    ),
    (
        'profile = "oltp"',
        'profile = "none.toml"',
        (
            's.toml:13:63: partition web: workload.profile = "none.toml": there is no file '
            "none.toml; its folder holds no .toml file"
        ),
    ),
    (
        'profile = "oltp"',
        "profile = { instructions = 1e7 }",
        (
            "s.toml:13:63: partition web: workload.profile = { instructions = 1e7 }: it has no"
            " base and lacks system_share, eicpi, issue_share, miss_m0, miss_c0, miss_exponent,"
            ' sharing, footprint, footprint_common, overlap, lock_share; add base = "oltp"'
        ),
    ),
    (
        'model = "ibm-power-795"',
        'model = "ibm-power-759"',
        (
            's.toml:4:9: machine.model = "ibm-power-759": the models are {machines}; did you mean '
            "ibm-power-795?"
        ),
    ),
    (
        'duration = "10 s"',
        'duration = "10.25001 s"',
        (
            's.toml:22:12: run.duration = "10.25001 s": the duration of 10.25001 s is no whole '
            "number of intervals of 1 s; make it 10 s or choose another interval"
        ),
    ),
    (
        'duration = "10 s"',
        'duration = "10 s"\ninterval = "20 s"',
        (
            's.toml:23:12: run.interval = "20 s": the duration is 10 s, shorter than one interval;'
            " make the interval at most the duration"
        ),
    ),
    (
        'duration = "10 s"',
        'duration = "300 d"\ninterval = "1 s"',
        (
            's.toml:23:12: run.interval = "1 s": that makes 25,920,000 intervals, at most'
            " 10,000,000 are kept; make the interval longer"
        ),
    ),
    (
        'name = "batch"',
        'name = "batch"\nminimum = { cores = 3 }',
        (
            "s.toml:17:21: partition batch: minimum.cores = 3: the partition has 2; the minimum is"
            " at most that"
        ),
    ),
    (
        'name = "batch"',
        'name = "batch"\nmaximum = { virtual = 3 }',
        (
            "s.toml:17:23: partition batch: maximum.virtual = 3: its processors are dedicated,"
            " which have no virtual; leave virtual out"
        ),
    ),
    # another machine number
    (
        '[[partition]]\nname = "web"',
        '[machine.memory]\nfar = "300 ns"\n[[partition]]\nname = "web"',
        (
            's.toml:7:7: machine.memory.far = "300 ns": a number of the machine is replaced by a'
            ' value with a reason; write { value = ..., why = "the reason" }'
        ),
    ),
    (
        '[[partition]]\nname = "web"',
        '[machine.memory]\nfarr = { value = "300 ns", why = "x" }\n[[partition]]\nname = "web"',
        "s.toml:7:1: machine.memory: the machine has no number farr: did you mean far?",
    ),
    (
        '[[partition]]\nname = "web"',
        '[machine.memory]\nfar = { value = "120 ns", why = "x" }\n[[partition]]\nname = "web"',
        (
            's.toml:7:7: machine.memory.far = { value = "120 ns", why = "x" }: far (120 ns) is'
            " faster than near (150 ns); latency never falls with distance; correct one of the two"
        ),
    ),
    (
        '[[partition]]\nname = "web"',
        '[machine.memory]\nfar = { value = "300", why = "x" }\n[[partition]]\nname = "web"',
        (
            's.toml:7:17: machine.memory.far.value = "300": "300" has no unit; a time is written'
            ' with one of ns, us, ms, s, min, h, d, like "10 ms"; a latency may also be given in'
            " cycles"
        ),
    ),
    # sweeps
    (
        "[run]",
        '[sweep]\n"partition.wep.smt" = [1, 2]\n[run]',
        (
            's.toml:22:1: sweep: the path "partition.wep.smt" names no partition; did you mean'
            " web? there is web, batch"
        ),
    ),
    (
        "[run]",
        '[sweep]\n"partition.web.smt" = []\n[run]',
        (
            "s.toml:22:23: sweep.partition.web.smt = []: the axis has no values; name at least"
            " one, or leave the axis out"
        ),
    ),
    # syntax
    (
        'home = "book1"',
        "home = book1",
        (
            "s.toml:11:8: this is not valid TOML, invalid value: `home = book1`; text values stand"
            ' in double quotes, as in memory = "40 GiB"; tables in brackets, as in [run]'
        ),
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[w[1][:40] for w in WRONG])
def test_each_mistake_has_its_message(
    base: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in base
    with pytest.raises(HomenodeError) as caught:
        Scenario.from_toml(base.replace(old, new, 1), "s.toml", folder=tmp_path)
    names = {"machines": listed(catalog.machines()), "profiles": listed(catalog.profiles())}
    for kind, there in names.items():
        message = message.replace(f"{{{kind}}}", there)
    assert str(caught.value).replace(f"{tmp_path}/", "") == message
    assert caught.value.exit_code == 2


KEYS = [
    ("processors", 'a table is needed here; write processors = { mode = "shared"'),
    ("guest", 'a table is needed here; write guest = { os = "linux" }'),
    ("workload", 'a table is needed here; write workload = { kind = "transactions"'),
    ("memory", 'text such as "40 GiB", or a list in brackets, is needed here'),
    ("home", 'text such as "book5" or "book5.chip2", or a list in brackets, is needed here'),
    ("kvm", "a table is needed here; its keys are halt_poll"),
    ("smt", "a whole number is needed here"),
    ("workload.profile", 'text such as "oltp", or a table, is needed here'),
    ("workload.use", 'text such as "8.5" or "30 %", or a table, is needed here'),
    ("workload.schedule", 'text such as "day.csv", or a list in brackets, is needed here'),
    ("workload.busy", 'is not a share; write it as text with its unit, like "49 %"'),
    ("workload.reference", "text in quotes is needed here"),
]


@pytest.mark.parametrize("given", ["true", "2026-01-01", "07:30:00"])
@pytest.mark.parametrize(("key", "needed"), KEYS, ids=[key for key, _ in KEYS])
def test_what_nothing_is_made_of_is_answered_with_what_may_stand_there(
    base: str, key: str, needed: str, given: str
) -> None:
    head, _, rest = base.partition("smt = 4\n")
    lines = [line for line in rest.splitlines() if not line.startswith(f"{key} = ")]
    if key.startswith("workload."):
        said = {"kind": '"cores"', "profile": '"oltp"', key.split(".")[1]: given}
        taken = f"workload = {{ {', '.join(f'{one} = {text}' for one, text in said.items())} }}"
        lines = [taken if line.startswith("workload") else line for line in lines]
    else:
        head = "\n".join(line for line in head.splitlines() if not line.startswith(f"{key} = "))
        lines = [f"{key} = {given}", *lines]
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml("\n".join([head, *lines]), "s.toml")
    told = str(caught.value).splitlines()[0]
    where = caught.value.where
    assert where is not None
    assert where.line is not None
    assert where.column is not None
    assert f"partition web: {key} = {given}: " in told
    assert needed in told


def test_pools_are_limits(base: str) -> None:
    pools = '[[pool]]\nname = "dev"\nmaximum = 2\nreserved = 1\n'
    text = base.replace("virtual = 4 }", 'virtual = 4, pool = "dev" }') + pools
    with pytest.raises(ScenarioError, match=r"web asks 2 cores, 1 of dev's 2 are left; lower"):
        Scenario.from_toml(text)
    with pytest.raises(ScenarioError, match="its maximum is 2 cores; reserve at most the maximum"):
        Scenario.from_toml(text.replace("reserved = 1", "reserved = 3"))
    with pytest.raises(ScenarioError, match="the default pool, which is always there, has it"):
        Scenario.from_toml(text.replace('name = "dev"', 'name = "DefaultPool"'))


def test_all_mistakes_are_told_in_the_order_of_the_file(base: str) -> None:
    text = base.replace("smt = 4", "smt = 9").replace("count = 3", "count = 0")
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text.replace('"10 s"', "10"), "s.toml")
    places = [(p.where.line, p.where.column) for p in caught.value.problems if p.where]
    assert places == [(9, 7), (19, 38), (22, 12)]
    assert str(caught.value).count("\n") == 2


def test_each_table_without_its_kind_is_told_those_that_there_are(base: str) -> None:
    text = base.replace('mode = "shared", ', "", 1).replace('kind = "loops", ', "", 1)
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(text, "s.toml")
    steps = [problem.next_step for problem in caught.value.problems]
    assert steps[0] == "write mode = with one of shared, dedicated"
    assert str(steps[1]).startswith("write kind = with one of transactions, users")


def test_facts_can_be_read_one_by_one(base: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(base.replace("virtual = 4", "virtual = 21"), "s.toml")
    error = caught.value
    assert error.asked == "21"
    assert error.there == "2 cores make 0.0952 for each, POWER7 needs at least 0.10"
    assert error.where is not None
    assert (error.where.file, error.where.line, error.where.column) == ("s.toml", 8, 62)
    assert error.next_step is not None


def test_files_that_are_not_there_or_no_text(tmp_path: Path, base: str) -> None:
    (tmp_path / "right.toml").write_text(base, encoding="utf-8")
    with pytest.raises(NotFoundError, match=r"there is no file .*rihgt\.toml; did you mean right"):
        load_scenario(tmp_path / "rihgt.toml")
    with pytest.raises(NotFoundError, match=r"the folder .* is not there either"):
        load_scenario(tmp_path / "no" / "right.toml")
    with pytest.raises(ScenarioError, match="cannot be read: Is a directory"):
        load_scenario(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b'name = "a"\ntitle = "\xff"\n')
    with pytest.raises(ScenarioError, match=r"bytes\.toml:2: the text is not UTF-8: byte 0xff"):
        load_scenario(tmp_path / "bytes.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * (4 * 2**20 + 1))
    with pytest.raises(ScenarioError, match="larger than 4 MiB"):
        load_scenario(tmp_path / "long.toml")


TOO_LONG = "x" * 300
"""No file system takes such a name."""


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('model = "ibm-power-795"', f'file = "{TOO_LONG}.toml"', "4:8: machine.file"),
        (
            'kind = "loops", count = 3',
            f'kind = "trace", file = "{TOO_LONG}.csv"',
            "19:37: partition batch: workload.file",
        ),
        (
            'kind = "loops", count = 3',
            f'kind = "cores", schedule = "{TOO_LONG}.csv"',
            "19:41: partition batch: workload.schedule",
        ),
        (
            'profile = "compute"',
            f'profile = "{TOO_LONG}.toml"',
            "19:51: partition batch: workload.profile",
        ),
    ],
)
def test_names_that_no_file_can_have(base: str, old: str, new: str, place: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(base.replace(old, new, 1), "s.toml")
    told = str(caught.value)
    assert told.startswith(f"s.toml:{place} = ")
    assert "... is too long for the name of a file; " in told


def test_a_text_with_a_byte_order_mark_and_carriage_returns_is_taken(base: str) -> None:
    windows = "\ufeff" + base.replace("\n", "\r\n")
    assert Scenario.from_toml(windows).spec() == Scenario.from_toml(base).spec()


def test_absurdly_nested_values_are_refused() -> None:
    with pytest.raises(ScenarioError, match="nested too deeply"):
        Scenario.from_toml("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ScenarioError, match="not a TOML value"):
        Scenario.from_toml("a = " + "9" * 5000)
