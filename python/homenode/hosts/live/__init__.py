"""The host at hand: control groups, processes, accounting, environment."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.hosts.live.cgroups import Group, Setting, Usage
    from homenode.hosts.live.host import Host
    from homenode.hosts.live.processes import Ended, Process
    from homenode.hosts.live.tasks import TaskTotals

__all__ = ["Ended", "Group", "Host", "Process", "Setting", "TaskTotals", "Usage"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Ended": "processes",
            "Group": "cgroups",
            "Host": "host",
            "Process": "processes",
            "Setting": "cgroups",
            "TaskTotals": "tasks",
            "Usage": "cgroups",
        },
    )
