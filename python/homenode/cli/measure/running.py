"""`homenode measure SUITE` and `homenode measure ab`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.measure.ending import ended_by_signals, interrupted
from homenode.cli.measure.options import (
    CLAIM_HELP,
    AnonymousOption,
    FileOption,
    FolderOption,
    GateOption,
    OnlyOption,
    PatienceOption,
    ProcessorsOption,
    RepeatsOption,
    SecondsOption,
    SeedOption,
    SuiteArgument,
    length_of,
    limits_of,
    names_of,
    percentage,
)
from homenode.cli.measure.peering import (
    PEER_PORTS,
    AddressOption,
    PeerCommandOption,
    PeerOption,
    PortsOption,
    SshOption,
    TokenOption,
    way_of,
)
from homenode.cli.measure.progress import session_progress
from homenode.cli.measure.results import show_comparison, show_figures
from homenode.cli.numbers import whole_numbers
from homenode.cli.output import JsonOption, tell
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from homenode.hosts.peer.guests import Guest
    from homenode.hosts.peer.transport import Way
    from homenode.hosts.result import Result
    from homenode.hosts.run_suite import Kept
    from homenode.hosts.session import Options
    from homenode.hosts.settings import System
    from homenode.hosts.suite import Suite


def run(
    suite: SuiteArgument,
    only: OnlyOption = None,
    repeats: RepeatsOption = None,
    seconds: SecondsOption = None,
    processors: ProcessorsOption = None,
    output: FileOption = None,
    gate: GateOption = "3 %",
    patience: PatienceOption = 120.0,
    folder: FolderOption = None,
    seed: SeedOption = 1,
    system: Annotated[
        str, typer.Option("--system", help="Name of this host in the result.", metavar="NAME")
    ] = "host",
    anonymous: AnonymousOption = False,
    peer: PeerOption = None,
    token_file: TokenOption = None,
    peer_address: AddressOption = None,
    peer_ports: PortsOption = PEER_PORTS,
    peer_command: PeerCommandOption = "homenode",
    ssh: SshOption = "ssh",
    as_json: JsonOption = False,
) -> None:
    """Run a suite on this host, case by case.

    Prints throughput, processor time and their ratios. With --peer the servers of its cases run on
    another host, which is the one that is measured, and their clients here.
    """
    from homenode.hosts.settings import named

    way = way_of(peer, token_file, peer_address, peer_ports, peer_command, ssh, folder)
    options = options_of(only, repeats, seconds, processors, gate, patience, folder, seed)
    measured_and_shown(
        suite, [named(system)], options, output, anonymous=anonymous, way=way, as_json=as_json
    )


def measured_and_shown(
    suite: str,
    systems: list[System],
    options: Options,
    output: Path | None,
    *,
    anonymous: bool,
    way: Way | None = None,
    guests: Sequence[Guest] = (),
    as_json: bool,
) -> None:
    """Measure, print the figures, and say what is kept where."""
    kept = _measure(suite, systems, options, output, anonymous=anonymous, way=way, guests=guests)
    try:
        show_figures(kept.result, as_json=as_json)
    except HomenodeError as error:
        tell(f"not shown: {error}")
        _tell_kept(kept)
        raise
    _tell_kept(kept)


def ab(
    suite: SuiteArgument,
    a: Annotated[str, typer.Option("--a", help="Setting of side a.", metavar="WORDS")] = "",
    b: Annotated[str, typer.Option("--b", help="Setting of side b.", metavar="WORDS")] = "",
    only: OnlyOption = None,
    repeats: RepeatsOption = None,
    seconds: SecondsOption = None,
    processors: ProcessorsOption = None,
    output: FileOption = None,
    gate: GateOption = "3 %",
    patience: PatienceOption = 120.0,
    folder: FolderOption = None,
    seed: SeedOption = 1,
    claim: Annotated[str | None, typer.Option("--claim", help=CLAIM_HELP, metavar="PCT")] = None,
    anonymous: AnonymousOption = False,
    peer: PeerOption = None,
    token_file: TokenOption = None,
    peer_address: AddressOption = None,
    peer_ports: PortsOption = PEER_PORTS,
    peer_command: PeerCommandOption = "homenode",
    ssh: SshOption = "ssh",
    as_json: JsonOption = False,
) -> None:
    """Two settings of this host in turns: a b b a ...

    A setting is words such as "cpus=0-1 weight=200 quota=0.5 period=50ms env=NAME=value", or
    switch='command' (and back='command'), which sets the host up before each repetition.
    Equal words on both sides measure the noise. With --peer the settings are those of the servers
    there; commands run here.
    """
    from homenode.hosts.comparison import compare_settings
    from homenode.hosts.comparison.claim import refuse_senseless_claim
    from homenode.hosts.settings import parse

    pct = None if claim is None else percentage(claim, "--claim")
    refuse_senseless_claim(pct)
    options = options_of(only, repeats, seconds, processors, gate, patience, folder, seed)
    systems = [parse("a", a), parse("b", b)]
    way = way_of(peer, token_file, peer_address, peer_ports, peer_command, ssh, folder)
    found = _enough_pairs(suite, repeats)
    kept = _measure(found, systems, options, output, anonymous=anonymous, way=way)
    try:
        show_comparison(compare_settings(kept.result, claim_pct=pct), as_json=as_json)
    except HomenodeError as error:
        # Nothing can be compared; what was measured is kept all the same.
        _tell_left(kept.result)
        tell(f"not compared: {error}")
        _tell_kept(kept)
        raise
    _tell_left(kept.result)
    _tell_kept(kept)


def _enough_pairs(suite: str, repeats: int | None) -> Suite:
    """The suite, with as many repetitions as can decide where nobody asked for a number."""
    from homenode.hosts.statistics import fewest_runs
    from homenode.hosts.suite_file import load

    found, least = load(suite), fewest_runs(paired=True)
    if repeats is not None:
        if repeats < least:
            tell(
                f"with --repeats {repeats} nothing can be decided: it takes {least} pairs at least"
            )
        return found
    more = found.repeated(least, least + SPARE_PAIRS)
    raised = sum(a.repeats != b.repeats for a, b in zip(found.rows, more.rows, strict=True))
    if raised:
        tell(
            f"{least + SPARE_PAIRS} pairs of each case: {least} are the fewest that can decide, "
            f"and {SPARE_PAIRS} may be rejected; --repeats takes another number"
        )
    return more


SPARE_PAIRS = 2
"""Beyond the fewest that can decide: a pair of which a run is rejected is none."""


def options_of(
    only: list[str] | None,
    repeats: int | None,
    seconds: float | None,
    processors: str | None,
    gate: str,
    patience: float,
    folder: Path | None,
    seed: int,
) -> Options:
    """What was asked of a session, in the words of the command line."""
    from homenode.hosts.live.gate import STEAL_LIMIT
    from homenode.hosts.session import Options

    counts = whole_numbers(processors, "--processors") if processors else []
    return Options(
        only=names_of(only),
        repeats=repeats,
        seconds=length_of(seconds),
        processors=tuple(dict.fromkeys(counts)),
        **limits_of(gate, STEAL_LIMIT),
        patience_s=patience,
        seed=seed,
        folder=folder,
    )


def _measure(
    suite: str | Suite,
    systems: list[System],
    options: Options,
    output: Path | None,
    *,
    anonymous: bool,
    way: Way | None = None,
    guests: Sequence[Guest] = (),
) -> Kept:
    from homenode.hosts.run_suite import run_suite

    name = suite if isinstance(suite, str) else suite.name
    with session_progress(f"measuring {name}") as progress, ended_by_signals():
        return run_suite(
            suite,
            systems,
            options,
            out=output,
            anonymous=anonymous,
            progress=progress,
            way=way,
            guests=guests,
        )


def _tell_left(result: Result) -> None:
    """What was left out and what failed, where the tables do not say it."""
    for left in result.left_out:
        tell(f"left out: {left['case']}: {left['why']}")
    for failure in result.failures:
        tell(f"failed: {failure['case']} ({failure['system']}): {failure['why']}")


def _tell_kept(kept: Kept) -> None:
    """What is kept where, and what next; an interrupted session ends as one."""
    result = kept.result
    count = len(result.used())
    rejected = len(result.records) - count
    note = f", {rejected} rejected" if rejected else ""
    for path in kept.recovered:
        tell(f"what a session that was killed had finished is now in {path}")
    runs = "1 repetition" if count == 1 else f"{count} repetitions"
    said = f"{runs}{note}, kept in {kept.path}, raw outputs in {kept.raw}"
    if kept.trouble is not None:
        raise HomenodeError(f"ended early: {kept.trouble}", there=said)
    if result.interrupted:
        raise interrupted(f"interrupted: {said}")
    quiet = (
        "the host was not quiet: end what else runs on it and measure again, or count disturbed "
        "repetitions too with a wider gate, as --gate 10%, or --gate steal=5% where its own "
        "hypervisor takes the time"
    )
    if result.records and not count:
        raise HomenodeError(
            result.stopped or "the gate has thrown out all repetitions",
            there=said,
            next_step=quiet.partition(": ")[2],
        )
    tell(said)
    if rejected:
        tell(quiet)
