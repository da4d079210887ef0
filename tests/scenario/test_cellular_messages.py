"""Everything that may be wrong with a scenario of a machine of cells: one message with place, facts
and next step.

Each row changes the scenario in one place and names the whole message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import HomenodeError, Scenario

CELLS = Path(__file__).with_name("cells.toml").read_text(encoding="utf-8")

WRONG: list[tuple[str, str, str]] = [
    (
        'cells = ["cell0", "cell1"]',
        'cells = ["cell0", "cell4"]',
        (
            's.toml:8:19: npartition npar0: cells[1] = "cell4": HP Integrity rx8640 has cells 0 '
            "to 3; write cell0 to cell3"
        ),
    ),
    (
        'cells = ["cell0", "cell1"]',
        'cells = ["cell0", "book1"]',
        (
            's.toml:8:19: npartition npar0: cells[1] = "book1": "book1" is no cell; write cell0 '
            "to cell3"
        ),
    ),
    (
        'cells = ["cell3"]',
        'cells = ["cell1"]',
        (
            's.toml:16:10: npartition npar1: cells[0] = "cell1": it belongs to nPartition npar0; '
            "give each cell to one nPartition"
        ),
    ),
    (
        'cells = ["cell3"]',
        'cells = ["cell3", "cell3"]',
        (
            's.toml:16:19: npartition npar1: cells[1] = "cell3": it belongs to nPartition npar1; '
            "give each cell to one nPartition"
        ),
    ),
    (
        'name = "npar1"',
        'name = "npar0"',
        (
            's.toml:15:8: npartition npar0: name = "npar0": another nPartition has it; give each '
            'nPartition a name of its own\ns.toml:39:14: partition alone: npartition = "npar1": '
            "the nPartitions are npar0; did you mean npar0?"
        ),
    ),
    (
        'memory = "32 GiB"',
        'memory = "200 GiB"',
        (
            's.toml:9:10: npartition npar0: memory = "200 GiB": a cell of HP Integrity rx8640 '
            "holds 128 GiB; install less, or say in [machine.memory] maximum how much the "
            "machine holds"
        ),
    ),
    (
        'memory = "32 GiB"',
        'memory = ["32 GiB", "200 GiB"]',
        (
            's.toml:9:21: npartition npar0: memory[1] = "200 GiB": a cell of HP Integrity rx8640 '
            "holds 128 GiB; install less, or say in [machine.memory] maximum how much the "
            "machine holds"
        ),
    ),
    (
        'memory = "32 GiB"',
        'memory = ["32 GiB", "32 GiB", "32 GiB"]',
        (
            's.toml:9:10: npartition npar0: memory = ["32 GiB", "32 GiB", "32 GiB"]: 3 values '
            "for 2 cells; give one value, or one for each cell in the order of cells"
        ),
    ),
    (
        'clm = "24 GiB"',
        'clm = "40 GiB"',
        (
            's.toml:10:7: npartition npar0: clm = "40 GiB": cell0 has 32 GiB in all; keep at '
            "most that cell-local"
        ),
    ),
    (
        'clm = "24 GiB"',
        'clm = ["24 GiB", "40 GiB"]',
        (
            's.toml:10:18: npartition npar0: clm[1] = "40 GiB": cell1 has 32 GiB in all; keep at '
            "most that cell-local"
        ),
    ),
    (
        'ilm_granule = "1024 MiB"',
        'ilm_granule = "1000 MiB"',
        (
            's.toml:11:15: npartition npar0: ilm_granule = "1000 MiB": a granule is a power of '
            "two; write 512 MiB or 1 GiB"
        ),
    ),
    (
        'clm_granule = "1024 MiB"',
        'clm_granule = "32 MiB"',
        (
            's.toml:12:15: npartition npar0: clm_granule = "32 MiB": the smallest granule is 64 '
            "MiB; write at least that"
        ),
    ),
    (
        'clm = "24 GiB"\nilm_granule = "1024 MiB"',
        'clm = "1 GiB"\nilm_granule = "64 MiB"\n',
        (
            's.toml:26:20: partition shop: memory[0].size = "20 GiB": cell1 has 1 GiB of '
            "cell-local memory; ask for less, or keep more cell-local: clm of nPartition npar0"
        ),
    ),
    (
        'memory = "32 GiB"\nclm = "24 GiB"\nilm_granule = "1024 MiB"\nclm_granule = "1024 MiB"',
        'memory = "128 GiB"\nclm = "96 GiB"',
        (
            "s.toml:6:3: npartition npar0: the granules are too small: 96 GiB of cell-local "
            "memory on a cell of npar0 make 768 granules of 128 MiB, at most 512 are possible; "
            'write clm_granule = "256 MiB"'
        ),
    ),
    (
        'npartition = "npar0"\nprocessors = { mode = "dedicated", cores = 2',
        'npartition = "npar2"\nprocessors = { mode = "dedicated", cores = 2',
        (
            's.toml:31:14: partition books: npartition = "npar2": the nPartitions are npar0, '
            "npar1; did you mean npar1?"
        ),
    ),
    (
        'npartition = "npar0"\nprocessors = { mode = "dedicated", cores = 2',
        'processors = { mode = "dedicated", cores = 2',
        (
            "s.toml:29:3: partition books: npartition is missing: write npartition = with one of "
            "npar0, npar1"
        ),
    ),
    (
        'mode = "dedicated", cores = 2, minimum = 1, maximum = 4',
        'mode = "shared", entitlement = 1.0, virtual = 2',
        (
            's.toml:32:23: partition books: processors.mode = "shared": HP Integrity rx8640 '
            "gives every partition cores of its own, nothing is shared; write processors = { "
            'mode = "dedicated", cores = 2 }'
        ),
    ),
    (
        'on = "cell1"',
        'on = "cell3"',
        (
            's.toml:25:35: partition shop: memory[0].on = "cell3": nPartition npar0 has cell0, '
            "cell1; name one of those, or interleaved"
        ),
    ),
    (
        'on = "cell1"',
        'on = "cell9"',
        (
            's.toml:25:35: partition shop: memory[0].on = "cell9": HP Integrity rx8640 has cells '
            "0 to 3; write cell0 to cell3, or interleaved"
        ),
    ),
    (
        'on = "cell1"',
        'on = "chip1"',
        (
            's.toml:25:35: partition shop: memory[0].on = "chip1": "chip1" is no cell; write '
            "cell0 to cell3, or interleaved"
        ),
    ),
    (
        'size = "20 GiB"',
        'size = "25 GiB"',
        (
            's.toml:25:20: partition shop: memory[0].size = "25 GiB": cell1 has 24 GiB of '
            "cell-local memory; ask for less, or keep more cell-local: clm of nPartition npar0"
        ),
    ),
    (
        'size = "20 GiB"',
        'size = "24.5 GiB"',
        (
            's.toml:25:20: partition shop: memory[0].size = "24.5 GiB": cell1 has 24 GiB of '
            "cell-local memory; in whole granules it asks 25 GiB; ask for less, or keep more "
            "cell-local: clm of nPartition npar0"
        ),
    ),
    (
        'memory = "4 GiB"',
        'memory = "9 GiB"',
        (
            's.toml:33:10: partition books: memory = "9 GiB": nPartition npar0 has 16 GiB of '
            "interleaved memory, 8 GiB of it are left for books; ask for less, or keep less "
            "cell-local: clm of nPartition npar0"
        ),
    ),
    (
        'memory = "16 GiB"\nguest',
        'memory = "17 GiB"\nguest',
        (
            's.toml:41:10: partition alone: memory = "17 GiB": nPartition npar1 has 16 GiB of '
            "interleaved memory; ask for less, or keep less cell-local: clm of nPartition npar1"
        ),
    ),
    (
        'memory = "4 GiB"',
        'memory = "1 GiB"',
        (
            's.toml:33:10: partition books: memory = "1 GiB": 992 MiB of it are left when '
            "firmware and monitor have theirs; its operating system needs 1 GiB; ask for more"
        ),
    ),
    (
        'memory = "4 GiB"',
        'memory = [{ size = "1 GiB" }, { size = "3 GiB", use = "floating" }]',
        (
            's.toml:33:10: partition books: memory = [{ size = "1 GiB" }, { size = "3 GiB", use '
            '= "floating" }]: 1 GiB of 4 GiB are base memory, a virtual partition of that size '
            'needs 2 GiB; give more of it use = "base"'
        ),
    ),
    (
        'memory = "16 GiB"\nguest',
        'memory = [{ size = "16 GiB", use = "floating" }]\nguest',
        (
            's.toml:41:36: partition alone: memory[0].use = "floating": nPartition npar1 runs no '
            'virtual partitions, so nothing can be moved; leave out use = "floating"'
        ),
    ),
    (
        "cells = { cell1 = 6 }",
        "cells = { cell1 = 8 }",
        (
            "s.toml:23:55: partition shop: processors.cells = { cell1 = 8 }: 8 by cell and 1 by "
            "path make 9, the partition has 8 cores; write cores = 9, or ask for fewer of them "
            "by name"
        ),
    ),
    (
        "cores = 2, minimum = 1, maximum = 4",
        "cores = 2, cells = { cell0 = 1, cell1 = 2 }",
        (
            "s.toml:32:55: partition books: processors.cells = { cell0 = 1, cell1 = 2 }: 3 by "
            "cell are asked for, the partition has 2 cores; write cores = 3, or ask for fewer of "
            "them by name"
        ),
    ),
    (
        'clm = "24 GiB"',
        "clm = 24",
        (
            "s.toml:10:7: npartition npar0: clm = 24: 24 has no unit; a size is written with one "
            'of B, KiB, MiB, GiB, TiB, like "40 GiB"'
        ),
    ),
    (
        'memory = "16 GiB"\nguest',
        "memory = 16\nguest",
        (
            "s.toml:41:10: partition alone: memory = 16: 16 has no unit; a size is written with "
            'one of B, KiB, MiB, GiB, TiB, like "40 GiB"'
        ),
    ),
    (
        'clm_granule = "1024 MiB"',
        'clm_granule = "0,5 GiB"',
        (
            's.toml:12:15: npartition npar0: clm_granule = "0,5 GiB": "0,5 GiB" has a decimal '
            'comma; write a point, "0.5 GiB"'
        ),
    ),
    (
        'memory = "32 GiB"',
        'memory = "640 GiB"',
        (
            's.toml:9:10: npartition npar0: memory = "640 GiB": a cell of HP Integrity rx8640 '
            "holds 128 GiB; install less, or say in [machine.memory] maximum how much the machine "
            "holds"
        ),
    ),
    (
        "cells = { cell1 = 6 }",
        "cells = { cell3 = 6 }",
        (
            "s.toml:23:65: partition shop: processors.cells.cell3 = 6: nPartition npar0 has "
            "cell0, cell1; name one of those, or give the nPartition the cell"
        ),
    ),
    (
        "cells = { cell1 = 6 }",
        "cells = { cell7 = 6 }",
        (
            's.toml:23:57: partition shop: processors.cells: "cell7": HP Integrity rx8640 has '
            "cells 0 to 3: write cell0 to cell3"
        ),
    ),
    (
        "cores = 2, minimum = 1, maximum = 4",
        'cores = 2, cells = { cell1 = 2 }, paths = ["0.11"]',
        (
            "s.toml:32:55: partition books: processors.cells = { cell1 = 2 }: 2 by cell and 1 by "
            "path make 3, the partition has 2 cores; write cores = 3, or ask for fewer of them "
            "by name"
        ),
    ),
    (
        "cores = 2, minimum = 1, maximum = 4",
        "cores = 9",
        (
            "s.toml:32:44: partition books: processors.cores = 9: 8 are left for books in "
            "nPartition npar0; ask for fewer cores, or give the nPartition more cells"
        ),
    ),
    (
        "cores = 2, minimum = 1, maximum = 4",
        "cores = 4, cells = { cell1 = 4 }",
        (
            "s.toml:32:65: partition books: processors.cells.cell1 = 4: 2 of the 8 cores are "
            "left; ask for fewer of cell1, or for cores of another cell"
        ),
    ),
    (
        "cores = 2, minimum = 1, maximum = 4",
        'cores = 2, paths = ["0.11"]',
        (
            's.toml:32:56: partition books: processors.paths[0] = "0.11": partition shop has '
            "that core; give each core to one partition, once"
        ),
    ),
    (
        'paths = ["0.11"]',
        'paths = ["0.11", "0/11"]',
        (
            's.toml:23:87: partition shop: processors.paths[1] = "0/11": partition shop has that '
            "core; give each core to one partition, once"
        ),
    ),
    (
        'paths = ["0.11"]',
        'paths = ["0.18"]',
        (
            's.toml:23:79: partition shop: processors.paths[0] = "0.18": cell 0 has cores 0.10 '
            "to 0.17; name one of those"
        ),
    ),
    (
        'paths = ["0.11"]',
        'paths = ["4.10"]',
        (
            's.toml:23:79: partition shop: processors.paths[0] = "4.10": HP Integrity rx8640 has '
            "cells 0 to 3; write a path from 0.10 on"
        ),
    ),
    (
        'paths = ["0.11"]',
        'paths = ["2.10"]',
        (
            's.toml:23:79: partition shop: processors.paths[0] = "2.10": nPartition npar0 has '
            "cell0, cell1; name one of those, or give the nPartition the cell"
        ),
    ),
    (
        'paths = ["0.11"]',
        'paths = ["first"]',
        (
            's.toml:23:79: partition shop: processors.paths[0] = "first": a path is a cell and a '
            "processor in it, such as 0.10"
        ),
    ),
    (
        "minimum = 1, maximum = 4",
        "minimum = 3",
        (
            "s.toml:32:57: partition books: processors.minimum = 3: the partition has 2 cores; "
            "the minimum is at most that"
        ),
    ),
    (
        "minimum = 1, maximum = 4",
        "maximum = 1",
        (
            "s.toml:32:57: partition books: processors.maximum = 1: the partition has 2 cores; "
            "the maximum is at least that"
        ),
    ),
    (
        "minimum = 1, maximum = 4",
        'boot = "1.10"',
        (
            's.toml:32:54: partition books: processors.boot = "1.10": the cores of books are '
            "0.12, 0.13; name one of them, or add it to paths"
        ),
    ),
    (
        "minimum = 1, maximum = 4",
        'boot = "9.10"',
        (
            's.toml:32:54: partition books: processors.boot = "9.10": HP Integrity rx8640 has '
            "cells 0 to 3; write a path from 0.10 on"
        ),
    ),
    (
        "minimum = 1, maximum = 4",
        "donating = true",
        (
            "s.toml:32:58: partition books: processors.donating = true: HP Integrity rx8640 has "
            "no shared pool to lend cores to; leave donating out"
        ),
    ),
    (
        'io = "cell1"',
        'io = "cell3"',
        (
            's.toml:24:6: partition shop: io = "cell3": nPartition npar0 has cell0, cell1; name '
            "the cell of one of its I/O chassis"
        ),
    ),
    (
        'io = "cell1"',
        'io = "slot1"',
        's.toml:24:6: partition shop: io = "slot1": "slot1" is no cell; write cell0 to cell3',
    ),
    (
        'io = "cell1"',
        'home = "cell1"',
        (
            's.toml:24:8: partition shop: home = "cell1": a partition is at home where its cores '
            "are; leave home out; processors.cells says of which cells they are"
        ),
    ),
    (
        'guest = { os = "linux", memory_policy = "interleaved", memory_used = "50 %" }\n',
        "",
        (
            "s.toml:29:3: partition books: guest: another system is needed: HP Integrity rx8640 "
            "does not run AIX, which is meant where guest.os is not given; write guest = { os = "
            '"hp-ux" }'
        ),
    ),
    (
        'guest = { os = "hp-ux" }\nworkload = { kind = "ware',
        'guest = { os = "hp-ux", memory_policy = "strict" }\nworkload = { kind = "ware',
        (
            's.toml:26:41: partition shop: guest.memory_policy = "strict": threads on cell0 '
            "allocate 6.99 GiB there, shop has 0 GiB on cell0 alone; give it more there, lower "
            'memory_used, or write memory_policy = "local-first"'
        ),
    ),
    (
        "vpars = false",
        (
            'vpars = false\n[[partition]]\nname = "second"\nnpartition = "npar1"\nprocessors = { '
            'mode = "dedicated", cores = 1 }\nmemory = "2 GiB"\nguest = { os = "hp-ux" }\n'
            'workload = { kind = "idle" }'
        ),
        (
            "s.toml:44:3: partition alone: alone has no room in nPartition npar1: it runs no "
            "virtual partitions (vpars = false) and second is in it; write vpars = true, or give "
            "each partition an nPartition of its own"
        ),
    ),
    (
        'name = "books"\n',
        'name = "books"\ncount = 8\n',
        (
            "s.toml:29:3: partition books: books8 has no room in nPartition npar0: an nPartition "
            "runs at most 8 virtual partitions; give it fewer, or make another nPartition of "
            "some of its cells"
        ),
    ),
    (
        'os = "hp-ux" }',
        'os = "hpux" }',
        (
            's.toml:26:16: partition shop: guest.os = "hpux": there is aix, hp-ux, linux, zvm; '
            "did you mean hp-ux?"
        ),
    ),
    (
        'model = "hp-rx8640"',
        'model = "ibm-power-795"',
        (
            's.toml:10:7: npartition npar0: clm = "24 GiB": IBM Power 795 (9119-FHB) has no '
            "cell-local memory; its memory hangs beside each chip; leave [[npartition]] out; "
            "memory = [{ size, on }] names a chip\ns.toml:14:3: npartition npar1: no such thing "
            "here: IBM Power 795 (9119-FHB) is not made of cells that are put together to "
            "nPartitions; leave it out"
        ),
    ),
    (
        "count = 16",
        "count = 0",
        "s.toml:27:43: partition shop: workload.count = 0: at least 1 is possible",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[w[1][:40] for w in WRONG])
def test_each_mistake_has_its_message(old: str, new: str, message: str) -> None:
    assert old in CELLS
    with pytest.raises(HomenodeError) as caught:
        Scenario.from_toml(CELLS.replace(old, new, 1), "s.toml")
    assert str(caught.value) == message
    assert caught.value.exit_code == 2
