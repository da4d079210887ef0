"""What a scenario file may have wrong about PR/SM, or of PR/SM elsewhere: one message each with
place, facts and next step.

Each row changes a scenario of this folder and names the whole message.
"""

from __future__ import annotations

import pytest

from refusals import Row, cases, check_refusal

WRONG: list[Row] = [
    Row(
        "base",
        "an absolute cap on PowerVM",
        [
            ("virtual = 4 }", "virtual = 4, cap = 2 }"),
        ],
        (
            "s.toml:8:71: partition web: processors.cap = 2: only PR/SM knows it, IBM "
            "Power 795 (9119-FHB) is no mainframe; leave cap out"
        ),
    ),
    Row(
        "base",
        "a core type on PowerVM",
        [
            ("virtual = 4 }", 'virtual = 4, type = "ifl" }'),
        ],
        (
            's.toml:8:72: partition web: processors.type = "ifl": only PR/SM knows it, '
            "IBM Power 795 (9119-FHB) is no mainframe; leave type out"
        ),
    ),
    Row(
        "base",
        "a group on PowerVM",
        [
            ("virtual = 4 }", 'virtual = 4, group = "g" }'),
        ],
        (
            's.toml:8:73: partition web: processors.group = "g": only PR/SM knows it, IBM'
            " Power 795 (9119-FHB) is no mainframe; leave group out"
        ),
    ),
    Row(
        "base",
        "groups on PowerVM",
        [
            ("[[partition]]", ('[[group]]\nname = "g"\ncap = 2\n\n[[partition]]')),
        ],
        (
            "s.toml:6:3: group g: no such thing here: IBM Power 795 (9119-FHB) is no "
            "mainframe; leave [[group]] out"
        ),
    ),
    Row(
        "base",
        "polarization on PowerVM",
        [
            ("virtual = 4 }", 'virtual = 4, polarization = "vertical" }'),
        ],
        (
            's.toml:8:80: partition web: processors.polarization = "vertical": only PR/SM'
            " knows it, IBM Power 795 (9119-FHB) is no mainframe; leave polarization out"
        ),
    ),
    Row(
        "base",
        "defined capacity on PowerVM",
        [
            ("virtual = 4 }", "virtual = 4, defined_capacity = 1.5 }"),
        ],
        (
            "s.toml:8:84: partition web: processors.defined_capacity = 1.5: only PR/SM "
            "knows it, IBM Power 795 (9119-FHB) is no mainframe; leave defined_capacity "
            "out"
        ),
    ),
    Row(
        "base",
        "a mode on PowerVM",
        [
            ("smt = 4", ('smt = 4\nmode = "general"')),
        ],
        (
            's.toml:10:8: partition web: mode = "general": only PR/SM knows it, IBM Power'
            " 795 (9119-FHB) is no mainframe; leave mode out"
        ),
    ),
    Row(
        "base",
        "characterized cores on PowerVM",
        [
            (
                'model = "ibm-power-795"\n',
                ('model = "ibm-power-795"\ncharacterized = { ifl = 20 }\n'),
            ),
        ],
        (
            "s.toml:5:17: machine.characterized = { ifl = 20 }: IBM Power 795 (9119-FHB) "
            "is no mainframe; leave characterized out"
        ),
    ),
    Row(
        "base",
        "no entitlement on PowerVM",
        [
            ("entitlement = 2.0, ", ""),
        ],
        (
            "s.toml:8:1: partition web: processors: entitlement is missing: entitled "
            "capacity in cores"
        ),
    ),
    Row(
        "prsm",
        "a weight above the range",
        [
            ("weight = 600", "weight = 1000"),
        ],
        (
            "s.toml:13:56: partition shop: processors.weight = 1000: a weight under PR/SM"
            " is 1 to 999; choose one of these; only the ratio to the other weights "
            "counts"
        ),
    ),
    Row(
        "prsm",
        "a weight below the range",
        [
            ("weight = 600", "weight = 0"),
        ],
        (
            "s.toml:13:56: partition shop: processors.weight = 0: a weight under PR/SM is"
            " 1 to 999; choose one of these; only the ratio to the other weights counts"
        ),
    ),
    Row(
        "prsm",
        "no weight",
        [
            ("weight = 600, ", ""),
        ],
        (
            "s.toml:13:1: partition shop: processors: weight is missing: write weight = "
            "100; 1 to 999 is possible"
        ),
    ),
    Row(
        "prsm",
        "entitlement under PR/SM",
        [
            ("weight = 600", "entitlement = 2.0, weight = 600"),
        ],
        (
            "s.toml:13:61: partition shop: processors.entitlement = 2.0: under PR/SM the "
            "weights of all partitions give it; leave entitlement out and write weight = "
            "1 to 999"
        ),
    ),
    Row(
        "prsm",
        "an unknown group",
        [
            ('group = "tests"', 'group = "test"'),
        ],
        (
            's.toml:21:68: partition trial: processors.group = "test": the groups are '
            "tests; did you mean tests?"
        ),
    ),
    Row(
        "prsm",
        "a group where there is none",
        [
            (('[[group]]\nname = "tests"\ncap = 6\n\n'), ""),
        ],
        (
            's.toml:17:68: partition trial: processors.group = "tests": there is no '
            "[[group]]; add [[group]] with that name and a cap"
        ),
    ),
    Row(
        "prsm",
        "two groups of a name",
        [
            ("cap = 6\n", ('cap = 6\n\n[[group]]\nname = "tests"\ncap = 2\n')),
        ],
        (
            's.toml:12:8: group tests: name = "tests": another group has it; give each '
            "group a name of its own"
        ),
    ),
    Row(
        "prsm",
        "more logical cores than are shared",
        [
            ("virtual = 12", "virtual = 17"),
        ],
        (
            "s.toml:13:43: partition shop: processors.virtual = 17: 16 cores of type ifl "
            "are shared; a partition has at most as many logical cores; dedicate fewer or"
            " ask for fewer"
        ),
    ),
    Row(
        "prsm",
        "shared cores of two types in one partition",
        [
            (
                'virtual = 12, weight = 600, type = "ifl"',
                "weight = 600, types = { cp = 2, ifl = 10 }",
            ),
        ],
        (
            "s.toml:13:55: partition shop: processors.types = { cp = 2, ifl = 10 }: "
            'shared cores of one partition are of one type here; write type = "ifl" and '
            "virtual, or make the cores dedicated\n"
            "s.toml:13:55: partition shop: processors.types = { cp = 2, ifl = 10 }: in "
            "Linux-only mode all cores are CPs or all are IFLs, here are CPs and IFLs; "
            "write cores of one type"
        ),
    ),
    Row(
        "prsm",
        "types without their numbers",
        [
            ("characterized = { cp = 4, ifl = 20 }\n", ""),
            ('virtual = 12, weight = 600, type = "ifl"', 'virtual = 4, weight = 600, type = "cp"'),
        ],
        (
            "s.toml:3:2: machine: partitions share cores of the types cp and ifl; how "
            "many there are is not said; write characterized = { cp = ..., ifl = ... } in"
            " it"
        ),
    ),
    Row(
        "prsm",
        "a type the machine lacks, shared",
        [
            (('type = "ifl" }\nmemory = "64'), ('type = "cp" }\nmemory = "64')),
            ("{ cp = 4, ifl = 20 }", "{ ifl = 24 }"),
        ],
        (
            's.toml:13:68: partition shop: processors.type = "cp": IBM z14 (3906-M05) has'
            " no CPs here, its cores are 24 ifl; write some in [machine] characterized = "
            "{ cp = 12 }"
        ),
    ),
    Row(
        "prsm",
        "a pool under PR/SM",
        [
            ('group = "tests"', 'pool = "tests"'),
        ],
        (
            's.toml:21:67: partition trial: processors.pool = "tests": IBM z14 (3906-M05)'
            " shares its cores by type; PR/SM has no such pools; leave pool out; group "
            "names a [[group]] with a cap"
        ),
    ),
    Row(
        "prsm",
        "pools under PR/SM",
        [
            (
                ('[[group]]\nname = "tests"\ncap = 6\n'),
                ('[[group]]\nname = "tests"\ncap = 6\n\n[[pool]]\nname = "dev"\n'),
            ),
        ],
        (
            "s.toml:11:3: pool dev: no such thing here: IBM z14 (3906-M05) shares its "
            "cores by type; PR/SM has no such pools; leave [[pool]] out; [[group]] with a"
            " cap limits partitions together"
        ),
    ),
    Row(
        "prsm",
        "a cap of nothing",
        [
            ("cap = 5.5", "cap = 0"),
        ],
        "s.toml:21:83: partition trial: processors.cap = 0: more than 0.0 is possible",
    ),
    Row(
        "prsm",
        "donated cores",
        [
            ('cores = 4, type = "ifl"', 'cores = 4, type = "ifl", donating = true'),
        ],
        (
            "s.toml:28:72: partition own: processors.donating = true: PR/SM does not lend"
            " the cores of a dedicated partition; leave donating out"
        ),
    ),
    Row(
        "prsm",
        "two threads of a core that has one",
        [
            ('cores = 4, type = "ifl"', 'cores = 4, type = "cp"'),
            ('name = "own"', 'name = "own"\nsmt = 2'),
        ],
        (
            "s.toml:28:7: partition own: smt = 2: CPs run one thread, two are for IFLs and"
            ' zIIPs; leave smt out, or write type = "ifl"'
        ),
    ),
    Row(
        "prsm",
        "a zIIP for Linux only",
        [
            ('cores = 4, type = "ifl"', 'cores = 4, type = "ziip"'),
            ("ifl = 20", "ifl = 20, ziip = 4"),
        ],
        (
            's.toml:28:54: partition own: processors.type = "ziip": a partition in Linux-only'
            ' mode has no zIIPs; write type = "cp", or mode = "general"'
        ),
    ),
]


@pytest.mark.parametrize("row", cases(WRONG))
def test_each_mistake_has_its_message(row: Row) -> None:
    check_refusal(row)
