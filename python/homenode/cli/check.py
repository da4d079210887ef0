"""`homenode check`."""

from __future__ import annotations

import json

from homenode.cli.output import JsonOption, show, show_json, show_text
from homenode.cli.scenarios import ScenarioArgument, scenario_at
from homenode.errors import ScenarioError


def check(scenario: ScenarioArgument, as_json: JsonOption = False) -> None:
    """Check a scenario and show its layout; nothing is run.

    Cores, homes, memory, virtual processors and entitlement of every partition, who shares
    what, and who lies where. Whatever is wrong with the file is told with its line.
    """
    from homenode.report.layout import layout_lines, layout_of, layout_tables
    from homenode.report.told_work import asked_lines
    from homenode.simulate.engine import load_engine

    found = scenario_at(scenario)
    engine, first, points = load_engine(), found, 0
    for point in found.expand():
        try:
            engine.check(json.dumps(point.layout_spec()))
        except engine.SpecError as error:
            raise ScenarioError(f"scenario {found.name}: {error}") from error
        first = point if not points else first
        points += 1
    layout = layout_of(first, points)
    if as_json:
        show_json(layout)
        return
    show(*layout_tables(layout, first.machine))
    show_text(["", *layout_lines(layout), *asked_lines(first)])
