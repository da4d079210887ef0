"""What the system's own tools would print of a run: lparstat, mpstat, vmstat, sar, lssrad.

Entry points: `choice.tool_of` finds the tool of a partition's system; `render` and `rows` are those
five as AIX has them, `linux` holds those of Linux and its hosts; `vparstatus`, `parstatus`,
`hyptop`, `fcx`, `sysinfo`, `lsmemopt` and `frame` (lssrad of all partitions) are modules of their
own. Each tool is a module with `render(view, argv)` for the text and `rows(view, argv)` for the
same as numbers; both take the tool's own flags. What they show is a pure function of counters
(`Sample`) and of what the partition knows of itself (`SystemConfiguration`); numbers are exact
until the last step puts them into columns. Knows `model` and `simulate`.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.tools.configuration import Limits, Srad, SystemConfiguration, from_spec
    from homenode.tools.errors import ToolError, UsageError
    from homenode.tools.intervals import Sample, samples
    from homenode.tools.registry import TOOLS, render, rows
    from homenode.tools.view import KeptRunView, RunView

__all__ = [
    "TOOLS",
    "KeptRunView",
    "Limits",
    "RunView",
    "Sample",
    "Srad",
    "SystemConfiguration",
    "ToolError",
    "UsageError",
    "from_spec",
    "render",
    "rows",
    "samples",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "TOOLS": "registry",
            "KeptRunView": "view",
            "Limits": "configuration",
            "RunView": "view",
            "Sample": "intervals",
            "Srad": "configuration",
            "SystemConfiguration": "configuration",
            "ToolError": "errors",
            "UsageError": "errors",
            "from_spec": "configuration",
            "render": "registry",
            "rows": "registry",
            "samples": "intervals",
        },
    )
