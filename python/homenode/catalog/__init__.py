"""The shipped machine descriptions and workload profiles, and the loading of one's own.

>>> from homenode import catalog
>>> catalog.machine("ibm-power-795").generation
'POWER7'
"""

from homenode.catalog.figure import Figure, Latency
from homenode.catalog.machine import MachineDescription
from homenode.catalog.names import machine, machines, profile, profiles
from homenode.catalog.profile import ProfileDescription

__all__ = [
    "Figure",
    "Latency",
    "MachineDescription",
    "ProfileDescription",
    "machine",
    "machines",
    "profile",
    "profiles",
]
