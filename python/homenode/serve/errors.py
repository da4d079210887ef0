"""Refusals of the server, each with its status."""

from __future__ import annotations

from homenode.errors import HomenodeError, InputError


class RefusedError(HomenodeError):
    """What is not done, and the status that says so."""

    def __init__(
        self, status: int, problem: str, *, next_step: str | None = None, after_s: int | None = None
    ) -> None:
        super().__init__(problem, next_step=next_step)
        self.status = status
        self.after_s = after_s
        """Seconds after which it may be asked again."""


def busy(what: str) -> RefusedError:
    """That there is too much to do."""
    return RefusedError(503, f"{what}; try again in a moment", after_s=1)


def told(error: HomenodeError) -> dict[str, object]:
    """An error as the page is told; where it comes with others, these stand for the next step."""
    others = error.others if isinstance(error, InputError) else ()
    more = [f"{_where(one)}: {_said(one)}" if one.where else _said(one) for one in others]
    step = error.next_step or "; ".join(more) or None
    return {"error": {"message": _said(error), "next_step": step, "where": _where(error)}}


def _said(error: HomenodeError) -> str:
    return f"{error.problem}: {error.there}" if error.there else error.problem


def _where(error: HomenodeError) -> str | None:
    """Files are named as their owner knows them, not by where the server keeps them."""
    return None if error.where is None else str(error.where).rpartition("/")[2]
