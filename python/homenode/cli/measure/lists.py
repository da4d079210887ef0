"""What there is to measure with: suites, their cases, adapters, tools."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from homenode.cli import complete
from homenode.cli.measure.options import SUITE_HELP
from homenode.cli.output import JsonOption, show, show_json, show_text, tell


def list_suites(
    suite: Annotated[
        str | None,
        typer.Argument(help=SUITE_HELP, metavar="SUITE", autocompletion=complete.measurements),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the suites, or the cases of one."""
    if suite is not None:
        from homenode.hosts.suite_file import load
        from homenode.report.hosts.suites import cases_json, cases_sentence, cases_table

        found = load(suite)
        if as_json:
            show_json(cases_json(found))
        else:
            show(cases_table(found))
            show_text(["", cases_sentence(found)])
        return
    every = _suites()
    if as_json:
        keys = ("title", "cases")
        show_json([{"suite": one["name"], **{key: one[key] for key in keys}} for one in every])
        return
    from homenode.report.hosts.suites import suites_table

    show(suites_table(every))


def _suites() -> list[dict[str, Any]]:
    """What there is: from the index, or where it is not of these files, from them."""
    from homenode.model.index import indexed

    found = indexed("measurements")
    if found is not None:
        return found
    from homenode.hosts import suite_file
    from homenode.report.hosts.suites import suite_row

    return [suite_row(suite_file.load(name)) for name in suite_file.names()]


def adapters(
    name: Annotated[
        str | None,
        typer.Argument(
            help="One of them, for what it takes.",
            metavar="ADAPTER",
            autocompletion=complete.adapters,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what a suite can be made of.

    Or what a case of one adapter takes.
    """
    from homenode.hosts.adapters.described import meaning_of, parameters_of
    from homenode.hosts.adapters.registry import ADAPTERS, adapter
    from homenode.report.hosts.suites import adapter_json, adapters_table, parameters_table

    every = [adapter(one) for one in ([name] if name is not None else sorted(ADAPTERS))]
    if as_json:
        found = [adapter_json(one, parameters_of(one)) for one in every]
        show_json(found if name is None else found[0])
        return
    if name is None:
        show(adapters_table(every))
        return
    show(parameters_table(every[0], parameters_of(every[0])))
    show_text(["", meaning_of(every[0])])


def tools(
    suite: Annotated[
        str, typer.Argument(help=SUITE_HELP, metavar="SUITE", autocompletion=complete.measurements)
    ] = "linux-full",
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing (Debian: as root).")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say which tools a suite needs and which are missing.

    And what brings them.
    """
    from homenode.hosts.live import packages
    from homenode.hosts.suite_file import load
    from homenode.hosts.tools import needs_of
    from homenode.report.hosts.suites import tools_json, tools_table

    found = needs_of(load(suite))
    wanted = [(n.adapter, n.need) for n in found if not n.there and not n.need.plug_in]
    if install and wanted:
        for line in packages.install(wanted):
            tell(line)
        found = needs_of(load(suite))
        wanted = [(n.adapter, n.need) for n in found if not n.there and not n.need.plug_in]
    if as_json:
        show_json(tools_json(found))
        return
    show(tools_table(found))
    if wanted:
        show_text(["", f"To have all: {packages.remedy([need for _, need in wanted])}"])
        if any(need.package == "postgresql" for _, need in wanted):
            show_text(
                "Debian's postgresql also makes and starts a cluster of its own, which no "
                "measurement uses; see /etc/postgresql-common/createcluster.conf."
            )
