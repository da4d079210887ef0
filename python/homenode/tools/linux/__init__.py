"""The tools of Linux and of its hosts, in their own layouts: mpstat, vmstat, sar and pidstat
(sysstat, procps), virsh domstats, virt-top, xentop, esxtop, numastat.

Each is a module with `render(system, argv)` for the text and `rows(system, argv)` for the same as
numbers. `system.LinuxSystem` is the host, or Linux in one partition; `readings` and `groups` are
what they show, pure functions of counters.
"""
