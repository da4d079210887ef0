"""Real programs of Debian that reckon with floating-point numbers, one copy each."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.adapters.floating.adapter import Floating

__all__ = ["Floating"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Floating": "adapter",
        },
    )
