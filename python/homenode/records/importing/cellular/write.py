"""The scenario as text: every value with the line it was read from, or what was assumed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.scenario.cellular.paths import cores_of_cell
from homenode.records.importing.cellular.findings import VirtualPartition
from homenode.records.importing.cellular.hardware import Chosen, Npartition, Sizes, Value
from homenode.records.importing.opening.lines import line, plain, value_text

PLACEHOLDER_PROFILE = "compute"
_MB_PER_GB = 1024
_ASSUMED_GUEST = "assumed: HP-UX 11i v3 with its defaults"


def scenario_text(
    chosen: Chosen,
    npartitions: Sequence[Npartition],
    names: Mapping[str, str],
    pinned: Collection[str] = (),
    files: Sequence[str] = (),
) -> str:
    """A scenario file. `names` are those of the partitions in the scenario, by the listed ones; the
    cores of `pinned` partitions are named one by one.
    """
    lines = [
        f"# Imported from {', '.join(plain(file) for file in files)}. Behind each value stands",
        "# the line it was read from, or what was assumed.",
        "",
        "[machine]",
        line("model", chosen.machine.name, chosen.reason),
    ]
    for npartition in npartitions:
        lines += ["", *_npartition(npartition)]
    for npartition in npartitions:
        for member in npartition.members:
            lines += ["", *_virtual(member, npartition, names, member.name in pinned)]
        if not npartition.vpars:
            lines += ["", *_alone(npartition, chosen.machine)]
    return "\n".join(lines) + "\n"


def _npartition(of: Npartition) -> Iterator[str]:
    yield "[[npartition]]"
    yield line("name", of.name.value, of.name.origin)
    yield line("cells", [f"cell{cell}" for cell in of.cells], of.cells_origin)
    yield line("memory", _sizes(of.memory), of.memory.origin)
    yield line("clm", _sizes(of.local), of.local.origin)
    if not of.vpars:
        yield line("vpars", False, "assumed: no virtual partition of it is listed")
        return
    yield line("ilm_granule", _size(of.ilm_granule.value), of.ilm_granule.origin)
    yield line("clm_granule", _size(of.clm_granule.value), of.clm_granule.origin)


def _virtual(
    member: VirtualPartition, npartition: Npartition, names: Mapping[str, str], pinned: bool
) -> Iterator[str]:
    yield "[[partition]]"
    yield line("name", names[member.name], str(member.where("name")))
    yield line("npartition", npartition.name.value, "by its cells")
    yield line("processors", _processors(member, pinned), _processor_lines(member, pinned))
    if member.io:
        yield line("io", f"cell{io_cell(member)}", str(member.where("io")))
    parts = list(_memory(member))
    if len(parts) == 1:
        yield line("memory", [parts[0][0]], parts[0][1])
    else:
        yield "memory = ["
        for part, origin in parts:
            yield f"  {value_text(part)},  # {plain(origin)}"
        yield "]"
    yield from _work(member.cores)


def _alone(npartition: Npartition, machine: MachineDescription) -> Iterator[str]:
    """All of an nPartition as one partition."""
    cores = sum(len(cores_of_cell(cell, machine)) for cell in npartition.cells)
    memory, local = npartition.memory.value, npartition.local.value
    parts = [{"size": _size(sum(memory) - sum(local)), "on": "interleaved"}]
    own = zip(npartition.cells, local, strict=True)
    parts += [{"size": _size(size), "on": f"cell{cell}"} for cell, size in own if size]
    yield "[[partition]]"
    yield line("name", npartition.name.value, "assumed: the name of its nPartition")
    yield line("npartition", npartition.name.value, "the whole of it")
    processors = {"mode": "dedicated", "cores": cores}
    yield line("processors", processors, npartition.cells_origin)
    if len(npartition.chassis) == 1:
        cell = npartition.chassis[0]
        yield line("io", f"cell{cell.number}", f"{cell.where}: the only cell with a chassis")
    kept = [part for part in parts if part["size"] != _size(0)]
    yield line("memory", kept, npartition.memory.origin)
    yield from _work(cores)


def _work(cores: int) -> Iterator[str]:
    yield line("guest", {"os": "hp-ux"}, _ASSUMED_GUEST)
    workload = {
        "kind": "loops",
        "count": cores,
        "endless": True,
        "profile": PLACEHOLDER_PROFILE,
    }
    yield line("workload", workload, "assumed, a placeholder: a busy loop for each core")


def io_cell(member: VirtualPartition) -> int:
    """The cell it boots from, else the first with I/O of it."""
    return next((cell for cell, boots in member.io.items() if boots), next(iter(member.io)))


def _processors(member: VirtualPartition, pinned: bool) -> dict[str, object]:
    found: dict[str, object] = {"mode": "dedicated", "cores": member.cores}
    found["minimum"], found["maximum"] = member.minimum, member.maximum
    if pinned:
        found["paths"] = list(member.paths)
    else:
        if member.by_cell:
            cells = sorted(member.by_cell.items())
            found["cells"] = {f"cell{cell}": count for cell, count in cells}
        if member.by_path:
            found["paths"] = list(member.by_path)
    if member.boot is not None:
        found["boot"] = member.boot
    return found


def _processor_lines(member: VirtualPartition, pinned: bool) -> str:
    facts = ("processors.limits", "processors.boot", "processors.paths")
    origin = _span([str(member.where(fact)) for fact in facts if member.where(fact)])
    if pinned:
        return f"{origin}; by path, so that they are those that its monitor chose"
    return origin


def _span(places: Sequence[str]) -> str:
    """`file:3-5` of places in one file."""
    split = [place.rpartition(":") for place in dict.fromkeys(places)]
    files = {file for file, _, _ in split}
    if len(files) != 1 or len(split) == 1:
        return "; ".join(dict.fromkeys(places))
    lines = sorted(int(number) for _, _, number in split)
    return f"{files.pop()}:{lines[0]}-{lines[-1]}"


def _memory(member: VirtualPartition) -> Iterator[tuple[dict[str, object], str]]:
    """Parts with their lines: interleaved first, base before floating."""
    for size in member.memory:
        place = "interleaved" if size.cell is None else f"cell{size.cell}"
        fact = "memory.interleaved" if size.cell is None else "memory.local"
        origin = str(member.where(fact))
        if size.base:
            yield {"size": _size(size.base), "on": place}, origin
        if size.floating:
            yield {"size": _size(size.floating), "on": place, "use": "floating"}, origin


def _size(megabytes: int) -> str:
    whole, rest = divmod(megabytes, _MB_PER_GB)
    return f"{megabytes} MiB" if rest else f"{whole} GiB"


def _sizes(value: Value[Sizes]) -> list[str] | str:
    texts = [_size(size) for size in value.value]
    return texts[0] if len(set(texts)) == 1 else texts
