"""The shipped machine descriptions and workload profiles, and the loading of one's own.

>>> from homenode.model import catalog
>>> catalog.machine("ibm-power-795").generation
'POWER7'
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.model.catalog.figure import Figure, Latency
    from homenode.model.catalog.machine_model import MachineDescription
    from homenode.model.catalog.names import machine, machines, profile, profiles
    from homenode.model.catalog.profile_model import ProfileDescription

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Figure": "figure",
            "Latency": "figure",
            "MachineDescription": "machine_model",
            "ProfileDescription": "profile_model",
            "machine": "names",
            "machines": "names",
            "profile": "names",
            "profiles": "names",
        },
    )
