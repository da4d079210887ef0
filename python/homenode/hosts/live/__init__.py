"""The host at hand: control groups, processes, accounting, environment."""

from homenode.hosts.live.cgroups import Group, Setting, Usage
from homenode.hosts.live.host import Host
from homenode.hosts.live.processes import Ended, Process
from homenode.hosts.live.tasks import TaskTotals

__all__ = ["Ended", "Group", "Host", "Process", "Setting", "TaskTotals", "Usage"]
