"""Reference pages written from the code, so that they cannot disagree with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from blocks import homenode

from homenode.model.units import KINDS, Kind

HEAD = "<!-- Written by `make docs` from the code; changes here are lost. -->\n"


def pages() -> dict[str, Callable[[], str]]:
    """Each generated page and who writes it."""
    return {
        "reference/commands.md": commands,
        "reference/metrics.md": metrics,
        "reference/scenario.md": scenario,
    }


def commands() -> str:
    """Every command's own help."""
    from homenode.cli.app import Commands
    from homenode.cli.measure.app import Commands as Measuring

    inner = {"measure": Measuring.entries}
    parts = [
        HEAD,
        "# Commands\n",
        "As printed by `homenode --help` and `homenode COMMAND --help`.\n",
    ]
    parts.append(_text(_help()))
    for name in sorted(entry.name for entry in Commands.entries):
        parts += [f"## homenode {name}\n", _text(_help(name))]
        for entry in inner.get(name, ()):
            parts += [f"### homenode {name} {entry.name}\n", _text(_help(name, entry.name))]
    return "\n".join(parts)


def _help(*words: str) -> str:
    _, answer, _ = homenode([*words, "--help"], Path(__file__).parent)
    return "\n".join(line.rstrip() for line in answer.strip().splitlines())


def _text(body: str) -> str:
    return f"```text\n{body}\n```\n"


def metrics() -> str:
    """All metrics of a partition."""
    from homenode.simulate.kept.metrics import METRICS

    rows = ["| metric | unit | meaning | only in a steady state |", "| --- | --- | --- | --- |"]
    for metric in METRICS.values():
        unit = metric.unit or "1"
        steady = "yes" if metric.needs_steady else ""
        rows.append(f"| `{metric.name}` | {unit} | {metric.meaning} | {steady} |")
    intro = (
        "The figures of a partition, under the names that `homenode run --json`, `summary.json`\n"
        "and Python use. Means come with the half-width of their 95 % interval (`ci95`).\n"
        "Those from `busy_pct` to `read_hit_pct` are of partitions with z/VM; a percentage there\n"
        "is one of a logical processor, and `% s` is percent by transactions a second.\n"
    )
    return "\n".join([HEAD, "# Metrics\n", intro, *rows, "", *_words(), *_nest(), ""])


def _words() -> list[str]:
    """What the causes are called on each shipped machine."""
    from homenode.model import catalog
    from homenode.model.catalog.flatten import machine_spec
    from homenode.simulate.kept.books import CAUSES
    from homenode.simulate.kept.vocabulary import Vocabulary

    described = [catalog.machine(name) for name in catalog.machines()]
    machines = {one.name: Vocabulary.of_spec(machine_spec(one), one.node_name) for one in described}
    varying = [
        cause.name
        for cause in CAUSES
        if len({words.labels.get(cause.name) for words in machines.values()}) > 1
    ]
    about = (
        "## The words of a machine\n\n"
        "`homenode explain` calls a cause what the machine's users call it, and leaves out what\n"
        "cannot occur there (-). All other causes are called the same everywhere.\n"
    )
    head = ["machine", *(f"`cores_{cause}`" for cause in varying)]
    rows = [
        [name, *(words.labels.get(cause, "-") for cause in varying)]
        for name, words in machines.items()
    ]
    return [about, *_rows([head, ["---"] * len(head), *rows]), ""]


def _nest() -> list[str]:
    """Weights of the relative nest intensity."""
    from homenode.model import catalog

    weights = {name: catalog.machine(name).rni for name in catalog.machines()}
    about = (
        "## Nest\n\n"
        "`l1mp` to `memp`, `rni` and the workload category are figures of IBM Z, computed from\n"
        "the lines that were written into the first level, by where they came from. `rni` is\n"
        "scale x (l3 x `l3p` + l4 local x `l4lp` + l4 remote x `l4rp` + memory x `memp`) / 100\n"
        "with the weights of the machine; other machines have none of these figures. The category\n"
        "follows from both:\n"
    )
    rule = [
        ["`l1mp`", "`rni`", "category"],
        ["---"] * 3,
        ["below 3", "below 0.75", "LOW"],
        ["", "from 0.75", "AVERAGE"],
        ["3 to 6", "below 0.6", "LOW"],
        ["", "0.6 to 1", "AVERAGE"],
        ["", "above 1", "HIGH"],
        ["above 6", "below 0.75", "AVERAGE"],
        ["", "from 0.75", "HIGH"],
    ]
    there = {name: dict(rni) for name, rni in weights.items() if rni is not None}
    names = list(dict.fromkeys(key for rni in there.values() for key in rni))
    head = ["machine", *(key.replace("_", " ") for key in names)]
    rows = [
        [name, *("-" if rni[key] is None else f"{rni[key].value:g}" for key in names)]
        for name, rni in there.items()
    ]
    return [about, *_rows(rule), "", *_rows([head, ["---"] * len(head), *rows])]


def _rows(cells: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in cells]


def scenario() -> str:
    """Every table and key of a scenario file, from its JSON Schema."""
    from homenode.model.scenario.file.scenario import ScenarioFile

    schema = ScenarioFile.model_json_schema()
    parts = [HEAD, "# Scenario files\n", "TOML, units in the values, unknown keys refused.\n"]
    parts.append(
        "Each table below is one kind; where a kind is a text and a table, either will do.\n"
    )
    parts += _table("scenario", schema)
    for name, part in sorted(schema.get("$defs", {}).items()):
        if "properties" in part:
            parts += _table(name, part)
        elif "enum" in part:
            parts += [f"## {name}\n", f"One of {_values(part['enum'])}.\n"]
    return "\n".join(parts)


def _table(name: str, schema: Mapping[str, Any]) -> list[str]:
    needed = set(schema.get("required", ()))
    rows = ["| key | kind | default | meaning |", "| --- | --- | --- | --- |"]
    for key, part in schema["properties"].items():
        default = "needed" if key in needed else _default(part)
        meaning = str(part.get("description", "")).replace("\n", " ").replace("|", "\\|")
        rows.append(f"| `{key}` | {_kind(part)} | {default} | {meaning} |")
    about = str(schema.get("description", "")).strip()
    return [f"## {name}\n", *([about + "\n"] if about else []), *rows, ""]


def _default(part: Mapping[str, Any]) -> str:
    value = part.get("default")
    if value is None:
        return ""
    quantity = next(filter(None, map(_quantity, [part, *part.get("anyOf", ())])), None)
    if quantity is not None and not isinstance(value, str):
        return f"`{quantity.format(value)}`"
    return f"`{json.dumps(value)}`"


def _quantity(part: Mapping[str, Any]) -> Kind | None:
    """The kind of quantity that a schema of a text with a unit stands for."""
    examples = part.get("examples", ())
    return next((kind for kind in KINDS if "pattern" in part and kind.example in examples), None)


def _kind(part: Mapping[str, Any]) -> str:
    if "$ref" in part:
        return str(part["$ref"]).rsplit("/", 1)[-1]
    quantity = _quantity(part)
    if quantity is not None:
        return f"{quantity.name}, as `{quantity.example}`"
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return _values(part["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in part:
            kinds = [_kind(one) for one in part[several] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if part.get("type") == "array":
        return f"list of {_kind(part.get('items', {}))}"
    return str(part.get("format") or part.get("type") or "any")


def _values(values: list[object]) -> str:
    return ", ".join(f"`{value}`" for value in values)
