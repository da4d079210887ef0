"""A warehouse-like class under JMH, the Java Microbenchmark Harness."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.adapters.jmh.adapter import Jmh

__all__ = ["Jmh"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Jmh": "adapter",
        },
    )
