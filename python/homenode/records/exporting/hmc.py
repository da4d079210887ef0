"""The layout of a Power server as commands of its management console: pools, partition profiles,
what running partitions take at once, and the optimizer that moves memory and homes together.

Where a partition is at home cannot be commanded: the hypervisor places it by entitlement and memory
when it is activated, the largest first, and `optmem` mends it afterwards. What is set inside a
partition (SMT, folding) stands in comments, with the partition it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from shlex import quote
from typing import TYPE_CHECKING

from homenode.model.spec import shared_of
from homenode.records.exporting.commands import Commands
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter
from homenode.tools import Limits, SystemConfiguration, from_spec

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_MB_PER_GB = 1024
_LIMITS = {"minimum": "min", "desired": "desired", "maximum": "max"}
"""Field of `Limits` to the word before the HMC's attributes."""


def commands(run: Run, options: ExportOptions) -> Iterator[str]:
    """The lines; `ExportError` on another machine."""
    if run.spec["machine"]["hypervisor"]["policy"] != "phyp":
        raise ExportError(
            f"run {run.id} is of {run.spec['machine']['name']}, which no HMC partitions this way",
            next_step="vpars and zvm are the forms for machines of cells and for IBM Z",
        )
    chosen = options.partitions(run)
    details = options.view(run).details
    configurations = [from_spec(run.spec, name, details.get(name)) for name in chosen]
    yield f"# The layout of {run.name} as commands of the HMC. homenode runs none of them."
    yield "# Name the managed system (lssyscfg -r sys -F name) and the profile first."
    yield "SYSTEM="
    yield "PROFILE="
    yield from _pools(run, configurations)
    yield from _profiles(run, configurations)
    yield from _at_once(run, configurations)
    yield from _inside(run, configurations)
    yield from _affinity(run, configurations)


def _pools(run: Run, configurations: list[SystemConfiguration]) -> Iterator[str]:
    """Shared processor pools; the default one has no limits to set."""
    used = {_pool_index(run, c.name): c.pool for c in configurations if c.is_shared}
    numbers = {index: number for index, number in sorted(used.items()) if index}
    if not numbers:
        return
    yield ""
    yield "# Shared processor pools"
    for index, number in numbers.items():
        pool = run.spec["pools"][index]
        words = [f"new_name={pool['name']}", f"reserved_pool_proc_units={pool['reserved']:.2f}"]
        if pool["maximum"] is not None:
            words.insert(1, f"max_pool_proc_units={pool['maximum']:.2f}")
        yield (
            f'chhwres -r procpool -m "$SYSTEM" -o s --poolid {number} -a {_quoted(",".join(words))}'
        )


def _pool_index(run: Run, partition: str) -> int:
    shared = shared_of(run.partition_spec(partition))
    return 0 if shared is None else int(shared["pool"])


def _pool_name(run: Run, partition: str) -> str:
    return str(run.spec["pools"][_pool_index(run, partition)]["name"])


def _profiles(run: Run, configurations: list[SystemConfiguration]) -> Iterator[str]:
    yield ""
    yield "# Profiles: what a partition gets when it is activated"
    for c in configurations:
        told = _profile(run, c, "name=\0", f"lpar_name={c.name}")
        yield f'chsyscfg -r prof -m "$SYSTEM" -i {told}'


def _profile(run: Run, c: SystemConfiguration, *names: str, is_new: bool = False) -> str:
    """What a profile holds, behind whose it is; a zero byte stands for its name."""
    words = [*names, *_processors(run, c, is_new), *_amounts("mem", c.memory_limits, ".0f", is_new)]
    return _quoted(",".join(words)).replace("\0", "$PROFILE")


def created(run: Run, names: Collection[str]) -> Iterator[str]:
    """Partitions of a run that are not there yet, with a first profile each, and started."""
    options = ExportOptions()
    details = options.view(run).details
    configurations = [from_spec(run.spec, name, details.get(name)) for name in names]
    for c in configurations:
        own = (f"name={c.name}", "profile_name=\0", "lpar_env=aixlinux")
        told = _profile(run, c, *own, is_new=True)
        yield f'mksyscfg -r lpar -m "$SYSTEM" -i {told}'
    yield "# Then disks and networks; SMT and folding are set inside (see the whole export)"
    yield from _affinity(run, configurations)


def removed(names: Collection[str]) -> Iterator[str]:
    """Partitions that are no longer wanted, with their profiles."""
    for name in names:
        yield f'chsysstate -m "$SYSTEM" -r lpar -o osshutdown -n {quote(name)}'
    for name in names:
        yield f'rmsyscfg -r lpar -m "$SYSTEM" -n {quote(name)}'


def _processors(run: Run, c: SystemConfiguration, is_new: bool) -> Iterator[str]:
    yield f"proc_mode={'shared' if c.is_shared else 'ded'}"
    yield f"sharing_mode={_sharing(c)}"
    if c.is_shared:
        if c.mode == "Uncapped":
            yield f"uncap_weight={c.weight}"
        yield f"shared_proc_pool_name={_pool_name(run, c.name)}"
        yield from _amounts("proc_units", c.capacity_limits, ".2f", is_new)
    yield from _amounts("procs", c.processor_limits, ".0f", is_new)


def _amounts(what: str, limits: Limits, form: str, is_new: bool) -> Iterator[str]:
    """The wanted amount between the least and the most. Where these are no others they are not
    told, and a profile that is there keeps its own: who may change how much later is left as it is.
    """
    told = is_new or not limits.minimum == limits.desired == limits.maximum
    for name, word in _LIMITS.items():
        if told or name == "desired":
            yield f"{word}_{what}={getattr(limits, name):{form}}"


def _sharing(c: SystemConfiguration) -> str:
    """Whether a partition may use more than it is entitled to, or lend what it does not use."""
    if c.is_shared:
        return "uncap" if c.mode == "Uncapped" else "cap"
    return "share_idle_procs_active" if c.is_donating else "keep_idle_procs"


def _at_once(run: Run, configurations: list[SystemConfiguration]) -> Iterator[str]:
    """What can be set of running partitions."""
    yield ""
    yield "# Running partitions: sharing, weight and pool at once, the rest with the profile"
    for c in configurations:
        words = [f"sharing_mode={_sharing(c)}"]
        if c.is_shared and c.mode == "Uncapped":
            words.append(f"uncap_weight={c.weight}")
        if c.is_shared:
            words.append(f"shared_proc_pool_name={_pool_name(run, c.name)}")
        yield (
            f'chhwres -r proc -m "$SYSTEM" -o s -p {quote(c.name)} -a {_quoted(",".join(words))}'
        )


def _inside(run: Run, configurations: list[SystemConfiguration]) -> Iterator[str]:
    """What is set in the partitions themselves."""
    yield ""
    yield "# In the partitions"
    for c in configurations:
        spec = run.partition_spec(c.name)
        guest = spec["guest"]
        if guest["os"] != "aix":
            yield f"# {c.name}: ppc64_cpu --smt={c.smt}"
            continue
        yield f"# {c.name}: smtctl -t {c.smt} -w now"
        settings = [
            f"-o vpm_throughput_mode={guest['throughput_mode']}",
            f"-o vpm_xvcpus={guest['xvcpus']}",
            f"-o vpm_fold_threshold={guest['fold_threshold_pct']:.0f}",
        ]
        processors = spec["processors"]
        if processors["mode"] == "dedicated" and c.is_donating:
            threshold = processors["donate_threshold_pct"]
            settings.append(f"-o ded_cpu_donate_thresh={threshold:.0f}")
        yield f"# {c.name}: schedo -p {' '.join(settings)}"


def _affinity(run: Run, configurations: list[SystemConfiguration]) -> Iterator[str]:
    """Activation in the order in which the hypervisor should find room, then the optimizer."""
    yield ""
    yield "# Placement follows entitlement and memory: activate the largest first. Homes here:"
    ordered = sorted(configurations, key=lambda c: (-c.ent, -c.mem_mb, c.number))
    for c in ordered:
        yield f"# {c.name}: {c.ent:g} cores, {c.mem_mb / _MB_PER_GB:g} GB, {_home(run, c.name)}"
    for c in ordered:
        yield f'chsysstate -m "$SYSTEM" -r lpar -o on -n {quote(c.name)} -f "$PROFILE"'
    yield 'lsmemopt -m "$SYSTEM" -r lpar -o currscore'
    yield 'lsmemopt -m "$SYSTEM" -r sys -o calcscore'
    names = quote(",".join(c.name for c in configurations))
    yield f'optmem -m "$SYSTEM" -o start -t affinity -p {names}'
    yield 'lsmemopt -m "$SYSTEM"'


def _home(run: Run, partition: str) -> str:
    chips = sorted(set(run.partition_spec(partition)["home"]))
    per_node = int(run.spec["machine"]["chips_per_node"])
    named = ", ".join(
        f"{run.node_name} {chip // per_node} chip {chip % per_node}" for chip in chips
    )
    return f"home {named}" if named else "no home"


def _quoted(text: str) -> str:
    """In double quotes, as a shell takes it."""
    return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'


EXPORTER: Exporter = Commands(
    name="hmc",
    title="HMC commands for a layout of Power partitions: chsyscfg, chhwres, optmem",
    make=commands,
)
