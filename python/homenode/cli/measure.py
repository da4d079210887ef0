"""`homenode measure`: a suite of real benchmarks on this host, and what goes with it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from homenode.cli import measured
from homenode.cli.measuring import session_progress
from homenode.cli.numbers import whole_numbers
from homenode.cli.output import JsonOption, show, show_json, show_text, tell
from homenode.errors import HomenodeError, Interrupted, closest

if TYPE_CHECKING:
    from homenode.hosts.result import Result
    from homenode.hosts.run_suite import Kept
    from homenode.hosts.session import Options
    from homenode.hosts.settings import System
    from homenode.hosts.suite import Suite
    from homenode.judge.report import Report

SUITE_HELP = "A suite's name, or its TOML file."
SuiteArgument = Annotated[str, typer.Argument(help=SUITE_HELP, metavar="SUITE")]
OnlyOption = measured.OnlyOption
RepeatsOption = Annotated[
    int | None,
    typer.Option("--repeats", min=1, help="Repetitions, in place of the suite's.", metavar="N"),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(
        "--seconds", min=0.01, help="Length of one, in place of the suite's.", metavar="S"
    ),
]
ProcessorsOption = Annotated[
    str | None,
    typer.Option("--processors", help="A scaling set: numbers of processors.", metavar="N,N,..."),
]
FileOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Result file; raw outputs beside it.", metavar="FILE.json"),
]
AnonymousOption = Annotated[
    bool, typer.Option("--anonymous", help="Keep nothing that names the host or its people.")
]
GateOption = Annotated[
    str,
    typer.Option(
        "--gate", help="Share of the host that others may use; `off` to count all.", metavar="PCT"
    ),
]
PatienceOption = Annotated[
    float,
    typer.Option(
        "--patience",
        min=0,
        help="Seconds to wait and repeat for a quiet host, in all.",
        metavar="S",
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--folder", help="Where databases and files are made.", metavar="FOLDER"),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Draws the order of turns.", metavar="N")]


class _Commands(typer.core.TyperGroup):
    """`homenode measure SUITE` is short for `homenode measure run SUITE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word in where it is left out, unless a command was meant."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            _refuse_mistyped(args[0], self.commands)
            args = ["run", *args]
        return super().parse_args(ctx, args)


def _refuse_mistyped(word: str, commands: Iterable[str]) -> None:
    """Raise for a word that is no suite and nearer to a command than to one."""
    from homenode.hosts import suite_file as suites

    known = suites.names()
    if not word.isalpha() or word in known or Path(word).exists():
        return
    near = closest(word, [*commands, *known])
    if near is not None and near not in known:
        raise HomenodeError(
            f"homenode measure has no command and no suite {word}",
            next_step=f"did you mean {near}?",
        )


app = typer.Typer(
    name="measure",
    cls=_Commands,
    help="Measure this host by real benchmarks: `homenode measure SUITE`.",
    no_args_is_help=True,
    rich_markup_mode=None,
    subcommand_metavar="SUITE | COMMAND ...",
)


@app.command()
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
    as_json: JsonOption = False,
) -> None:
    """Run a suite on this host: throughput, processor time and their ratios, case by case."""
    from homenode.hosts.settings import named

    options = _options(only, repeats, seconds, processors, gate, patience, folder, seed)
    kept = _measure(suite, [named(system)], options, output, anonymous=anonymous)
    try:
        _show(kept.result, as_json=as_json)
    except HomenodeError as error:
        tell(f"not shown: {error}")
        _tell_kept(kept)
        raise
    _tell_kept(kept)


@app.command()
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
    claim: Annotated[
        str | None, typer.Option("--claim", help=measured.CLAIM_HELP, metavar="PCT")
    ] = None,
    anonymous: AnonymousOption = False,
    as_json: JsonOption = False,
) -> None:
    """Two settings of this host in turns: a b b a ...

    A setting is words such as "cpus=0-1 weight=200 quota=0.5 period=50ms env=NAME=value", or
    switch='command' (and back='command'), which sets the host up before each repetition.
    Equal words on both sides measure the noise.
    """
    from homenode.hosts.comparison import compare_settings
    from homenode.hosts.comparison.claim import refuse_senseless_claim
    from homenode.hosts.settings import parse

    pct = None if claim is None else measured.percentage(claim, "--claim")
    refuse_senseless_claim(pct)
    options = _options(only, repeats, seconds, processors, gate, patience, folder, seed)
    systems = [parse("a", a), parse("b", b)]
    kept = _measure(_enough_pairs(suite, repeats), systems, options, output, anonymous=anonymous)
    try:
        measured.show_comparison(compare_settings(kept.result, claim_pct=pct), as_json=as_json)
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


@app.command("list")
def list_suites(
    suite: Annotated[str | None, typer.Argument(help=SUITE_HELP, metavar="SUITE")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the suites, or the cases of one."""
    from homenode.hosts import suite_file as suites
    from homenode.report.suites import cases_json, cases_sentence, cases_table, suites_table

    if suite is not None:
        found = suites.load(suite)
        if as_json:
            show_json(cases_json(found))
        else:
            show(cases_table(found))
            show_text(["", cases_sentence(found)])
        return
    every = [suites.load(name) for name in suites.names()]
    if as_json:
        show_json([{"suite": s.name, "title": s.title, "cases": len(s.rows)} for s in every])
    else:
        show(suites_table(every))


@app.command()
def adapters(
    name: Annotated[
        str | None, typer.Argument(help="One of them, for what it takes.", metavar="ADAPTER")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what a suite of your own can be made of, or what a case of one takes."""
    from homenode.hosts.adapters.described import meaning_of, parameters_of
    from homenode.hosts.adapters.registry import ADAPTERS, adapter
    from homenode.report.suites import adapter_json, adapters_table, parameters_table

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


@app.command()
def tools(
    suite: Annotated[str, typer.Argument(help=SUITE_HELP, metavar="SUITE")] = "linux-full",
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing (Debian: as root).")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say which tools a suite needs, which are missing, and what brings them."""
    from homenode.hosts.live import packages
    from homenode.hosts.suite_file import load
    from homenode.hosts.tools import needs_of
    from homenode.report.suites import tools_json, tools_table

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


@app.command("show")
def show_result(
    file: Annotated[Path, typer.Argument(help="Result file.", metavar="FILE.json")],
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="Hold scaling against this machine's curve.", metavar="M"),
    ] = None,
    only: OnlyOption = None,
    claim: Annotated[
        str | None, typer.Option("--claim", help=measured.CLAIM_HELP, metavar="PCT")
    ] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Every repetition, a row each.")] = False,
    parts: Annotated[
        bool, typer.Option("--parts", help="Processor time by user, system, server, client.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print a kept result again.

    Of two settings in turn their comparison; with --machine, --runs or --parts the result itself.
    """
    from homenode.hosts.comparison import compare_settings
    from homenode.hosts.comparison.refuse import only_of
    from homenode.hosts.result import load

    pct = None if claim is None else measured.percentage(claim, "--claim")
    result = only_of(load(file), measured.names_of(only))
    of_two = set(result.systems) == {"a", "b"}
    if pct is not None and not of_two:
        raise HomenodeError(
            f"{file} is of one system, and a claim is about two",
            next_step="homenode measure compare A.json B.json --claim, or measure two settings",
        )
    if runs or parts:
        measured.show_runs(result, runs=runs, parts=parts, as_json=as_json)
        return
    if of_two and machine is None:
        try:
            measured.show_comparison(compare_settings(result, claim_pct=pct), as_json=as_json)
        except HomenodeError as error:
            tell(f"not compared: {error}")
        else:
            return
    _show(result, machine, as_json=as_json)


@app.command()
def validate(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer experiments, shorter and less often.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="More: groups in groups, nice, slices, burst, periods.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only these experiments; may be repeated.", metavar="A,B"),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", min=1, help="So many passes over all and no more.", metavar="N"),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", min=1.0, help="Length of an experiment, 4 or 2.5 s.", metavar="S"
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=0.5,
            help="Time for all trials: 13, full 22, quick 4; no limit beside --repeats.",
            metavar="MIN",
        ),
    ] = None,
    processors: Annotated[
        int, typer.Option("--processors", min=1, help="Logical processors to use.", metavar="N")
    ] = 2,
    against: Annotated[
        Path | None, typer.Option("--against", help="An earlier report.", metavar="FILE.json")
    ] = None,
    database: Annotated[
        bool,
        typer.Option("--database/--no-database", help="With PostgreSQL, alone and under weights."),
    ] = True,
    gate: GateOption = "3 %",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Keep the report.", metavar="FILE.json")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let this host judge the simulator: the same experiments live and simulated."""
    from homenode import judge
    from homenode.hosts.keeping import check_file
    from homenode.judge.report import KIND

    if output is not None:
        check_file(output, KIND)
    with session_progress("validating") as progress, _ended_by_signals(), _told_when_too_early():
        report = judge.run(
            quick=quick,
            full=full,
            passes=repeats,
            seconds=_length(seconds),
            processors=processors,
            only=measured.names_of(only),
            against=against,
            with_database=database,
            minutes=minutes,
            foreign_limit=_limit(gate),
            progress=lambda share, doing: progress(doing, share, None),
        )
    _show_judged(report, output, as_json=as_json)
    if report.interrupted:
        raise _interrupted("interrupted: what is shown comes from the trials that were finished")


app.command("compare")(measured.compare_files)
app.command("beside")(measured.beside)
app.command("needed")(measured.needed)


def _show_judged(report: Report, output: Path | None, *, as_json: bool) -> None:
    """Prints what the judge found and keeps it, in this order: a closed pipe loses no report."""
    from homenode.report.validation import sentences, tables

    try:
        if as_json:
            show_json(report.as_json())
        else:
            show(*tables(report))
            show_text(["", *sentences(report)])
    finally:
        if output is not None:
            report.save(output)
            tell(f"kept in {output}")


def _options(
    only: list[str] | None,
    repeats: int | None,
    seconds: float | None,
    processors: str | None,
    gate: str,
    patience: float,
    folder: Path | None,
    seed: int,
) -> Options:
    from homenode.hosts.session import Options

    counts = whole_numbers(processors, "--processors") if processors else []
    return Options(
        only=measured.names_of(only),
        repeats=repeats,
        seconds=_length(seconds),
        processors=tuple(dict.fromkeys(counts)),
        foreign_limit=_limit(gate),
        patience_s=patience,
        seed=seed,
        folder=folder,
    )


def _length(seconds: float | None) -> float | None:
    """Of a repetition [s]; what a suite may ask for too."""
    from homenode.hosts.suite_file import MOST_SECONDS

    if seconds is not None and not 0 < seconds <= MOST_SECONDS:
        raise HomenodeError(
            f"--seconds {seconds} makes no sense",
            next_step=f"write a number up to {MOST_SECONDS:g}",
        )
    return seconds


def _limit(gate: str) -> float | None:
    """Share of the host; None where all runs count."""
    limit = None if gate == "off" else measured.percentage(gate, "--gate") / 100
    if limit is not None and not 0 < limit <= 1:
        raise HomenodeError(f"--gate {gate} makes no sense", next_step="write 3 %, or off")
    return limit


def _measure(
    suite: str | Suite,
    systems: list[System],
    options: Options,
    output: Path | None,
    *,
    anonymous: bool,
) -> Kept:
    from homenode.hosts.run_suite import run_suite

    name = suite if isinstance(suite, str) else suite.name
    with session_progress(f"measuring {name}") as progress, _ended_by_signals():
        return run_suite(
            suite, systems, options, out=output, anonymous=anonymous, progress=progress
        )


@contextlib.contextmanager
def _told_when_too_early() -> Iterator[None]:
    """An end that was asked for is no fault of the host's, though nothing can be shown."""
    try:
        yield
    except HomenodeError as error:
        if not _asked:
            raise
        raise _interrupted(f"interrupted before there was anything to show: {error}") from error


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A request to end is like Ctrl-C; a second one does not break the tidying."""
    _asked.clear()

    def stop(number: int, _frame: object) -> None:
        if _asked:
            # The terminal may be gone.
            with contextlib.suppress(OSError):
                tell("ending what runs, a moment")
            return
        _asked.append(number)
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        # Under nohup a lost terminal is to be ignored.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    except KeyboardInterrupt as error:
        raise _interrupted(str(error) or "interrupted: nothing is kept") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_asked: list[int] = []
"""The signal that asked for the end, if one did."""


def _interrupted(said: str) -> Interrupted:
    """Ends as a shell expects of a program that a signal ended."""
    error = Interrupted(said)
    if _asked:
        error.exit_code = 128 + _asked[0]
    return error


def _show(result: Result, machine: str | None = None, *, as_json: bool) -> None:
    from homenode.hosts.reduce import summary_json
    from homenode.report.hosts import sentences, tables

    of_machine: tuple[Any, ...] = ()
    if machine is not None:
        from homenode.evidence.capability import capability_of

        curve = capability_of(machine)
        of_machine = (curve.capability, curve.source)
    if as_json:
        show_json(summary_json(result, *of_machine))
        return
    show(*tables(result, *of_machine))
    show_text(["", *sentences(result, *of_machine)])


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
        raise _interrupted(f"interrupted: {said}")
    tell(said)
    if rejected:
        tell(
            "the host was not quiet: end what else runs on it and measure again, or count "
            "disturbed repetitions too with a wider gate, as --gate 10%"
        )
