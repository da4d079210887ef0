"""The host at hand: control groups, processes, accounting, environment."""

from homenode.measure.host.cgroups import Group, Setting, Usage
from homenode.measure.host.host import Host
from homenode.measure.host.processes import Ended, Process
from homenode.measure.host.tasks import TaskTotals

__all__ = ["Ended", "Group", "Host", "Process", "Setting", "TaskTotals", "Usage"]
