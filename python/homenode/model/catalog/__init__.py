"""The shipped machine descriptions and workload profiles, and the loading of one's own.

>>> from homenode import catalog
>>> catalog.machine("ibm-power-795").generation
'POWER7'
"""

from homenode.model.catalog.figure import Figure, Latency
from homenode.model.catalog.machine import MachineDescription
from homenode.model.catalog.names import machine, machines, profile, profiles
from homenode.model.catalog.profile import ProfileDescription

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
