"""What `homenode consolidate` costs: fifty recordings of thirty days in steps of five minutes.

Processor time of each part; the recordings are made first and not counted.
"""

from __future__ import annotations

import math
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from homenode.planner.consolidation import Asked, Consolidating
from homenode.records.importing import read_paths

RECORDINGS = 50
DAYS = 30
STEP_S = 300
BEGIN = datetime(2026, 9, 1)  # noqa: DTZ001 - as nmon prints it, zoneless
HEAD = """\
AAA,progname,topas_nmon
AAA,host,lpar{number:02}
AAA,AIX,7.2.5.0
AAA,interval,{step}
AAA,hardware,Architecture PowerPC Implementation POWER7 64 bit
AAA,SerialNumber,06AB1C7
AAA,MachineType,IBM,9117-MMB
AAA,LPARNumberName,{number},lpar{number:02}
LPAR,Logical Partition lpar{number:02},PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight
"""


def recording(number: int) -> str:
    """One partition's month: a day of its own, every day."""
    lines = [HEAD.format(number=number, step=STEP_S).rstrip()]
    for at in range(1, DAYS * 86_400 // STEP_S + 1):
        moment = BEGIN + timedelta(seconds=at * STEP_S)
        turn = math.sin(2 * math.pi * (moment.hour + moment.minute / 60 + number) / 24)
        cores = (1 + number % 4) * (1.1 + turn) * (1 + number * at % 7 / 20)
        stamp = f"{moment:%H:%M:%S},{moment:%d-%b-%Y}".upper()
        lines.append(f"ZZZZ,T{at:04},{stamp}\nLPAR,T{at:04},{cores:.3f},16,64,64,1.00,128")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make, read, place, tell."""
    with tempfile.TemporaryDirectory(prefix="homenode-bench-") as place:
        folder = Path(place)
        for number in range(1, RECORDINGS + 1):
            (folder / f"lpar{number:02}.nmon").write_text(recording(number), encoding="ascii")
        began = time.process_time()
        read_paths([folder])
        read = time.process_time() - began
        began = time.process_time()
        found = Consolidating([folder], ["ibm-power-e1080x3"], Asked(cores=48)).answer()
        whole = time.process_time() - began
    print(f"{RECORDINGS} recordings of {DAYS} days by {STEP_S} s: {found.verdict}")
    print(f"reading {read:.1f} s of processor time, with placement and answer {whole:.1f} s")


if __name__ == "__main__":
    main()
