"""Which dispatchers are of which kind, by their name in a machine description."""

HOST_POLICIES = ("linux", "credit2")
"""Policies under which a host's threads are dispatched one by one."""
