"""What was given, recognised and read: the front of `homenode import`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from homenode._engine import CaptureError
from homenode.errors import Where
from homenode.records.importing.assemble import Assembled, AssembleOptions, assemble
from homenode.records.importing.facts import Facts, Told
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.gather import Gathered, reason
from homenode.records.importing.opening.sources import Left, ListingError
from homenode.records.importing.opening.trees import Tree
from homenode.records.importing.recognise import file_formats, knows, recognise, recognise_tree
from homenode.records.importing.shared.stopped import leave_out_stopped
from homenode.records.importing.shared.words import unread

Progress = Callable[[float, float | None], None]
TOLD_BY = "--cpus"
"""Where processors are from that no recording tells."""
MOST_PROCESSORS = 65_536
"""That a host can have."""
_MOST_TOLD = 10


def read_paths(
    paths: Sequence[str | Path], limits: Limits | None = None, processors: int | None = None
) -> Facts:
    """What files, folders and archives say; nothing is made of it yet.

    `processors` is how many logical ones a host has whose recordings do not tell. A file that is
    left out stands in `left` of the result, with the reason. Raises `NotFoundError` for a path
    where nothing is.
    """
    with Gathered(limits or Limits()) as gathered:
        gathered.add_all([Path(path) for path in paths])
        facts = Facts()
        if processors is not None:
            facts.processors = Told(processors, Where(TOLD_BY))
        return read_gathered(gathered, facts)


def read_gathered(gathered: Gathered, facts: Facts) -> Facts:
    """What gathered files and dumps say, added to what is known."""
    for tree in gathered.trees:
        formats = recognise_tree(tree)
        for tree_format in formats:
            _trying(facts, tree.file, lambda: tree_format.read(tree, facts))  # noqa: B023 - at once
        if not formats:
            _read_apart(gathered, tree, facts)
    for source in gathered.inputs:
        _trying(facts, source.file, lambda: read_into(source, facts))  # noqa: B023 - at once
    for afterwards in facts.afterwards:
        afterwards()
    facts.afterwards.clear()
    leave_out_stopped(facts)
    facts.left[:0] = gathered.left
    facts.notices[:0] = gathered.notices
    return facts


def _read_apart(gathered: Gathered, tree: Tree, facts: Facts) -> None:
    """Read those files of a dump that are something by themselves."""
    known = [one for one in gathered.single(tree) if knows(one)]
    for source in known:
        _trying(facts, source.file, lambda: read_into(source, facts))  # noqa: B023 - at once
    if not known:
        why = f"no reader knows these {len(tree.files)} files of /proc and /sys"
        facts.left.append(Left(tree.file, why))


def read_into(source: Input, facts: Facts) -> None:
    """Recognise a file and add what it says; `ListingError` if nothing can be made of it."""
    recognise(source).read(source, facts)


def _trying(facts: Facts, file: str, read: Callable[[], None]) -> None:
    """Read; what cannot be read is left, and the others are gone on with."""
    try:
        read()
    except ListingError as error:
        line = error.where.line if error.where and error.where.file == file else None
        facts.left.append(Left(file, reason(error), line))
    except CaptureError as fault:
        told = unread(fault, lambda line: Where(file, line))
        facts.left.append(Left(file, told.problem, told.where.line if told.where else None))
    except OSError as failure:
        facts.left.append(Left(file, f"it cannot be read: {failure.strerror or failure}"))


def import_paths(
    paths: Sequence[str | Path],
    options: AssembleOptions | None = None,
    *,
    limits: Limits | None = None,
    processors: int | None = None,
    progress: Progress | None = None,
    reading: Callable[[Facts], None] | None = None,
    unplayed: Callable[[Assembled], None] | None = None,
) -> Assembled:
    """Make a scenario of recordings and listings; nothing is written.

    `processors` as for `read_paths`; `reading` is given what was found before the scenario is made,
    `unplayed` the scenario before its windows are played, as `assemble` says. Raises `ListingError`
    if nothing was taken, or what was makes no scenario.
    """
    facts = read_paths(paths, limits, processors)
    if not facts.took and not facts.of_cells:
        raise nothing_taken(facts)
    if reading is not None and not facts.unsound:
        reading(facts)
    return assemble(facts, options, progress, unplayed)


def nothing_taken(facts: Facts) -> ListingError:
    """Why nothing was taken: every file with its reason."""
    known = f"what is read is {', '.join(one.name for one in file_formats())}"
    errors = [ListingError(one.why, where=Where(one.file, one.line)) for one in facts.left]
    told, rest = errors[:_MOST_TOLD], len(errors) - _MOST_TOLD
    if rest > 0:
        told.append(ListingError(f"{rest} more files are not read either"))
    if not told:
        return ListingError("there is no file in what was given", there=known)
    first, *others = told
    others.append(ListingError(known))
    return ListingError(first.problem, where=first.where, others=others)
