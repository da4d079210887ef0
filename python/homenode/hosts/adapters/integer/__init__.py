"""Real programs of Debian, one copy each on inputs made here."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.adapters.integer.adapter import Integer

__all__ = ["Integer"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Integer": "adapter",
        },
    )
