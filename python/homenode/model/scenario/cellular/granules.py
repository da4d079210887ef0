"""Memory in whole granules."""

from __future__ import annotations


def rounded_up(size: int, granule: int) -> int:
    """The size of a request as it is granted: the next whole number of granules [bytes]."""
    return -(-size // granule) * granule


def is_power_of_two(size: int) -> bool:
    """Whether it is one, as granules are."""
    return size > 0 and size & (size - 1) == 0


def shortened(requests: list[int], available: int) -> list[int]:
    """Requests of one kind of memory in the order of booting, made to fit what is available.

    What firmware and monitor take is missing from the last partition booted, and only if that is
    not enough from the one before it (VPARS-A0509, appendix D).
    """
    missing = sum(requests) - available
    fitting = list(requests)
    for index in reversed(range(len(fitting))):
        if missing <= 0:
            break
        given = min(missing, fitting[index])
        fitting[index] -= given
        missing -= given
    return fitting
