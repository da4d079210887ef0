"""libvirt's XML of domains, as `virsh dumpxml` prints it.

`shares` become the weight, `quota` the cap: so many processors' time of the host, as many of them
to a core as the guest is shown threads of one. Where the host is a Linux one, quota and pins stand
in the scenario as they are; on other machines they are told in words, as bound memory is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, Told, Took
from homenode.records.importing.formats.topology import MOST_BYTES, PROLOGUE, load_json
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.words import unread

_DOMAIN = re.compile(PROLOGUE + r"<(?:domain|domains|domstatus)[\s>]", re.DOTALL)
DEFAULT_PERIOD_US = 100_000
"""libvirt's period where only a quota is given (formatdomain, CPU Tuning)."""
_KINDS = ("kvm", "qemu", "xen")
_SYSTEMS = {"win": "windows", "microsoft": "windows"}


@dataclass
class DomainFormat:
    """One or several domains."""

    name: str = "libvirt domain"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return bool(_DOMAIN.match(head_text(head)))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        text = text_of(source, MOST_BYTES, facts)
        try:
            answer = _engine.read_domains(text)
        except _engine.CaptureError as fault:
            raise unread(fault, source.at) from fault
        domains, dropped, notices = load_json(answer, source.at)
        facts.notices.extend(notices)
        for domain in domains:
            _tell(domain, source.at(domain["line"]), facts)
        names = ", ".join(domain["name"] for domain in domains[:5])
        more = f" and {len(domains) - 5} more" if len(domains) > 5 else ""
        facts.took.append(Took(source.file, self.name, f"domains {names}{more}", dropped))


def _tell(domain: Mapping[str, Any], where: Where, facts: Facts) -> None:
    partition = facts.partition(None, domain["name"])
    threads = _threads(domain)
    counts = {
        "virtual": -(-domain["vcpus"] // threads) if domain["vcpus"] else None,
        "logical": domain["vcpus"],
        "memory_bytes": domain["memory_bytes"],
        "weight": domain["shares"],
        "smt": threads,
    }
    for attribute, value in counts.items():
        if value:
            facts.tell(partition, attribute, Told(value, where))
    facts.tell(partition, "os", Told(_system(domain["os"]), where))
    if domain["kind"] in _KINDS and str(domain["architecture"] or "x86_64").startswith("x86"):
        facts.tell(partition, "hypervisor", Told(domain["kind"], where))
    _tell_maximum(domain, partition, where)
    _tell_cap(domain, partition, where, facts)
    _tell_pins(domain, partition, where, facts)
    _tell_memory(domain, partition, where, facts)


def _threads(domain: Mapping[str, Any]) -> int:
    """Threads of a core as the guest is shown them; its processors are threads of the host."""
    shape = domain["shape"]
    return 1 if shape is None else int(shape["threads"])


def _system(identifier: str | None) -> str:
    """Of libosinfo's name; Linux where nothing is said."""
    if identifier is None:
        return "linux"
    found = (name for mark, name in _SYSTEMS.items() if f"/{mark}" in identifier)
    return next(found, "linux")


def _tell_maximum(domain: Mapping[str, Any], partition: PartitionFacts, where: Where) -> None:
    vcpus = domain["vcpus_maximum"]
    virtual = -(-vcpus // _threads(domain)) if vcpus else None
    most = {"virtual": virtual, "memory_bytes": domain["memory_maximum_bytes"]}
    for attribute, value in most.items():
        if value:
            partition.maximum.setdefault(attribute, Told(float(value), where))


def _tell_cap(
    domain: Mapping[str, Any], partition: PartitionFacts, where: Where, facts: Facts
) -> None:
    """The quota of each processor, or of all together; the smaller counts."""
    caps, quotas = [], []
    if domain["quota_us"] and domain["vcpus"]:
        period = domain["period_us"] or DEFAULT_PERIOD_US
        caps.append(domain["vcpus"] * min(1.0, domain["quota_us"] / period))
        quotas.append((domain["vcpus"] * min(domain["quota_us"], period), period))
    if domain["global_quota_us"]:
        period = domain["global_period_us"] or DEFAULT_PERIOD_US
        caps.append(domain["global_quota_us"] / period)
        quotas.append((domain["global_quota_us"], period))
    facts.tell(partition, "capped", Told(bool(caps), where))
    if caps:
        partition.quota = Told(min(quotas, key=lambda pair: pair[0] / pair[1]), where)
        threads = _threads(domain)
        cap = min(caps) / threads
        partition.maximum.setdefault("entitlement", Told(cap, where))
        text = (
            f"{partition.name} may use the time of {min(caps):g} processors of the host, {threads}"
            f" to a core: {cap:g} cores"
        )
        facts.notices.append(Notice(text, where))


def _tell_pins(
    domain: Mapping[str, Any], partition: PartitionFacts, where: Where, facts: Facts
) -> None:
    """Dedicated, if each processor has one of the host that no other of the domain has."""
    pins = [pin["cpus"] for pin in domain["pins"]]
    alone = len(set(pins)) == len(pins) == domain["vcpus"] and all(one.isdecimal() for one in pins)
    facts.tell(partition, "mode", Told("dedicated" if alone and pins else "shared", where))
    partition.pins |= {pin["vcpu"]: Told(pin["cpus"], where) for pin in domain["pins"]}
    partition.io_pins |= {pin["thread"]: Told(pin["cpus"], where) for pin in domain["io_pins"]}
    if domain["io_threads"]:
        facts.tell(partition, "io_threads", Told(domain["io_threads"], where))
    if domain["emulator"]:
        facts.tell(partition, "emulator", Told(domain["emulator"], where))
    step = "a Linux host in a scenario has pins; on another machine set home instead"
    if domain["cpuset"]:
        facts.tell(partition, "cpuset", Told(domain["cpuset"], where))
    if pins and not alone:
        text = f"processors of {partition.name} are pinned to {', '.join(dict.fromkeys(pins))}"
        facts.notices.append(Notice(f"{text}; {step}", where))
    elif domain["cpuset"]:
        text = f"{partition.name} runs on processors {domain['cpuset']} of the host"
        facts.notices.append(Notice(f"{text}; {step}", where))


def _tell_memory(
    domain: Mapping[str, Any], partition: PartitionFacts, where: Where, facts: Facts
) -> None:
    for cell in domain["cells"]:
        if cell["memory_bytes"]:
            partition.memory_by_node.setdefault(cell["id"], Told(cell["memory_bytes"], where))
    for bound in domain["bound"]:
        part = "memory" if bound["cell"] is None else f"memory of its cell {bound['cell']}"
        text = f"{part} of {partition.name} is bound to node {bound['nodes']} ({bound['mode']})"
        facts.notices.append(Notice(text, where))


FORMATS: tuple[FileFormat, ...] = (DomainFormat(),)
