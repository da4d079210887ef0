"""Which number of users to try next, by what was answered so far; nothing is simulated here.

N users who think for Z between two transactions and are answered after R do X = N / (Z + R) of them
a second. X grows with N to a level that processors set, and N / X with it: the mean response rises
with N, so the most users under a limit R* are found between one number that is under it and one
that is not. The law also tells where to look: N + X (R* - R) users is where the limit would be met
if throughput stayed as it is. From a full system that is all but exact; from one with processors to
spare, X (Z + R*) with what they would do if all were busy is a number beyond.

The search ends when the two numbers are neighbours, or apart by no more than a thousandth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PART = 1000
"""The answer is told to one part in so many, or to one user."""
_BY_LAW = 6
"""Answers after which the middle is tried in place of what the law says: it may be led astray by
answers that scatter.
"""


@dataclass(frozen=True)
class Aim:
    """What is looked for."""

    think_s: float
    response_s: float
    """The mean response stays under this [s]."""
    most: int
    """As many users as there can be."""


@dataclass(frozen=True)
class Reply:
    """What came of a number of users."""

    count: int
    response_s: float | None
    """Mean response; None where it has no mean, as without a steady state [s]."""
    rate_per_s: float | None = None
    """Transactions done a second."""
    busy_rate_per_s: float | None = None
    """The same if all processors were always busy."""


def is_under(reply: Reply, aim: Aim) -> bool:
    """Whether the mean response is under the limit; one without a mean is not."""
    return reply.response_s is not None and reply.response_s < aim.response_s


def bracket(replies: Sequence[Reply], aim: Aim) -> tuple[Reply | None, Reply | None]:
    """The most users under the limit, and the fewest beyond those that are not."""
    under = max((r for r in replies if is_under(r, aim)), key=_count, default=None)
    above = 0 if under is None else under.count
    over = [r for r in replies if not is_under(r, aim) and r.count > above]
    return under, min(over, key=_count, default=None)


def next_count(replies: Sequence[Reply], aim: Aim) -> int | None:
    """How many users to try after those; None when the answer is known."""
    under, over = bracket(replies, aim)
    low, high = 0 if under is None else under.count, aim.most + 1 if over is None else over.count
    step = max(1, low // PART)
    if high - low <= step:
        return None
    last = replies[-1]
    if under is not None and over is not None and len(replies) >= _BY_LAW:
        wanted = (low + high) // 2
    elif is_under(last, aim):
        wanted = _beyond(last, aim) if over is None else math.ceil(_by_law(last, aim))
        wanted = max(wanted, low + _stride(step, replies, of_two=over is not None))
    else:
        wanted = math.floor(_by_law(last, aim))
        wanted = min(wanted, high - _stride(step, replies, of_two=under is not None))
    return min(max(wanted, low + 1), high - 1)


def _count(reply: Reply) -> int:
    return reply.count


def _by_law(reply: Reply, aim: Aim) -> float:
    """Users with whom the limit would be met at this throughput, from the response that was seen:
    what users thought in a short run is not quite what they think in the long one.
    """
    if reply.rate_per_s is None or reply.response_s is None:
        return reply.count / 2
    return reply.count + reply.rate_per_s * (aim.response_s - reply.response_s)


def _beyond(reply: Reply, aim: Aim) -> int:
    """A number that should be over: with busy processors, where half of their time is to spare or
    the limit is twice as long.
    """
    law, busy = _by_law(reply, aim), reply.busy_rate_per_s
    if busy is None or reply.rate_per_s is None or reply.response_s is None:
        return math.ceil(law)
    if 2 * reply.rate_per_s < busy or 2 * reply.response_s < aim.response_s:
        law = max(law, busy * (aim.think_s + aim.response_s))
    return math.ceil(law)


def _stride(step: int, replies: Sequence[Reply], *, of_two: bool) -> int:
    """How far to go at least: farther and farther while the other end is not found."""
    return step if of_two else step * 4 ** max(len(replies) - 2, 0)
