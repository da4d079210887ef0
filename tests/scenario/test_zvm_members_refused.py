"""What a scenario file may have wrong about virtual machines, switches and paging space: one
message each with place, facts and next step.

Each row changes a scenario of this folder and names the whole message.
"""

from __future__ import annotations

import pytest

from refusals import Row, cases, check_refusal

WRONG: list[Row] = [
    Row(
        "zvm",
        "an absolute share over 100 %",
        [
            ('"2 %"', '"120 %"'),
        ],
        (
            's.toml:24:22: partition big: virtual_machine client.share.absolute = "120 '
            '%": share is out of range; at most 100 % is possible'
        ),
    ),
    Row(
        "zvm",
        "absolute shares over 100 % together",
        [
            ('"2 %"', '"20 %"'),
        ],
        (
            's.toml:24:9: partition big: virtual_machine client.share = { absolute = "20 '
            '%" }: all absolute shares up to this one make 1.2 times the partition; lower'
            " them to 100 % together, or write { relative = 100 }"
        ),
    ),
    Row(
        "zvm",
        "a relative share out of range",
        [
            ('{ absolute = "2 %" }', "{ relative = 10001 }"),
        ],
        (
            "s.toml:24:22: partition big: virtual_machine client.share.relative = 10001: "
            "at most 10000 is possible"
        ),
    ),
    Row(
        "zvm",
        "a relative share of nothing",
        [
            ('{ absolute = "2 %" }', "{ relative = 0 }"),
        ],
        (
            "s.toml:24:22: partition big: virtual_machine client.share.relative = 0: at "
            "least 1 is possible"
        ),
    ),
    Row(
        "zvm",
        "a share of both kinds",
        [
            ('{ absolute = "2 %" }', '{ relative = 100, absolute = "2 %" }'),
        ],
        (
            "s.toml:24:9: partition big: virtual_machine client.share = { relative = 100,"
            ' absolute = "2 %" }: a share is absolute or relative, this says both; write '
            '{ relative = 100 } or { absolute = "10 %" }'
        ),
    ),
    Row(
        "zvm",
        "a share of no kind",
        [
            ('{ absolute = "2 %" }', "{}"),
        ],
        (
            "s.toml:24:9: partition big: virtual_machine client.share = {}: a share is "
            "absolute or relative, this says neither; write { relative = 100 } or { "
            'absolute = "10 %" }'
        ),
    ),
    Row(
        "zvm",
        "a limit below the share",
        [
            (
                'share = { absolute = "2 %" }',
                ('share = { absolute = "2 %" }\nlimit = { absolute = "1 %" }'),
            ),
        ],
        (
            's.toml:25:9: partition big: virtual_machine client.limit = { absolute = "1 '
            '%" }: its share is more than that; make the limit at least the share'
        ),
    ),
    Row(
        "zvm",
        "a switch without members",
        [
            (
                ("layer = 2\ncount = 2\n"),
                ('layer = 2\ncount = 2\n\n[[partition.switch]]\nname = "spare"\nlayer = 3\n'),
            ),
        ],
        (
            "s.toml:18:3: partition big: switch spare: it has no members: no virtual "
            'machine is coupled to it; write switch = "spare" at those that are, or leave'
            " the switch out"
        ),
    ),
    Row(
        "zvm",
        "an unknown switch",
        [
            ('switch = "tile"', 'switch = "tyle"'),
        ],
        (
            's.toml:23:10: partition big: virtual_machine client.switch = "tyle": the '
            "switches are tile; did you mean tile?"
        ),
    ),
    Row(
        "zvm",
        "a client without servers",
        [
            ('role = "server"', 'role = "idle"'),
        ],
        (
            's.toml:22:8: partition big: virtual_machine client.role = "client": no '
            'server on switch tile answers it; couple one with role = "server" to that '
            "switch"
        ),
    ),
    Row(
        "zvm",
        "servers without a client",
        [
            ('role = "client"', 'role = "idle"'),
        ],
        (
            "s.toml:11:1: partition big: workload: no virtual machine is a client, so "
            'nothing is asked for; write role = "client" at one, or workload = { kind = '
            '"idle" }\n'
            's.toml:31:8: partition big: virtual_machine server.role = "server": no '
            'client on switch tile asks it; couple one with role = "client" to that '
            "switch"
        ),
    ),
    Row(
        "zvm",
        "a client without a switch",
        [
            (('role = "client"\nswitch = "tile"\n'), 'role = "client"\n'),
        ],
        (
            's.toml:22:8: partition big: virtual_machine client.role = "client": a client'
            ' is coupled to a virtual switch; write switch = "tile"'
        ),
    ),
    Row(
        "zvm",
        "a layer that there is not",
        [
            ("layer = 2", "layer = 4"),
        ],
        "s.toml:15:9: partition big: switch tile.layer = 4: there is 2, 3",
    ),
    Row(
        "zvm",
        "two switches of a name",
        [
            (
                ("layer = 2\ncount = 2\n"),
                ('layer = 2\n\n[[partition.switch]]\nname = "tile"\nlayer = 3\n'),
            ),
        ],
        (
            's.toml:18:8: partition big: switch tile.name = "tile": another switch has '
            "it; give each switch a name of its own, or write count"
        ),
    ),
    Row(
        "zvm",
        "two machines of a name",
        [
            ('name = "server"', 'name = "client"'),
        ],
        (
            's.toml:27:8: partition big: virtual_machine client.name = "client": another '
            "virtual machine has it; give each virtual machine a name of its own, or "
            "write count"
        ),
    ),
    Row(
        "zvm",
        "two machines of a name by number",
        [
            (('name = "server"\ncount = 12'), 'name = "client6"'),
            (
                ('switch = "tile"\n\n[[partition]]'),
                (
                    'switch = "other"\n'
                    "\n"
                    "[[partition.switch]]\n"
                    'name = "other"\n'
                    "layer = 2\n"
                    "\n"
                    "[[partition.virtual_machine]]\n"
                    'name = "asking"\n'
                    'memory = "1 GiB"\n'
                    'role = "client"\n'
                    'switch = "other"\n'
                    "\n"
                    "[[partition.virtual_machine]]\n"
                    'name = "answering"\n'
                    'memory = "1 GiB"\n'
                    'role = "server"\n'
                    'switch = "tile"\n'
                    "\n"
                    "[[partition]]"
                ),
            ),
        ],
        (
            "s.toml:18:3: partition big: virtual_machine: with their numbers two are "
            "called client6; give one of them another name"
        ),
    ),
    Row(
        "zvm",
        "guests larger than central memory",
        [
            ('memory = "64 GiB"', 'memory = "16 GiB"'),
        ],
        (
            's.toml:9:10: partition big: memory = "16 GiB": the virtual machines have 30 '
            "GiB of memory, central memory is 16 GiB, and nothing can be paged out; add "
            "[partition.paging] with volumes and size, or make central memory larger"
        ),
    ),
    Row(
        "zvm",
        "guests larger than both",
        [
            ('memory = "64 GiB"', ('memory = "16 GiB"\npaging = { volumes = 4, size = "4 GiB" }')),
        ],
        (
            's.toml:10:32: partition big: paging.size = "4 GiB": the virtual machines '
            "have 30 GiB of memory, central memory is 16 GiB, 95 % of it for guests' "
            "pages; the rest does not fit; make the paging space or central memory larger"
        ),
    ),
    Row(
        "zvm",
        "more virtual processors than a guest can have",
        [
            ("cpus = 1", "cpus = 65"),
        ],
        (
            "s.toml:29:8: partition big: virtual_machine server.cpus = 65: z/VM gives a "
            "virtual machine at most 64 virtual processors; ask for fewer, or for more "
            "machines with count"
        ),
    ),
    Row(
        "zvm",
        "web without z/VM",
        [
            (
                'kind = "loops", count = 3, profile = "compute"',
                'kind = "web", file = "1 KiB", files = 2, profile = "compute"',
            ),
        ],
        (
            's.toml:39:21: partition small: workload.kind = "web": clients and servers '
            'are virtual machines of z/VM, the guest is linux; write guest = { os = "zvm"'
            ' }, or kind = "transactions"'
        ),
    ),
    Row(
        "zvm",
        "a machine that does nothing",
        [('role = "server"\n', "")],
        (
            "s.toml:26:3: partition big: virtual_machine server: a virtual machine has a role or"
            ' a workload of its own, this one has neither; write role = "client", or workload = {'
            ' kind = "transactions", rate = "200/s" }'
        ),
    ),
    Row(
        "zvm",
        "answers that go nowhere",
        [
            (
                'role = "server"\nswitch = "tile"',
                'workload = { kind = "transactions", rate = "2/s", answer = "1 KiB" }',
            ),
            ('role = "client"', 'role = "loop"'),
        ],
        (
            's.toml:31:60: partition big: virtual_machine server.workload.answer = "1 KiB": what'
            ' it answers goes over a virtual switch; write switch = "tile", or leave answer out'
        ),
    ),
    Row(
        "zvm",
        "waits between bursts that there are not",
        [
            (
                'role = "server"\nswitch = "tile"',
                'workload = { kind = "transactions", rate = "2/s", wait = "5 ms" }',
            ),
            ('role = "client"', 'role = "loop"'),
            ('kind = "web", profile = "web-small", file = "8 KiB", files = 2', 'kind = "idle"'),
        ],
        (
            's.toml:31:58: partition big: virtual_machine server.workload.wait = "5 ms": it waits'
            " between two bursts, and without bursts there is one; write bursts = 5, how many on"
            " the mean, or leave wait out"
        ),
    ),
    Row(
        "zvm",
        "z/VM with another kind of work",
        [
            (
                'kind = "web", profile = "web-small", file = "8 KiB", files = 2',
                'kind = "loops", count = 2, profile = "web-small"',
            ),
        ],
        (
            's.toml:11:21: partition big: workload.kind = "loops": under z/VM the virtual'
            ' machines work, by their role; write kind = "web", or "idle" with machines '
            'that have a workload or role = "loop"'
        ),
    ),
    Row(
        "zvm",
        "no virtual machines",
        [
            (
                (
                    "\n"
                    "[[partition.switch]]\n"
                    'name = "tile"\n'
                    "layer = 2\n"
                    "count = 2\n"
                    "\n"
                    "[[partition.virtual_machine]]\n"
                    'name = "client"\n'
                    "count = 3\n"
                    'memory = "1 GiB"\n'
                    'role = "client"\n'
                    'switch = "tile"\n'
                    'share = { absolute = "2 %" }\n'
                    "\n"
                    "[[partition.virtual_machine]]\n"
                    'name = "server"\n'
                    "count = 12\n"
                    "cpus = 1\n"
                    'memory = "1 GiB"\n'
                    'role = "server"\n'
                    'switch = "tile"\n'
                ),
                "",
            ),
        ],
        (
            "s.toml:6:3: partition big: virtual_machine is missing: write "
            '[[partition.virtual_machine]] with name, memory and role = "client"'
        ),
    ),
    Row(
        "zvm",
        "virtual machines without z/VM",
        [
            (
                ('guest = { os = "zvm", unparking = "large", excessuse = "medium", smt = "off" }'),
                'guest = { os = "linux" }',
            ),
        ],
        (
            's.toml:11:21: partition big: workload.kind = "web": clients and servers are '
            'virtual machines of z/VM, the guest is linux; write guest = { os = "zvm" }, '
            'or kind = "transactions"\n'
            "s.toml:13:3: partition big: switch: no such thing here: only z/VM has it, "
            'the guest is linux; leave it out, or write guest = { os = "zvm" }\n'
            "s.toml:18:3: partition big: virtual_machine: no such thing here: only z/VM "
            'has it, the guest is linux; leave it out, or write guest = { os = "zvm" }'
        ),
    ),
]


@pytest.mark.parametrize("row", cases(WRONG))
def test_each_mistake_has_its_message(row: Row) -> None:
    check_refusal(row)
