"""Real programs of Debian, one copy each on inputs made here."""

from homenode.hosts.adapters.integer.adapter import Integer

__all__ = ["Integer"]
