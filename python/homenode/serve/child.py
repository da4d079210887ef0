"""One job in a process of its own: reads it from standard input, writes lines of JSON.

`{"progress": share, "says": words}` now and then, `{"early": ...}` where a part of the result is
there before the rest, at the end `{"result": ...}` or `{"error": ...}`.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any

from homenode.errors import HomenodeError, Where
from homenode.planner import advise
from homenode.records.exporting.commands import Commands
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import exporter
from homenode.records.importing import import_paths
from homenode.records.importing.assemble import Assembled
from homenode.records.importing.assemble.windows import pauses, recorded_of
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.telling import Note, note_data, summary
from homenode.report.handed.page import write_report
from homenode.report.handed.sections import sections
from homenode.report.pictures import page_drawing
from homenode.serve.bounds import bound_memory, bound_time
from homenode.serve.errors import told
from homenode.serve.layouts import UNPLAYED, changed, grid_data
from homenode.serve.workspace import SCENARIO
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

_MOST_GAPS = 50
_BETWEEN_S = 0.2
Tell = Callable[[float | None, str], None]


def main() -> None:
    """Bounds the process, does the job, tells."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what is half done is cleared away
    bound_memory()
    bound_time()
    asked = json.load(sys.stdin)
    try:
        _tell({"result": _JOBS[asked["kind"]](asked, _now_and_then(_progress))})
    except HomenodeError as error:
        _tell(told(error))
    except MemoryError:
        _tell(told(HomenodeError("there is not enough memory for this", next_step="ask for less")))


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _now_and_then(tell: Tell) -> Tell:
    """As often as an eye can follow: every word goes through the server to a browser that draws it,
    and a month of recordings has thousands.
    """
    last = -math.inf

    def telling(share: float | None, says: str) -> None:
        nonlocal last
        now = time.monotonic()
        # What has no share begins something else, and comes once.
        if share is None or now - last >= _BETWEEN_S:
            last = now
            tell(share, says)

    return telling


def _progress(share: float | None, says: str) -> None:
    _tell({"progress": share, "says": says})


def _run(asked: dict[str, Any], tell: Tell) -> dict[str, Any]:

    scenario = changed(asked["path"], asked["edits"])

    def progress(share: float, left_s: float | None) -> None:
        more = "" if left_s is None else f", some {max(1, round(left_s))} s left"
        tell(share, f"simulating{more}")

    run = run_scenario(
        scenario,
        replications=asked.get("replications"),
        seed=asked.get("seed"),
        out=asked["out"],
        progress=progress,
    )
    return {"run": run.id}


def _advise(asked: dict[str, Any], tell: Tell) -> dict[str, Any]:

    words = {key: asked[key] for key in ("free", "goal") if asked.get(key)}
    scenario = changed(asked["path"], asked["edits"])
    found = advise(scenario, seconds=asked["time_s"], out=asked["out"], each=tell, **words)
    data: dict[str, Any] = found.as_json()
    return data


def _import(asked: dict[str, Any], tell: Tell) -> dict[str, Any]:

    folder = Path(asked["target"]).absolute()
    # Files are told of by the names that they came with, not by where the server laid them.
    os.chdir(asked["folder"])
    tell(None, "reading recordings")

    def progress(share: float, _: float | None = None) -> None:
        tell(share, "finding the work that was recorded")

    def unplayed(made: Assembled) -> None:
        _lay(made, folder, "read")
        (folder / UNPLAYED).touch()
        _tell({"early": _imported(made)})

    made = import_paths(
        [Path()], limits=Limits(asked["unpacked"]), progress=progress, unplayed=unplayed
    )
    _lay(made, folder, "played")
    return _imported(made)


def _lay(made: Assembled, folder: Path, stage: str) -> None:
    """Put a layout under a name that may stand for an earlier stage of it, from then on for this
    one: whoever opens it has one of them as a whole.
    """
    if made.is_one_file:
        folder.mkdir()
        made.save_file(folder / SCENARIO)
        return
    whole, link = (folder.with_name(f"{folder.name}.{of}") for of in (stage, "link"))
    made.save(whole)
    link.symlink_to(whole.name)
    link.replace(folder)


def _imported(made: Assembled) -> dict[str, Any]:
    """What recordings gave, as far as it is known."""
    read = summary(made.facts)
    notes = [*read["notes"], *map(note_data, made.notices)]
    took = {"title": "What was taken", "heads": ["file", "form", "what"], "rows": [
        [one["file"], one["format"], one["what"]] for one in read["took"]
    ]}  # fmt: skip
    left = {"title": "What was left, and why", "heads": ["file", "line", "why"], "rows": [
        [one["file"], one["line"], one["why"]] for one in read["left"]
    ]}  # fmt: skip
    return {
        "assumed": [_said(note) for note in notes],
        "gaps": _gaps(made.facts),
        "tables": [table for table in (_demand(made.facts), took, left) if table["rows"]],
    }


def _demand(facts: Facts) -> dict[str, Any]:
    """What each partition used, as its recording has it."""
    begin, found = recorded_of(facts, [*facts.partitions.values()], [])
    rows = []
    for one in found.values():
        ends = (one.samples[0].start, one.samples[-1].end)
        times = (f"{begin + dt.timedelta(seconds=at)}" for at in ends)
        most = max(each.cores for each in one.samples)
        rows.append([one.partition, *times, len(one.samples), one.mean, most])
    heads = ["partition", "from", "to", "samples", "cores on average", "cores at most"]
    return {"title": "What was recorded", "heads": heads, "rows": rows}


def _said(note: Note) -> str:
    place = "" if note["file"] is None else f"{Where(note['file'], note['line'])}: "
    return f"{place}{note['text']}"


def _gaps(facts: Facts) -> list[dict[str, str]]:
    """Which partition was not recorded when; of very many the first."""
    every = [(name, f"{begin}", f"{end}") for name, begin, end in pauses(facts)]
    if (rest := len(every) - _MOST_GAPS) > 0:
        every[_MOST_GAPS:] = [(f"and {rest:,} more", "", "")]
    return [{"what": name, "from": begin, "to": end} for name, begin, end in every]


def _report(asked: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The report of a layout, which is simulated first if it was not."""
    name = asked.get("run") or _run(asked, tell)["run"]
    run = Run.load(name, asked["out"])
    write_report(run.name, sections([run]), Path(asked["target"]))
    return {"run": run.id}


def _shown(asked: dict[str, Any], _: Tell) -> dict[str, Any]:
    """A kept run, as its report has it."""
    run = Run.load(asked["run"], asked["out"])
    told = [
        {
            "title": one.title,
            "lines": [*one.lines],
            "pictures": [
                {
                    "title": "",  # it has one of its own
                    "svg": page_drawing(each.chart),
                    "says": each.says,
                    "table": None,
                }
                for each in one.pictures
            ],
            "tables": [grid_data(each) for each in one.tables if each.rows],
        }
        for one in sections([run])
    ]
    return {
        "id": run.id, "scenario": run.name, "layout": {"base": f"run:{run.id}", "edits": {}},
        "sections": told,
    }  # fmt: skip


def _commands(asked: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """What brings a layout about, as files by name, from a run of it: commands, or of a Linux or
    Xen host the domains and the commands that define them.
    """
    policy = changed(asked["path"], asked["edits"]).machine.hypervisor.policy
    if policy not in _FORMS:
        raise HomenodeError(
            "no commands are known for this platform",
            next_step="take the scenario as a file, or the report",
        )
    run = Run.load(_run({**asked, "replications": 1}, tell)["run"], asked["out"])
    form = exporter(_FORMS[policy])
    if isinstance(form, Commands):
        lines = "".join(f"{line}\n" for line in form.make(run, ExportOptions()))
        return {"files": {"commands.txt": lines}}
    with tempfile.TemporaryDirectory() as own:
        written = form.write(run, Path(own) / "domains", ExportOptions())
        files = {path.name: path.read_text(encoding="utf-8") for path in written}
    define = "virsh -c xen:///system define" if policy == "credit2" else "virsh define"
    lines = "".join(f"{define} {quote(name)}\n" for name in files)
    return {"files": {"commands.txt": lines, **files}}


_FORMS = {
    "phyp": "hmc", "prsm": "zvm", "dedicated": "vpars", "linux": "libvirt", "credit2": "libvirt",
}  # fmt: skip
_JOBS: dict[str, Callable[[dict[str, Any], Tell], dict[str, Any]]] = {
    "run": _run, "advise": _advise, "import": _import, "report": _report, "shown": _shown,
    "commands": _commands,
}  # fmt: skip

if __name__ == "__main__":
    main()
