"""What a scenario file may have wrong about z/VM's processors, settings and Control Program: one
message each with place, facts and next step.

Each row changes a scenario of this folder and names the whole message.
"""

from __future__ import annotations

import pytest

from refusals import Row, cases, check_refusal

WRONG: list[Row] = [
    Row(
        "zvm",
        "a 41st logical core with two threads",
        [
            ("cores = 16", "cores = 41"),
            ('smt = "off"', 'smt = "smt-2"'),
        ],
        (
            "s.toml:8:44: partition big: processors.cores = 41: with multithreading z/VM "
            "supports 40 logical cores on IBM z14 (3906-M05), two processor numbers each "
            "of x'00' to x'4F', 41 are asked for; ask for at most 40, write smt = \"off\", "
            'or lift it with [machine.zvm] processors = { value = ..., why = "..." }'
        ),
    ),
    Row(
        "zvm",
        "a 41st logical core with one thread",
        [
            ("cores = 16", "cores = 41"),
            ('smt = "off"', 'smt = "smt-1"'),
        ],
        (
            "s.toml:8:44: partition big: processors.cores = 41: with multithreading z/VM "
            "supports 40 logical cores on IBM z14 (3906-M05), two processor numbers each "
            "of x'00' to x'4F', 41 are asked for; ask for at most 40, write smt = \"off\", "
            'or lift it with [machine.zvm] processors = { value = ..., why = "..." }'
        ),
    ),
    Row(
        "zvm",
        "an 81st processor",
        [
            ("cores = 16", "cores = 81"),
        ],
        (
            "s.toml:8:44: partition big: processors.cores = 81: z/VM supports 80 logical "
            "processors on IBM z14 (3906-M05), numbered x'00' to x'4F', 81 are asked for;"
            " ask for at most 80, divide the partition, or lift it with [machine.zvm] "
            'processors = { value = ..., why = "..." }'
        ),
    ),
    Row(
        "zvm",
        "a mixed partition beyond the limit",
        [
            ('cores = 16, type = "ifl"', "types = { cp = 2, ifl = 79 }"),
        ],
        (
            "s.toml:8:44: partition big: processors.types = { cp = 2, ifl = 79 }: z/VM "
            "supports 80 logical processors on IBM z14 (3906-M05), numbered x'00' to "
            "x'4F', 81 are asked for; ask for at most 80, divide the partition, or lift "
            'it with [machine.zvm] processors = { value = ..., why = "..." }'
        ),
    ),
    Row(
        "zvm",
        "CPs mixed into Linux-only mode",
        [
            ('cores = 16, type = "ifl"', "types = { cp = 2, ifl = 14 }"),
            ('guest = { os = "zvm"', ('mode = "linux-only"\nguest = { os = "zvm"')),
        ],
        (
            "s.toml:8:44: partition big: processors.types = { cp = 2, ifl = 14 }: in "
            "Linux-only mode all cores are CPs or all are IFLs, here are CPs and IFLs; "
            'write mode = "z/vm", where they may be mixed, or cores of one type'
        ),
    ),
    Row(
        "zvm",
        "multithreading with CPs",
        [
            ('type = "ifl"', 'type = "cp"'),
            ('smt = "off"', 'smt = "smt-2"'),
        ],
        (
            's.toml:10:72: partition big: guest.smt = "smt-2": z/VM has no multithreading'
            ' in Linux-only mode with CPs; write smt = "off", or use IFLs only (type = '
            '"ifl") in Linux-only mode'
        ),
    ),
    Row(
        "zvm",
        "multithreading in another mode",
        [
            ('type = "ifl"', 'type = "cp"'),
            ('guest = { os = "zvm"', ('mode = "general"\nguest = { os = "zvm"')),
            ('smt = "off"', 'smt = "smt-1"'),
        ],
        (
            's.toml:11:72: partition big: guest.smt = "smt-1": z/VM has no multithreading'
            ' in general mode with CPs; write smt = "off", or use IFLs only (type = '
            '"ifl") in Linux-only mode'
        ),
    ),
    Row(
        "zvm",
        "multithreading on a machine without",
        [
            ('"ibm-z14"', '"ibm-z196"'),
            ('smt = "off"', 'smt = "smt-2"'),
        ],
        (
            's.toml:10:72: partition big: guest.smt = "smt-2": a core of IBM zEnterprise '
            '196 (2817-M66) has one thread; write smt = "off"'
        ),
    ),
    Row(
        "zvm",
        "two threads beside one",
        [
            ('cores = 16, type = "ifl"', "types = { cp = 2, ifl = 14 }"),
            ('smt = "off"', 'smt = "smt-2"'),
        ],
        (
            's.toml:10:72: partition big: guest.smt = "smt-2": CPs would have one thread '
            'beside IFLs with two, which cannot be simulated; write smt = "smt-1" or '
            '"off", or use IFLs only'
        ),
    ),
    Row(
        "zvm",
        "types that Linux-only mode lacks",
        [
            ('type = "ifl"', 'type = "ziip"'),
        ],
        (
            's.toml:8:55: partition big: processors.type = "ziip": a partition in Linux-'
            'only mode has no zIIPs; write mode = "z/vm"'
        ),
    ),
    Row(
        "zvm",
        "IFLs in general mode",
        [
            ('guest = { os = "zvm"', ('mode = "general"\nguest = { os = "zvm"')),
        ],
        (
            's.toml:8:55: partition big: processors.type = "ifl": a partition in general '
            'mode has no IFLs; write mode = "z/vm"'
        ),
    ),
    Row(
        "zvm",
        "a word for a type",
        [
            ('type = "ifl"', 'type = "ilf"'),
        ],
        (
            's.toml:8:55: partition big: processors.type = "ilf": there is cp, ifl, ziip,'
            " icf; did you mean ifl?"
        ),
    ),
    Row(
        "zvm",
        "a sum of types that is not the count",
        [
            ('cores = 16, type = "ifl"', "cores = 15, types = { cp = 2, ifl = 14 }"),
        ],
        (
            "s.toml:8:44: partition big: processors.cores = 15: its types make 16 cores; "
            "write cores = 16 or leave it out"
        ),
    ),
    Row(
        "zvm",
        "type and types",
        [
            ('cores = 16, type = "ifl"', 'cores = 16, type = "ifl", types = { ifl = 16 }'),
        ],
        (
            's.toml:8:14: partition big: processors = { mode = "dedicated", cores = 16, '
            'type = "ifl", types = {...: it says both type and types; leave type out'
        ),
    ),
    Row(
        "zvm",
        "more dedicated cores than characterized",
        [
            ('model = "ibm-z14"\n', ('model = "ibm-z14"\ncharacterized = { cp = 4, ifl = 12 }\n')),
        ],
        (
            's.toml:9:55: partition big: processors.type = "ifl": 12 of 12 IFLs are left '
            "for it; ask for fewer cores, or characterize more of that type"
        ),
    ),
    Row(
        "zvm",
        "a type the machine lacks",
        [
            ('model = "ibm-z14"\n', ('model = "ibm-z14"\ncharacterized = { cp = 40 }\n')),
            ("cores = 2 }", 'cores = 2, type = "cp" }'),
        ],
        (
            's.toml:9:55: partition big: processors.type = "ifl": IBM z14 (3906-M05) has '
            "no IFLs here, its cores are 40 cp; write some in [machine] characterized = {"
            " ifl = 16 }"
        ),
    ),
    Row(
        "zvm",
        "no cores characterized",
        [
            ('model = "ibm-z14"\n', ('model = "ibm-z14"\ncharacterized = { ifl = 0 }\n')),
        ],
        (
            "s.toml:5:17: machine.characterized = { ifl = 0 }: that makes no core at all;"
            " write how many there are of which type, as { ifl = 20 }"
        ),
    ),
    Row(
        "zvm",
        "another number of active cores",
        [
            (
                'model = "ibm-z14"\n',
                ('model = "ibm-z14"\nactive_cores = 30\ncharacterized = { ifl = 20 }\n'),
            ),
        ],
        (
            "s.toml:6:17: machine.characterized = { ifl = 20 }: that makes 20 cores, "
            "active_cores says 30; leave active_cores out"
        ),
    ),
    Row(
        "zvm",
        "UNPARKING misspelt",
        [
            ('unparking = "large"', 'unparking = "lrage"'),
        ],
        (
            's.toml:10:35: partition big: guest.unparking = "lrage": there is large, '
            "medium, small; did you mean large?"
        ),
    ),
    Row(
        "zvm",
        "UNPARKING with another word",
        [
            ('unparking = "large"', 'unparking = "tiny"'),
        ],
        ('s.toml:10:35: partition big: guest.unparking = "tiny": there is large, medium, small'),
    ),
    Row(
        "zvm",
        "EXCESSUSE misspelt",
        [
            ('excessuse = "medium"', 'excessuse = "meduim"'),
        ],
        (
            's.toml:10:56: partition big: guest.excessuse = "meduim": there is high, '
            "medium, low, none; did you mean medium?"
        ),
    ),
    Row(
        "zvm",
        "z/VM on another machine",
        [
            ('model = "ibm-z14"', 'model = "ibm-power-795"'),
            (', type = "ifl"', ""),
        ],
        (
            's.toml:10:16: partition big: guest.os = "zvm": z/VM does not run on IBM '
            'Power 795 (9119-FHB); choose a mainframe such as model = "ibm-z14", or '
            "another guest"
        ),
    ),
    Row(
        "zvm",
        "threads told twice",
        [
            ('memory = "64 GiB"\n', ('memory = "64 GiB"\nsmt = 2\n')),
        ],
        (
            "s.toml:10:7: partition big: smt = 2: under z/VM guest.smt says how many "
            'threads of a core are used; write guest = { os = "zvm", smt = "smt-2" } and '
            "leave smt out"
        ),
    ),
    Row(
        "zvm",
        "a number of CP that there is not",
        [
            (
                ("\n[[partition.switch]]"),
                ('\n[partition.cp.paths]\nfrme = { value = 3, why = "x" }\n\n[[partition.switch]]'),
            ),
        ],
        (
            "s.toml:14:1: partition big: cp.paths: the Control Program has no number "
            "frme: did you mean frame?"
        ),
    ),
    Row(
        "zvm",
        "a number of CP without a reason",
        [
            (
                ("\n[[partition.switch]]"),
                ("\n[partition.cp.paths]\nframe = 3\n\n[[partition.switch]]"),
            ),
        ],
        (
            "s.toml:14:9: partition big: cp.paths.frame = 3: a number of the Control "
            "Program is replaced by a value with a reason; write { value = ..., why = "
            '"the reason" }'
        ),
    ),
    Row(
        "zvm",
        "a number of CP out of range",
        [
            (
                ("\n[[partition.switch]]"),
                (
                    "\n"
                    "[partition.cp.paths]\n"
                    'frame = { value = -3, why = "x" }\n'
                    "\n"
                    "[[partition.switch]]"
                ),
            ),
        ],
        ("s.toml:14:19: partition big: cp.paths.frame.value = -3: at least 0.0 is possible"),
    ),
    Row(
        "zvm",
        "a number of CP with an unknown key",
        [
            (
                ("\n[[partition.switch]]"),
                (
                    "\n"
                    "[partition.cp.paths]\n"
                    'frame = { value = 3, because = "x" }\n'
                    "\n"
                    "[[partition.switch]]"
                ),
            ),
        ],
        (
            's.toml:14:22: partition big: cp.paths.frame: unknown key "because": the keys'
            " here are value, why, range, source, measured, calibrated, assumed, stated"
        ),
    ),
    Row(
        "zvm",
        "a number where a table is",
        [
            (("\n[[partition.switch]]"), ("\n[partition.cp]\npaths = 3\n\n[[partition.switch]]")),
        ],
        (
            "s.toml:14:9: partition big: cp.paths = 3: a table is needed here; write "
            "[partition.cp.paths] and under it the numbers"
        ),
    ),
    Row(
        "zvm",
        "z/VM mode without z/VM",
        [
            ("cores = 2 }", ('cores = 2 }\nmode = "z/vm"')),
        ],
        (
            's.toml:37:8: partition small: mode = "z/vm": a partition in z/VM mode runs '
            'z/VM, this one has linux; write guest = { os = "zvm" } or mode = "linux-'
            'only"'
        ),
    ),
]


@pytest.mark.parametrize("row", cases(WRONG))
def test_each_mistake_has_its_message(row: Row) -> None:
    check_refusal(row)
