"""What was given, recognised and read: the front of `homenode import`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import Where
from homenode.model.document.read import MOST_BYTES
from homenode.records.importing.cellular.readers import READERS
from homenode.records.importing.facts import Facts, Left
from homenode.records.importing.gather import Gathered, reason
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.inputs import GivenInput, Input
from homenode.records.importing.opening.sources import ListingError, Source, head_text, source_of
from homenode.records.importing.opening.trees import GivenTree
from homenode.records.importing.recognise import file_formats, knows, recognise, recognise_tree

if TYPE_CHECKING:
    from homenode.records.importing.assemble import Assembled, AssembleOptions
    from homenode.records.importing.cellular import Imported

Progress = Callable[[float, float | None], None]
_LINE = re.compile(r"line (\d+): ")
_MOST_TOLD = 20


@dataclass
class Found:
    """All that was read of what was given."""

    facts: Facts = field(default_factory=Facts)
    listings: list[Source] = field(default_factory=list)
    """Outputs of vparstatus and parstatus, which make a scenario by themselves."""


def read_paths(paths: Sequence[str | Path], limits: Limits | None = None) -> Facts:
    """What files, folders and archives say; nothing is made of it yet.

    A file that is left out stands in `left` of the result, with the reason. Raises `NotFoundError`
    for a path where nothing is.
    """
    with Gathered(limits or Limits()) as gathered:
        gathered.add_all([Path(path) for path in paths])
        return read_gathered(gathered).facts


def read_gathered(gathered: Gathered) -> Found:
    """What gathered files and dumps say."""
    found = Found()
    facts = found.facts
    for tree in gathered.trees:
        formats = recognise_tree(tree)
        for tree_format in formats:
            _trying(facts, tree.file, lambda: tree_format.read(tree, facts))  # noqa: B023 - at once
        if not formats:
            _read_apart(gathered, tree, found)
    for source in gathered.inputs:
        _trying(facts, source.file, lambda: _read(source, found))  # noqa: B023 - at once
    for afterwards in facts.afterwards:
        afterwards()
    facts.afterwards.clear()
    facts.left[:0] = gathered.left
    facts.notices[:0] = gathered.notices
    return found


def _read_apart(gathered: Gathered, tree: GivenTree, found: Found) -> None:
    """Read those files of a dump that are something by themselves."""
    known = [one for one in gathered.single(tree) if knows(one)]
    for source in known:
        _trying(found.facts, source.file, lambda: _read(source, found))  # noqa: B023 - at once
    if not known:
        why = f"no reader knows these {len(tree.files)} files of /proc and /sys"
        found.facts.left.append(Left(tree.file, why))


def read_into(source: Input, facts: Facts) -> None:
    """Recognise a file and add what it says; `ListingError` if nothing can be made of it."""
    recognise(source).read(source, facts)


def _read(source: GivenInput, found: Found) -> None:
    try:
        kind = recognise(source)
    except ListingError:
        listing = _listing(source)
        if listing is None:
            raise
        found.listings.append(listing)
    else:
        kind.read(source, found.facts)


def _listing(source: GivenInput) -> Source | None:
    """A text of vparstatus or parstatus; None if it is none."""
    text = head_text(source.head)
    if not any(reader.recognises(text) for reader in READERS):
        return None
    return source_of(source.file, source.read(MOST_BYTES))


def _trying(facts: Facts, file: str, read: Callable[[], None]) -> None:
    """Read; what cannot be read is left, and the others are gone on with."""
    from homenode._engine import CaptureError

    try:
        read()
    except ListingError as error:
        line = error.where.line if error.where and error.where.file == file else None
        facts.left.append(Left(file, reason(error), line))
    except CaptureError as error:
        at = _LINE.match(str(error))
        text = str(error)[at.end() :] if at else str(error)
        facts.left.append(Left(file, text, int(at[1]) if at else None))
    except OSError as failure:
        facts.left.append(Left(file, f"it cannot be read: {failure.strerror or failure}"))


@dataclass(frozen=True)
class Outcome:
    """What `import_paths` made."""

    facts: Facts
    assembled: Assembled | None = None
    """The scenario of recordings."""
    imported: Imported | None = None
    """The scenario of listings of vparstatus and parstatus."""


def import_paths(
    paths: Sequence[str | Path],
    options: AssembleOptions | None = None,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
    reading: Callable[[Facts], None] | None = None,
) -> Outcome:
    """Make a scenario of recordings, or of outputs of vparstatus and parstatus; nothing is written.

    `reading` is given what was found before the scenario is made. Raises `ListingError` if nothing
    was taken, or if both kinds are given.
    """
    from homenode.records.importing.assemble import AssembleOptions, assemble

    options = options or AssembleOptions()
    with Gathered(limits or Limits()) as gathered:
        gathered.add_all([Path(path) for path in paths])
        found = read_gathered(gathered)
    facts = found.facts
    if not facts.took and not found.listings:
        raise nothing_taken(facts)
    if facts.took and found.listings:
        raise ListingError(
            f"{found.listings[0].file} lists virtual partitions of cells,"
            f" {facts.took[0].file} does not",
            next_step="give them apart: they make separate scenarios",
        )
    if reading is not None:
        reading(facts)
    if found.listings:
        from homenode.records.importing.cellular import import_sources

        return Outcome(facts, imported=import_sources(found.listings, options.machine))
    return Outcome(facts, assemble(facts, options, progress))


def nothing_taken(facts: Facts) -> ListingError:
    """Why nothing was taken: every file with its reason."""
    names = [*(one.name for one in file_formats()), *(one.name for one in READERS)]
    known = f"what is read is {', '.join(dict.fromkeys(names))}"
    errors = [ListingError(one.why, where=Where(one.file, one.line)) for one in facts.left]
    told, rest = errors[:_MOST_TOLD], len(errors) - _MOST_TOLD
    if rest > 0:
        told.append(ListingError(f"{rest} more files are not read either"))
    if not told:
        return ListingError("there is no file in what was given", there=known)
    first, *others = told
    others.append(ListingError(known))
    return ListingError(first.problem, where=first.where, others=others)
