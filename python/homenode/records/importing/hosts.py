"""Hosts as listings describe them, without making a scenario of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.records.importing.facts import Facts
from homenode.records.importing.formats.topology import DumpFormat, HostFormat, Loaded
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.gather import Gathered
from homenode.records.importing.opening.sources import ListingError
from homenode.records.importing.recognise import recognise, recognise_tree


@dataclass(frozen=True)
class Host:
    """A host and where it is from."""

    file: str
    form: str
    loaded: Loaded


def hosts(paths: Sequence[Path]) -> list[Host]:
    """All hosts in files, folders and archives, dumps first; `ListingError` if there is none."""
    found: list[Host] = []
    why: list[str] = []
    with Gathered(Limits()) as gathered:
        gathered.add_all(list(paths))
        for tree in gathered.trees:
            dumps = [one for one in recognise_tree(tree) if isinstance(one, DumpFormat)]
            found.extend(Host(tree.file, dump.name, dump.load(tree)) for dump in dumps)
        for source in gathered.inputs:
            try:
                form = recognise(source)
                if not isinstance(form, HostFormat):
                    why.append(f"{source.file} is {form.name}")
                    continue
                found.append(Host(source.file, form.name, form.load(source, Facts())))
            except ListingError as error:
                why.append(str(error))
        why.extend(f"{left.file}: {left.why}" for left in gathered.left)
    if not found:
        raise ListingError(
            "no topology of a host is there",
            there="; ".join(why[:3]) or "the folder holds no file of one",
            next_step="give hwloc XML, a dump of /sys and /proc, or what lscpu or"
            " virsh capabilities printed",
        )
    return found
