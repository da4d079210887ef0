"""A scenario of what `vparstatus` and `parstatus` list: its machine of cells, their nPartitions,
the virtual partitions in them.

A value that no listing tells is assumed and said to be; what contradicts itself is refused. Cores
are left to the scenario's own rule where that gives each partition those it has; where it does not,
they are named one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription, machine, machines
from homenode.model.catalog.platform import Platform
from homenode.model.scenario import Scenario
from homenode.model.scenario.cellular.paths import core_at, cores_of_cell
from homenode.model.scenario.places import PlaceError
from homenode.records.importing.assemble.assembled import (
    Assembled,
    lasting_folder,
    loaded,
    write_files,
)
from homenode.records.importing.assemble.hardware import (
    MACHINE_FILE,
    ChosenMachine,
    Need,
    named,
)
from homenode.records.importing.assemble.npartitions import (
    ONE_TIME,
    Group,
    GroupMemory,
    Sizes,
    cells_of,
    divide,
    memory_of,
)
from homenode.records.importing.assemble.options import AssembleOptions
from homenode.records.importing.assemble.plan import Line, Part, Planned, Value, names_of
from homenode.records.importing.assemble.write import scenario_text, size
from homenode.records.importing.facts import (
    CellFacts,
    Facts,
    PartitionFacts,
    VirtualPartitionFacts,
)
from homenode.records.importing.opening.sources import ListingError, Notice

PLACEHOLDER_PROFILE = "compute"
_FILE = "imported.toml"
"""Names a scenario that is given no name."""
_GUEST = Value("hp-ux", "assumed: HP-UX 11i v3 with its defaults")
_TOOLS = ("vparstatus", "parstatus")


def assemble_cells(facts: Facts, options: AssembleOptions) -> Assembled:
    """One scenario of all listings; raises as `assemble` does."""
    if facts.unsound:
        raise facts.unsound[0]
    _refuse_others(facts)
    partitions, cells = _partitions(facts), _cells(facts)
    notices: list[Notice] = []
    chosen, platform = _choose(facts, options.machine, partitions, cells, notices)
    groups = divide(partitions, cells, facts, notices)
    memories = [memory_of(group, facts, platform, notices) for group in groups]
    listed_names = [(one.name.value, one.name.where) for one in partitions]
    names = dict(zip(dict(listed_names), names_of(listed_names, notices), strict=True))
    _remark(partitions, notices)
    files = {} if chosen.text is None else {MACHINE_FILE: chosen.text.encode()}
    folder, sources = lasting_folder(), list(dict.fromkeys(one.file for one in facts.took))

    def made(pinned: Collection[str]) -> tuple[str, Scenario]:
        planned: list[Planned] = []
        tables = []
        for group, memory in zip(groups, memories, strict=True):
            tables.append(_npartition(group, memory))
            planned += [
                _planned(one, group, names, one.name.value in pinned) for one in group.members
            ]
            if not group.members:
                planned.append(_alone(group, memory, chosen.description))
        text = scenario_text(
            options.name, chosen, planned, None, 0, options.profile, (), sources, tables
        )
        write_files(folder, text, files)
        return text, loaded(text, folder, sources, _FILE)

    text, scenario = made(())
    pinned = [
        one.name.value for one in partitions if _elsewhere(one, names[one.name.value], scenario)
    ]
    if pinned:
        text, scenario = made(pinned)
    plain = "a listing says nothing of the work"
    what = f"every core runs an endless loop of the profile {PLACEHOLDER_PROFILE}"
    notices.append(Notice(f"{plain}: {what}; write your own workloads"))
    return Assembled(text, files, scenario, tuple(notices), facts, {}, 0, 0)


def _refuse_others(facts: Facts) -> None:
    """Refuse recordings beside listings: they tell of partitions that share cores."""
    listings = [one for one in facts.took if one.format.split()[0] in _TOOLS]
    others = [one for one in facts.took if one not in listings]
    if others:
        raise ListingError(
            f"{listings[0].file} lists virtual partitions of cells, {others[0].file} does not",
            next_step="give them apart: they make separate scenarios",
        )


def _partitions(facts: Facts) -> list[VirtualPartitionFacts]:
    """Each virtual partition once."""
    found: dict[str, VirtualPartitionFacts] = {}
    for one in facts.virtual_partitions:
        earlier = found.setdefault(one.name.value, one)
        if earlier.values() != one.values():
            text = f"{one.name.value} is not as at {earlier.name.where}"
            raise ListingError(text, where=one.name.where, next_step=ONE_TIME)
    return list(found.values())


def _cells(facts: Facts) -> list[CellFacts]:
    """Each cell once."""
    found: dict[int, CellFacts] = {}
    for one in facts.cells:
        earlier = found.setdefault(one.number, one)
        if earlier != one:
            text = f"cell {one.number} is not as at {earlier.where}"
            raise ListingError(text, where=one.where, next_step=ONE_TIME)
    return list(found.values())


def _choose(
    facts: Facts,
    asked: str | None,
    partitions: Sequence[VirtualPartitionFacts],
    cells: Sequence[CellFacts],
    notices: list[Notice],
) -> tuple[ChosenMachine, Platform]:
    """The machine asked for, else the one that a listing names, else the smallest with such cells;
    and its rules.
    """
    cellular = [one for one in map(machine, machines()) if one.platform is not None]
    if asked is not None:
        chosen = named(asked, Need(cores=1, memory_bytes=0, shares=False))
    else:
        found, reason = _told(facts, cellular) or _smallest(partitions, cells, cellular, notices)
        reference = ("model", found.name)
        chosen = ChosenMachine(found, reference, reason, found.active_cores, "all of them")
    platform = chosen.description.platform
    if platform is None:
        names = [one.name for one in cellular]
        raise ListingError(
            f"{chosen.description.title} is not made of cells",
            asked=f"--machine {asked}",
            next_step=suggestion(asked or "", names, f"name one of {', '.join(names)}"),
        )
    return chosen, platform


def _told(
    facts: Facts, cellular: Sequence[MachineDescription]
) -> tuple[MachineDescription, str] | None:
    """The machine whose name a listing says, with its reason."""
    product = facts.system("").model
    if product is None:
        return None
    words = product.value.lower().replace("-", " ").split()
    for one in cellular:
        parts = one.name.lower().split("-")[1:]
        if all(any(part in word for word in words) for part in parts):
            return one, f"{product.where}: {product.value}"
    return None


def _smallest(
    partitions: Sequence[VirtualPartitionFacts],
    cells: Sequence[CellFacts],
    cellular: Sequence[MachineDescription],
    notices: list[Notice],
) -> tuple[MachineDescription, str]:
    needed = max(cells_of(partitions) | {cell.number for cell in cells}, default=0) + 1
    fitting = [one for one in cellular if one.nodes >= needed]
    if not fitting:
        text = f"no machine of the catalogue has {needed} cells"
        raise ListingError(text, next_step="name one: --machine")
    # Of equally large ones the newest, which comes last by its name.
    smallest = min(reversed(fitting), key=lambda one: one.nodes)
    text = f"{smallest.name}, the smallest with {needed} cells"
    notices.append(
        Notice(f"the machine is not named: {text}, is assumed; name another with --machine")
    )
    return smallest, f"assumed: {text}"


def _remark(partitions: Sequence[VirtualPartitionFacts], notices: list[Notice]) -> None:
    """What of a partition is not as it was, or not known."""
    for one in partitions:
        if one.is_down:
            text = f"{one.name.value} is down: which cores it gets is decided when it boots"
            notices.append(Notice(text, one.name.where))
        if one.io is not None and len(one.io.value) > 1:
            cells = listed(str(cell) for cell in sorted(one.io.value))
            text = (
                f"{one.name.value} has I/O on cells {cells}; cell {_io_cell(one.io.value)} counts"
            )
            notices.append(Notice(text, one.io.where))


def _io_cell(io: Mapping[int, bool]) -> int:
    """The cell it boots from, else the first with I/O of it."""
    return next((cell for cell, boots in io.items() if boots), next(iter(io)))


def _npartition(group: Group, memory: GroupMemory) -> list[Line]:
    """Its table of the scenario."""
    cells = Value([f"cell{cell}" for cell in group.cells.value], group.cells.origin)
    table: list[Line] = [("name", group.name), ("cells", cells)]
    table += [("memory", _sizes(memory.memory)), ("clm", _sizes(memory.local))]
    if not group.members:
        none = Value(False, "assumed: no virtual partition of it is listed")
        return [*table, ("vpars", none)]
    ilm, clm = memory.ilm_granule, memory.clm_granule
    table.append(("ilm_granule", Value(size(ilm.value), ilm.origin)))
    table.append(("clm_granule", Value(size(clm.value), clm.origin)))
    return table


def _sizes(value: Value[Sizes]) -> Value[object]:
    texts = [size(one) for one in value.value]
    return Value(texts[0] if len(set(texts)) == 1 else texts, value.origin)


def _planned(
    one: VirtualPartitionFacts, group: Group, names: Mapping[str, str], pinned: bool
) -> Planned:
    found = _of(names[one.name.value], one.cores, str(one.name.where))
    found.more = (("npartition", Value(group.name.value, "by its cells")),)
    if one.io is not None:
        io = Value(f"cell{_io_cell(one.io.value)}", str(one.io.where))
        found.more = (*found.more, ("io", io))
    found.processors = _processors(one, pinned)
    parts = []
    for told in one.memory:
        bound = told.value
        place = "interleaved" if bound.cell is None else f"cell{bound.cell}"
        parts += [Part(bound.base, place, str(told.where))] if bound.base else []
        parts += [Part(bound.floating, place, str(told.where), True)] if bound.floating else []
    found.parts = tuple(parts)
    return found


def _alone(group: Group, memory: GroupMemory, machine: MachineDescription) -> Planned:
    """All of an nPartition as one partition."""
    cores = sum(len(cores_of_cell(cell, machine)) for cell in group.cells.value)
    found = _of(group.name.value, cores, "assumed: the name of its nPartition")
    found.more = (("npartition", Value(group.name.value, "the whole of it")),)
    chassis = [row for row in group.rows if row.has_chassis]
    if len(chassis) == 1:
        why = f"{chassis[0].where}: the only cell with a chassis"
        found.more = (*found.more, ("io", Value(f"cell{chassis[0].number}", why)))
    origin = group.cells.origin
    found.processors = {"mode": Value("dedicated", origin), "cores": Value(cores, origin)}
    sizes, local = memory.memory.value, memory.local.value
    kinds = [(sum(sizes) - sum(local), "interleaved")]
    kinds += [(own, f"cell{cell}") for cell, own in zip(group.cells.value, local, strict=True)]
    found.parts = tuple(Part(own, place, memory.memory.origin) for own, place in kinds if own)
    return found


def _of(name: str, cores: int, origin: str) -> Planned:
    """A partition with cores of its own and work that stands for whatever it ran."""
    work = {"kind": "loops", "count": cores, "endless": True, "profile": PLACEHOLDER_PROFILE}
    return Planned(
        name,
        PartitionFacts(name),
        shared=False,
        virtual=cores,
        recorded=None,
        name_origin=origin,
        guest=_GUEST,
        workload=Value(work, "assumed, a placeholder: a busy loop for each core"),
    )


def _processors(one: VirtualPartitionFacts, pinned: bool) -> dict[str, Value[object]]:
    limits, paths = str(one.limits.where), str(one.paths.where)
    found: dict[str, Value[object]] = {
        "mode": Value("dedicated", limits),
        "cores": Value(one.cores, paths),
        "minimum": Value(one.limits.value[0], limits),
        "maximum": Value(one.limits.value[1], limits),
    }
    if pinned:
        why = "by path, so that they are those that its monitor chose"
        found["paths"] = Value(list(one.paths.value), why)
    else:
        if one.by_cell:
            cells = {f"cell{cell}": count for cell, count in sorted(one.by_cell.items())}
            found["cells"] = Value(cells, paths)
        if one.by_path:
            found["paths"] = Value(list(one.by_path), paths)
    if one.boot is not None:
        found["boot"] = Value(one.boot.value, str(one.boot.where))
    return found


def _elsewhere(one: VirtualPartitionFacts, name: str, scenario: Scenario) -> bool:
    """Whether the scenario gives a partition other cores than those it really has."""
    if len(one.paths.value) != one.cores:
        return False
    try:
        cores = sorted(core_at(path, scenario.machine) for path in one.paths.value)
    except PlaceError as error:
        raise ListingError(
            f"{one.name.value} has a processor that is not there",
            there=error.there,
            where=one.paths.where,
            next_step="name another machine with --machine",
        ) from None
    return tuple(cores) != scenario.partition(name).cores
