"""`all_ready`: the points of a sweep with all their work found, before the first is simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from homenode.errors import HomenodeError, ScenarioError, Where
from homenode.model.document import parse_document
from homenode.model.scenario import Scenario
from homenode.simulate.kept.points import point_in_words
from homenode.simulate.runner.job import FrozenScenario
from homenode.simulate.settle.work import settled

S = TypeVar("S", bound=FrozenScenario)


def all_ready(
    points: Sequence[S], progress: Callable[[float, float | None], None] | None = None
) -> list[S]:
    """The same points, each with the work found that is told by the cores it takes; `progress` is
    told the share that is done. Nothing of a sweep is simulated of which a point cannot be.

    Raises `ScenarioError` with the point and the place in the sweep's own file.
    """
    found: list[S] = []
    for at, point in enumerate(points):

        def tell(share: float, left: float | None, at: int = at) -> None:
            if progress is not None:
                progress((at + share) / len(points), left)

        if not isinstance(point, Scenario):
            found.append(point)  # another front's, of which nothing is open
            continue
        try:
            found.append(settled(point, tell))
        except HomenodeError as error:
            if not point.point:
                raise
            raise _of_point(point, error) from error
    return found


def _of_point(point: Scenario, error: HomenodeError) -> ScenarioError:
    """An error of a point, told at the same key of the layout as stated."""
    return ScenarioError(
        f"at {point_in_words(point.point)}: {error.problem}",
        asked=error.asked,
        there=error.there,
        where=_as_stated(point, error.where),
        next_step=error.next_step,
    )


def _as_stated(point: Scenario, where: Where | None) -> Where | None:
    """Where the file says what stands at a place of the text that the point was made into."""
    if where is None or where.file != point.source or point.origin is None:
        return where
    made = parse_document(point.text, point.source, ScenarioError)
    stated = parse_document(point.origin.text, point.origin.source, ScenarioError)
    for path in made.positions.spots:
        for key in (False, True):
            if made.where(path, key=key) == where:
                return stated.where(path, key=key)
    return where
