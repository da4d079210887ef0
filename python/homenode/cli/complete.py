"""Names with which a word on the command line may go on, for the shell to complete it.

What is asked here is asked at every press of a key: names of files and folders, and one small file
of a run.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import typer

LATEST = "latest"


def machines() -> list[str]:
    """Shipped machines."""
    return _shipped("machines")


def profiles() -> list[str]:
    """Shipped profiles."""
    return _shipped("profiles")


def measurements() -> list[str]:
    """Suites of measurements."""
    return _shipped("measurements")


def suites() -> list[str]:
    """Suites of classes of work."""
    return _shipped("suites")


def factors() -> list[str]:
    """Tables of capability factors, and machines whose factors can be predicted."""
    return [*_shipped("capability_tables"), *_shipped("machines")]


def studies() -> list[str]:
    """Published results."""
    from homenode.evidence.study.listing import list_studies

    return list_studies()


def adapters() -> list[str]:
    """What suites are made of."""
    from homenode.hosts.adapters.registry import ADAPTERS

    return sorted(ADAPTERS)


def forms() -> list[str]:
    """Forms of exports."""
    from homenode.records.exporting.registry import names

    return names()


def runs(context: typer.Context) -> list[str]:
    """Kept runs of the folder that is asked for, newest first."""
    from homenode.simulate.kept.finding import run_folders

    return [LATEST, *(folder.name for folder in run_folders(_root(context)))]


def partitions(context: typer.Context) -> list[str]:
    """Partitions of the run that is asked for; of the newest, if none is yet."""
    asked = str(context.params.get("run") or LATEST).partition(":")[0]
    there = runs(context)[1:]
    if asked == LATEST:
        asked = ""
    found = next((name for name in there if name.startswith(asked)), asked)
    # What cannot be read has no names; the command itself will say why.
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        text = (_root(context) / found / "spec.json").read_text(encoding="utf-8")
        return [str(partition["name"]) for partition in json.loads(text)["partitions"]]
    return []


def _root(context: typer.Context) -> Path:
    return Path(str(context.params.get("out") or "runs"))


def _shipped(kind: str) -> list[str]:
    from homenode.model.shipped import shipped_names

    return shipped_names(kind)
