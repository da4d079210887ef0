"""Listings made into scenarios: what is taken over, what is assumed and said to be, what is
refused.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cells import LISTINGS, NO_MONITOR, TWO_CELLS
from homenode import HomenodeError
from homenode.errors import StoreError
from homenode.model.scenario import Scenario
from homenode.records.importing import (
    Assembled,
    AssembleOptions,
    ListingError,
    import_paths,
)
from homenode.records.importing.assemble import assemble
from homenode.records.importing.facts import Facts
from homenode.records.importing.front import read_into
from homenode.records.importing.opening.contents import InMemory, Input
from homenode.tools import parstatus, vparstatus

OAK = (LISTINGS / "vparstatus-v.txt").read_text().replace("(MB):  1024", "(MB):  2048")
FOREST = (LISTINGS / "parstatus-C.txt").read_text()
NOT_LOCAL = (
    "cell-local memory of npar0 is not told: what its virtual partitions have of it is assumed; "
    "parstatus -V -c CELL would tell"
)
PLACEHOLDER = (
    "a listing says nothing of the work: every core runs an endless loop of the profile compute; "
    "write your own workloads"
)


def scenario(text: str = TWO_CELLS) -> Scenario:
    return Scenario.from_toml(text)


def taken(*texts: str, machine: str | None = None) -> Assembled:
    facts = Facts()
    for letter, text in zip("abcd", texts, strict=False):
        name = f"{letter}.txt"
        read_into(Input(name, name, InMemory(text.encode())), facts)
    return assemble(facts, AssembleOptions(machine=machine))


def told(imported: Assembled) -> list[str]:
    return [str(notice) for notice in (*imported.facts.notices, *imported.notices)]


def refusal(*texts: str, machine: str | None = None) -> str:
    with pytest.raises(ListingError) as caught:
        taken(*texts, machine=machine)
    return str(caught.value)


@pytest.mark.parametrize("form", ["v", "M"])
@pytest.mark.parametrize("with_cells", [False, True])
def test_what_is_exported_is_imported_and_exported_alike(
    form: vparstatus.Form, with_cells: bool
) -> None:
    first = scenario().resolved
    shown = vparstatus.render(first, form)
    texts = [shown, parstatus.render(first)] if with_cells else [shown]
    again = taken(*texts).scenario.resolved
    assert vparstatus.render(again, form) == shown
    for ours, theirs in zip(first.partitions, again.partitions, strict=True):
        assert ours.cores == theirs.cores
        assert ours.io_domain == theirs.io_domain
        if with_cells:  # else there is as much more as firmware and monitor take
            assert sorted(ours.memory, key=str) == sorted(theirs.memory, key=str)
    if with_cells:
        assert parstatus.render(again) == parstatus.render(first)


ROOT = Path(__file__).resolve().parents[2]
STUDIED = sorted((ROOT / "python/homenode/data/studies/hp-vpars/scenarios").glob("*.toml"))


@pytest.mark.parametrize("path", STUDIED, ids=lambda path: path.stem)
def test_layouts_of_the_study_come_back_from_their_listings(path: Path) -> None:
    layout = Scenario.load(path).resolved
    texts = [parstatus.render(layout, parstatus.SECTIONS)]
    if any(one.vpars for one in layout.npartitions):
        texts.append(vparstatus.render(layout, "M"))
    again = taken(*texts).scenario.resolved
    assert parstatus.render(again) == parstatus.render(layout)
    for ours, theirs in zip(layout.partitions, again.partitions, strict=True):
        assert (ours.cores, ours.io_domain) == (theirs.cores, theirs.io_domain)
        assert sorted(ours.memory, key=str) == sorted(theirs.memory, key=str)
        assert ours.page_bytes == theirs.page_bytes


def test_parstatus_in_full_leaves_nothing_of_the_hardware_to_assume() -> None:
    text = TWO_CELLS.replace("32 GiB", "48 GiB").replace('clm = "24', 'clm = "28')
    layout = scenario(text).resolved
    shown = vparstatus.render(layout, "v")
    everything = parstatus.render(layout, (*parstatus.SECTIONS, parstatus.DETAILS))
    imported = taken(shown, everything)
    assert told(imported) == [PLACEHOLDER]
    assert imported.scenario.resolved.npartitions == layout.npartitions


def test_every_value_says_where_it_is_from() -> None:
    assert taken(OAK, FOREST, machine="hp-rx8640").text == (
        """\
# Imported from a.txt, b.txt.
# Behind each value stands the line it was read from, or what was assumed.

[machine]
model = "hp-rx8640"  # named with --machine

[[npartition]]
name = "npar0"  # assumed: named by its number
cells = ["cell0", "cell1"]  # b.txt:7, 8
memory = ["32 GiB", "8 GiB"]  # b.txt:7, 8
clm = ["1280 MiB", "1 GiB"]  # assumed: what the virtual partitions have of it
ilm_granule = "512 MiB"  # a.txt:34
clm_granule = "256 MiB"  # a.txt:44

[[npartition]]
name = "npar1"  # assumed: named by its number
cells = ["cell2"]  # b.txt:9
memory = "32 GiB"  # b.txt:9
clm = "32 GiB"  # b.txt:9: no interleaved memory
vpars = false  # assumed: no virtual partition of it is listed

[[partition]]
name = "oak1"  # a.txt:2
npartition = "npar0"  # by its cells
io = "cell1"  # a.txt:21
# a.txt:9, 10, 11; by path, so that they are those that its monitor chose
processors = { mode = "dedicated", cores = 5, minimum = 1, maximum = 12, """
        """paths = ["1.10", "1.12", "0.10", "0.11", "1.11"], boot = "1.12" }
memory = [
  { size = "1536 MiB", on = "interleaved" },  # a.txt:32
  { size = "512 MiB", on = "interleaved", use = "floating" },  # a.txt:32
  { size = "768 MiB", on = "cell0" },  # a.txt:41
  { size = "512 MiB", on = "cell0", use = "floating" },  # a.txt:41
  { size = "1 GiB", on = "cell1" },  # a.txt:41
]
guest = { os = "hp-ux" }  # assumed: HP-UX 11i v3 with its defaults
# assumed, a placeholder: a busy loop for each core
workload = { kind = "loops", count = 5, endless = true, profile = "compute" }

[[partition]]
name = "oak2"  # a.txt:52
npartition = "npar0"  # by its cells
io = "cell0"  # a.txt:70
# a.txt:59, 60
processors = { mode = "dedicated", cores = 2, minimum = 2, maximum = 4, cells = { cell0 = 2 } }
memory = [{ size = "2 GiB", on = "interleaved" }]  # a.txt:78
guest = { os = "hp-ux" }  # assumed: HP-UX 11i v3 with its defaults
# assumed, a placeholder: a busy loop for each core
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[partition]]
name = "npar1"  # assumed: the name of its nPartition
npartition = "npar1"  # the whole of it
processors = { mode = "dedicated", cores = 8 }  # b.txt:9
memory = [{ size = "32 GiB", on = "cell2" }]  # b.txt:9
guest = { os = "hp-ux" }  # assumed: HP-UX 11i v3 with its defaults
# assumed, a placeholder: a busy loop for each core
workload = { kind = "loops", count = 8, endless = true, profile = "compute" }
"""
    )


def test_what_is_assumed_is_said() -> None:
    machine, one, local, memory, *rest = told(taken(OAK))
    assert machine == (
        "the machine is not named: hp-rx7640, the smallest with 2 cells, is assumed; name another "
        "with --machine"
    )
    assert one == (
        "one nPartition of the cells that the virtual partitions name is assumed; parstatus -C "
        "would tell"
    )
    assert local == NOT_LOCAL
    assert memory == (
        "memory of the cells is not told: what the virtual partitions have, with what firmware and "
        "monitor take, is assumed; parstatus -C would tell"
    )
    assert rest == [
        "a.txt:52: oak2 is down: which cores it gets is decided when it boots",
        PLACEHOLDER,
    ]
    assert told(taken(OAK, FOREST, machine="hp-rx8640")) == [
        NOT_LOCAL,
        "b.txt:8: cell 1: deconfigured processors (1) count as active",
        "npar1 has no virtual partitions here: it is taken as one partition without their monitor",
        "a.txt:52: oak2 is down: which cores it gets is decided when it boots",
        PLACEHOLDER,
    ]


def test_hard_partitions_alone_make_a_scenario() -> None:
    layout = scenario(NO_MONITOR).resolved
    imported = taken(parstatus.render(layout, parstatus.SECTIONS))
    assert imported.scenario.machine.name == "hp-rx7640"
    assert parstatus.render(imported.scenario.resolved) == parstatus.render(layout)
    assert told(imported) == [
        "elm has no virtual partitions here: it is taken as one partition without their monitor",
        "cell-local memory of elm is not told: none is assumed; parstatus -V -c CELL would tell",
        PLACEHOLDER,
    ]


def test_one_file_may_hold_several_listings() -> None:
    session = f"root@oak1# vparstatus -v\n{OAK}oak1# parstatus -C\n{FOREST}\noak1# exit\n"
    whole, parts = (
        taken(session, machine="hp-rx8640"),
        taken(OAK, FOREST, machine="hp-rx8640"),
    )
    assert whole.scenario.spec() == parts.scenario.spec()


def test_paths_with_three_digits_are_the_same_processors() -> None:
    renamed = re.sub(r"\b([01])\.1([012])$", r"\1.12\2", OAK, flags=re.MULTILINE)
    assert renamed != OAK
    ours, theirs = taken(OAK).scenario, taken(renamed).scenario
    assert [one.cores for one in ours.partitions] == [one.cores for one in theirs.partitions]


def test_cells_of_further_cabinets_keep_their_numbers() -> None:
    text = TWO_CELLS.replace("rx7640", "superdome-sx2000").replace("cell1", "cell9")
    layout = scenario(text.replace("cell0", "cell8").replace("0.10", "8.10")).resolved
    cells = parstatus.render(layout)
    assert "cab1,cell1 Active Base  8/0/8   32.0/ 0.0 cab1,bay0,chassis1" in cells
    shown = vparstatus.render(layout, "v")
    again = taken(shown, cells, machine="hp-superdome-sx2000").scenario.resolved
    assert vparstatus.render(again, "v") == shown


def test_units_and_decimal_commas_are_read_and_said() -> None:
    foreign = OAK.replace("ILM Total (MB):  2048\n", "ILM Total (MB):  2,0 GB\n")
    imported = taken(foreign, FOREST.replace("32.0/ 0.0", "32,0/ 0,0"), machine="hp-rx8640")
    plain = taken(OAK, FOREST, machine="hp-rx8640")
    assert imported.scenario.spec() == plain.scenario.spec()
    assert told(imported)[:5] == [
        'a.txt:78: "2,0" has a decimal comma; it is read as 2.0',
        'a.txt:78: "2.0 GB" is read as 2048 MB',
        'b.txt:7: "32,0" has a decimal comma; it is read as 32.0',
        'b.txt:7: "0,0" has a decimal comma; it is read as 0.0',
        'b.txt:9: "32,0" has a decimal comma; it is read as 32.0',
    ]


def test_several_io_cells_and_odd_names_are_said() -> None:
    text = OAK.replace("   1.0.1\n", "   0.0.9\n").replace("oak2", "oak two")
    imported = taken(text)
    assert [one.name for one in imported.scenario.partitions] == ["oak1", "oak-two"]
    said = told(imported)
    assert 'a.txt:52: "oak two" is called oak-two in the scenario' in said
    assert "a.txt:21: oak1 has I/O on cells 0, 1; cell 1 counts" in said


def test_both_listings_of_a_partition_agree_or_are_refused() -> None:
    layout = scenario().resolved
    long, short = vparstatus.render(layout, "v"), vparstatus.render(layout, "M")
    assert len(taken(long, short).scenario.partitions) == 2
    assert refusal(long, short.replace(";8192;1024", ";7168;1024")) == (
        "b.txt:1: jbb is not as at a.txt:2: give listings of one server at one time"
    )


def test_missing_sections_are_named() -> None:
    copy = "copy all that the tool printed"
    assert refusal(OAK[: OAK.rfind("[Memory Details]")]) == (
        f'a.txt:51: oak2 has no "Memory Details"; {copy}'
    )
    assert refusal(OAK[OAK.find("[CPU Details]") : OAK.find("[Virtual", 9)]) == (
        "a.txt:1: [Virtual Partition Details], or a line of vparstatus -M with 9 or 10 fields "
        'expected, found "CPU Details": give the listing whole and unchanged, as the tool prints '
        "it in English (LANG=C)"
    )
    assert refusal((LISTINGS / "vparstatus.txt").read_text()) == (
        "a.txt: the summary of vparstatus does not say where processors and memory are: give the "
        "output of vparstatus -v or vparstatus -M"
    )
    assert refusal(OAK.replace("2048  (Floating", "2,048  (Floating")) == (
        'a.txt:32: "2,048" under ILM Total is no number: give the listing whole and unchanged, as '
        "the tool prints it in English (LANG=C)"
    )
    cut = vparstatus.render(scenario().resolved, "M").partition("\n")[0].rsplit(":", 4)[0]
    assert refusal(cut + "\n") == (
        "a.txt:1: 6 values under 9 headings: give the listing whole and unchanged, as the tool "
        "prints it in English (LANG=C)"
    )


def test_a_damaged_listing_is_not_left_out_of_a_layout(tmp_path: Path) -> None:
    whole, damaged = tmp_path / "a.txt", tmp_path / "b.txt"
    whole.write_text(OAK)
    damaged.write_text(FOREST.replace("32.0/ 0.0 cab0", "32.x/ 0.0 cab0"))
    with pytest.raises(ListingError) as caught:
        import_paths([whole, damaged])
    assert str(caught.value).startswith(f"{damaged}:7: ")
    damaged.write_text("[Détails]\n")
    assert [str(left.why) for left in import_paths([whole, damaged]).facts.left] == [
        'it is of no format that is known; it begins "[Détails]"'
    ]


def test_recordings_are_refused_beside_listings(tmp_path: Path) -> None:
    oak, lab = tmp_path / "oak.txt", tmp_path / "lab.csv"
    oak.write_text(OAK)
    lab.write_text("timestamp,name,cores\n0,a,1\n300,a,0.5\n")
    with pytest.raises(ListingError) as caught:
        import_paths([lab, oak])
    assert str(caught.value) == (
        f"{oak} lists virtual partitions of cells, {lab} does not: "
        "give them apart: they make separate scenarios"
    )


def test_listings_that_contradict_each_other_are_refused() -> None:
    step = "give listings of one server at one time"
    assert refusal(OAK, FOREST.replace(" yes  0\ncab0,cell2", " yes  1\ncab0,cell2")) == (
        "a.txt:2: oak1 may be in hard partition 0, 1: its cells are of several; "
        f"{step}, taken while it is up"
    )
    absent = FOREST.replace(
        "cab0,cell1 Active Base  7/1/8    8.0/ 0.5 cab 0,bay0,chassis1 yes     yes  0\n", ""
    )
    assert refusal(OAK, absent) == (
        f"a.txt:10: oak1 is on cell 1, which parstatus does not list as active: {step}"
    )
    assert refusal(OAK, FOREST.replace("32.0/ 0.0 cab0", " 1.0/ 0.0 cab0")) == (
        f"b.txt:7: cell 0 has 1024 MB: the virtual partitions have 1280 MB of it; {step}"
    )
    assert refusal(OAK, FOREST, FOREST.replace(" 8.0/", "16.0/")) == (
        f"c.txt:8: cell 1 is not as at b.txt:8: {step}"
    )


def test_a_scenario_that_cannot_be_is_refused_with_the_line_of_the_listing() -> None:
    assert refusal(OAK.replace("Min/Max:  2/4", "Min/Max:  3/4")) == (
        "a.txt:59: no scenario can be made of it: partition oak2: processors.minimum = 3: the "
        "partition has 2 cores; the minimum is at most that"
    )
    small = OAK.replace("ILM Total (MB):  2048\n", "ILM Total (MB):  512\n")
    assert refusal(small).startswith("a.txt:78: no scenario can be made of it: partition oak2: ")
    assert refusal(OAK.replace("0.11", "0.19")) == (
        "a.txt:10: oak1 has a processor that is not there: cell 0 has cores 0.10 to 0.17; name "
        "another machine with --machine"
    )


def test_only_machines_of_cells_are_taken() -> None:
    names = "hp-rx7640, hp-rx8640, hp-superdome-sx1000, hp-superdome-sx2000"
    assert refusal(OAK, machine="ibm-power-795") == (
        "IBM Power 795 (9119-FHB) is not made of cells: --machine ibm-power-795; "
        f"name one of {names}"
    )


def test_files_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "oak.txt"
    path.write_bytes(OAK.encode("utf-16"))
    assert import_paths([path]).scenario.partitions[0].name == "oak1"
    path.write_bytes(OAK.replace("-lq", "é").encode("latin-1"))
    assert told(import_paths([path]))[0] == (
        f"{path}: the text is not UTF-8; it is read as Latin-1"
    )


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    imported, path = taken(OAK), tmp_path / "oak.toml"
    imported.save_file(path)
    assert Scenario.load(path).text == imported.text
    with pytest.raises(StoreError) as caught:
        imported.save_file(path)
    assert str(caught.value) == f"{path} is there already: name another file with -o"
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        imported.save_file(tmp_path / "missing" / "oak.toml")
    assert [entry.name for entry in tmp_path.iterdir()] == ["oak.toml"]


def test_the_summary_says_what_was_made_of_what() -> None:
    imported = taken(OAK, FOREST, machine="hp-rx8640")
    summary = imported.summary()
    assert [(one.file, one.format, one.what) for one in imported.facts.took] == [
        ("a.txt", "vparstatus -v", "2 virtual partitions"),
        ("b.txt", "parstatus", "4 cells"),
    ]
    assert [one["name"] for one in summary["partitions"]] == ["oak1", "oak2", "npar1"]
    assert summary["npartitions"][1]["local_bytes"] == 32 << 30
    assert summary["warnings"][1] == {
        "file": "b.txt",
        "line": 8,
        "text": "cell 1: deconfigured processors (1) count as active",
    }


SPLINTERS = ["", "9", "0", ":", ";", "(Floating 3)", "é", "<>", "[Cell]", "9999999", "-", "0.10"]


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), form=st.sampled_from(["v", "M"]), count=st.integers(0, 3))
def test_whatever_the_text_a_scenario_or_one_message(
    seed: int, form: vparstatus.Form, count: int
) -> None:
    chance = random.Random(seed)
    layout = scenario().resolved
    texts = [vparstatus.render(layout, form), parstatus.render(layout)]
    for _ in range(count):
        which = chance.randrange(2)
        at, text = chance.randrange(len(texts[which])), texts[which]
        texts[which] = text[:at] + chance.choice(SPLINTERS) + text[at + chance.randrange(9) :]
    imported = message = None
    try:
        imported = taken(*texts)
    except HomenodeError as error:
        message = str(error)
    assert message or (imported and imported.scenario.partitions)
