"""The way to the most users, by replies that are computed: nothing is simulated here."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from homenode.simulate.seek.search import Aim, Reply, bracket, is_under, next_count

THINK_S = 10.0


def closed(count: int, servers: int, service_s: float, think_s: float) -> Reply:
    """Mean values of a closed queue: users who think and a few servers (exact recursion of the
    queue with one server that is as fast as all of them, and a delay for the rest).
    """
    fast, delay = service_s / servers, service_s * (servers - 1) / servers
    queue = rate = response = 0.0
    for users in range(1, count + 1):
        response = fast * (1.0 + queue) + delay
        rate = users / (think_s + response)
        queue = rate * fast * (1.0 + queue)
    return Reply(count, response, rate, 1.0 / fast)


def found(aim: Aim, start: int, reply_of: Callable[[int], Reply]) -> tuple[list[Reply], int]:
    replies: list[Reply] = []
    count: int | None = start
    while count is not None:
        assert 1 <= count <= aim.most
        assert count not in [reply.count for reply in replies]
        replies.append(reply_of(count))
        count = next_count(replies, aim)
    under, _ = bracket(replies, aim)
    return replies, 0 if under is None else under.count


@pytest.mark.parametrize("limit_s", [0.06, 0.2, 2.0, 30.0])
@pytest.mark.parametrize("start", [1, 100, 700, 5000])
def test_it_ends_where_the_limit_is_passed(limit_s: float, start: int) -> None:
    aim = Aim(THINK_S, limit_s, 1_000_000)

    def reply_of(count: int) -> Reply:
        return closed(count, 8, 0.05, THINK_S)

    replies, users = found(aim, start, reply_of)
    assert is_under(reply_of(users), aim)
    beyond = users + max(1, users // 1000)
    assert not is_under(reply_of(beyond), aim)
    assert len(replies) <= 20


def test_a_full_system_takes_few_runs_by_its_law() -> None:
    aim = Aim(THINK_S, 2.0, 1_000_000)
    for start in (10, 1500, 1900, 2500):
        replies, users = found(aim, start, lambda count: closed(count, 8, 0.05, THINK_S))
        assert len(replies) <= 5, [reply.count for reply in replies]
        # 160 transactions a second, each user one in 12 s.
        assert users == pytest.approx(1920, abs=2)


def test_replies_that_scatter_lead_to_an_end_all_the_same() -> None:
    aim = Aim(THINK_S, 2.0, 1_000_000)
    for seed in range(50):
        chance = random.Random(seed)

        def reply_of(count: int, chance: random.Random = chance) -> Reply:
            exact = closed(count, 8, 0.05, THINK_S)
            factor = chance.uniform(0.97, 1.03)
            assert exact.response_s is not None
            return Reply(count, exact.response_s * factor, exact.rate_per_s, exact.busy_rate_per_s)

        replies, users = found(aim, 1000, reply_of)
        assert users == pytest.approx(1920, abs=25)
        assert len(replies) <= 20


def test_what_has_no_mean_is_not_under_the_limit() -> None:
    aim = Aim(THINK_S, 2.0, 1_000_000)

    def reply_of(count: int) -> Reply:
        return Reply(count, None) if count > 300 else closed(count, 8, 0.05, THINK_S)

    _, users = found(aim, 5000, reply_of)
    assert users == 300


def test_none_at_all_and_as_many_as_there_can_be() -> None:
    slow = Aim(0.0, 0.01, 1_000_000)
    replies, users = found(slow, 40, lambda count: closed(count, 2, 0.05, 0.0))
    assert users == 0
    assert replies[-1].count == 1
    few = Aim(THINK_S, 2.0, 500)
    replies, users = found(few, 40, lambda count: closed(count, 8, 0.05, THINK_S))
    assert users == 500


def test_the_published_benchmark_that_the_law_was_held_against() -> None:
    """A certificate of SAP SD (2014034): 79,750 users who think 10 s are answered in 0.97 s, at
    436,100 SAPS, which are dialog steps a minute; from any more users the law tells these to 0.1 %.
    """
    rate_per_s = 436_100 / 60.0
    reply = Reply(90_000, 90_000 / rate_per_s - THINK_S, rate_per_s)
    aim = Aim(THINK_S, 0.97, 1_000_000)
    assert next_count([reply], aim) == pytest.approx(79_750, rel=1e-3)
