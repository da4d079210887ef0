"""`make fingerprints`: hold all that is simulated against what was recorded, or record it anew.

It imports the homenode that Python finds, so another checkout is held against the same record with
`PYTHONPATH=OTHER/python .venv/bin/python tests/fingerprints/check.py`. Exit code: 0 if nothing
moved, 1 with a table if something did, 2 for wrong input, 130 if stopped.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arithmetic import platform_facts, same_arithmetic, spelled
from ledger import FILE, Difference, Ledger, LedgerError
from subjects import Prints, Subject, SubjectError, subjects

import homenode

NEXT = (
    "KEEP=FOLDER keeps the runs to look at; if it is meant, RECORD=1 (and ONLY=...) records anew "
    "what CHANGELOG.md then names"
)
_NAMES_SHOWN = 4
_GAINED_SHOWN = 20


@dataclass
class Outcome:
    """What came of all subjects."""

    differences: list[Difference] = field(default_factory=list)
    gained: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)


def main(words: list[str] | None = None) -> int:
    """Compare or record; the exit code."""
    options = _options(words)
    try:
        return _run(options)
    except (LedgerError, OSError) as error:
        tell(f"fingerprints: {error}")
        return 2


def _run(options: argparse.Namespace) -> int:
    chosen = [one for one in subjects() if one.picked(options.only)]
    ledger, here = Ledger.read(options.file), platform_facts()
    refused = _refusal(options, chosen, ledger, here)
    if refused:
        tell(refused)
        return 2
    tell(f"homenode from {Path(homenode.__file__).parent}")
    if not options.record and not same_arithmetic(ledger.platform):
        tell(
            "exp or pow have other last digits here, so simulated numbers may: recorded on "
            f"{spelled(ledger.platform)}; here is {spelled(here)}"
        )
    # All anew leaves no names behind that nothing has any more.
    recording = (ledger if options.only else Ledger()) if options.record else None
    outcome = Outcome()
    try:
        go_through(chosen, ledger, recording, options.keep, outcome)
    except KeyboardInterrupt:
        so_far = f"{len(outcome.differences)} items had moved so far"
        tell(f"\nstopped; {so_far}" if recording is None else "\nstopped; nothing is recorded")
        return 130
    if recording is not None:
        return _write(recording, outcome, here, options)
    if not options.only:
        outcome.differences += _forgotten(ledger, chosen)
    return report(outcome)


def _refusal(
    options: argparse.Namespace, chosen: list[Subject], ledger: Ledger, here: dict[str, str]
) -> str | None:
    """Why what was asked for cannot be done."""
    if not chosen:
        names = ", ".join(one.name for one in subjects())
        return f"nothing is called {' or '.join(options.only)}; there are: {names}"
    if options.record and options.only and ledger.lines and here != ledger.platform:
        there = spelled(ledger.platform)
        return f"recorded on {there}; here is {spelled(here)}: record all, without ONLY"
    if not options.record and not ledger.lines:
        return f"{options.file} records nothing; record with RECORD=1"
    return None


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Has anything simulated moved?")
    parser.add_argument("--record", action="store_true", help="record instead of comparing")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="NAME", help="only these; patterns do"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the runs there")
    parser.add_argument("--file", type=Path, default=FILE, help="the recorded file")
    return parser.parse_args(words)


def go_through(
    chosen: list[Subject],
    ledger: Ledger,
    recording: Ledger | None,
    keep: Path | None,
    outcome: Outcome,
) -> None:
    """Run each subject and compare it with `ledger`; if there is a `recording`, record it there."""
    for number, subject in enumerate(chosen, start=1):
        print(
            f"{number:3} of {len(chosen)}  {subject.name:36}", end="", file=sys.stderr, flush=True
        )
        started = time.monotonic()
        try:
            with _folder(keep, subject) as folder:
                prints = {f"{subject.name}/{k}": one for k, one in subject.make(folder).items()}
        except (homenode.HomenodeError, SubjectError) as error:
            outcome.failed.append(f"{subject.name}: {error}")
            tell("failed")
            continue
        told = _hold(ledger, subject, prints, outcome)
        if recording is not None:
            recording.record(subject.name, prints)
        tell(f"{time.monotonic() - started:7.1f} s  {told}")


def _hold(ledger: Ledger, subject: Subject, prints: Prints, outcome: Outcome) -> str:
    differences, gained = ledger.compare(subject.name, prints), ledger.gained(subject.name, prints)
    outcome.differences += differences
    outcome.gained |= set(gained)
    moved = f"{len(differences)} of {len(prints)} items moved" if differences else "same"
    return f"{moved}, {len(gained)} new" if gained else moved


@contextmanager
def _folder(keep: Path | None, subject: Subject) -> Iterator[Path]:
    """Where the runs of a subject lie; gone afterwards unless they are to be kept."""
    if keep is not None:
        yield keep.resolve() / subject.name
        return
    with tempfile.TemporaryDirectory(prefix="fingerprints-") as name:
        yield Path(name)


def _forgotten(ledger: Ledger, there: list[Subject]) -> list[Difference]:
    """Recorded items of subjects that are there no longer."""
    known = tuple(f"{one.name}/" for one in there)
    return [
        Difference(item, ("gone",), line.partition(" ")[0], "none")
        for item, line in ledger.lines.items()
        if not item.startswith(known)
    ]


def _write(
    ledger: Ledger, outcome: Outcome, here: dict[str, str], options: argparse.Namespace
) -> int:
    if outcome.failed:
        tell("\n".join(["nothing is recorded, because of:", *outcome.failed]))
        return 1
    ledger.platform = here
    ledger.write(options.file)
    tell(f"{len(ledger.lines)} items in {options.file}")
    return 0


def report(outcome: Outcome, show: Callable[[str], None] = print) -> int:
    """Say what moved; the exit code."""
    if outcome.gained:
        some = sorted(outcome.gained)
        more = f" and {len(some) - _GAINED_SHOWN} more" if len(some) > _GAINED_SHOWN else ""
        tell(f"not recorded yet: {', '.join(some[:_GAINED_SHOWN])}{more}")
    for line in outcome.failed:
        show(f"failed: {line}")
    if outcome.differences:
        show(table(outcome.differences))
    if outcome.differences or outcome.failed:
        tell(
            f"{len(outcome.differences)} items moved, {len(outcome.failed)} subjects failed. {NEXT}"
        )
        return 1
    tell("nothing that is simulated has moved")
    return 0


def table(differences: list[Difference]) -> str:
    """A line for each item that moved."""
    width = max(len(one.item) for one in differences)
    lines = [f"{'item':{width}}  {'recorded':16}  {'here':16}  what moved"]
    for one in differences:
        names = ", ".join(one.names[:_NAMES_SHOWN]) or "not told by the letters"
        more = f" and {len(one.names) - _NAMES_SHOWN} more" if len(one.names) > _NAMES_SHOWN else ""
        lines.append(f"{one.item:{width}}  {one.old:16}  {one.new:16}  {names}{more}")
    return "\n".join(lines)


def tell(text: str) -> None:
    """What is no answer goes to stderr."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    # Whoever ends it otherwise than by Ctrl-C leaves no runs behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
