"""Three systems as users have them: a frame of LPARs, a KVM host, a mainframe with z/VM."""

FRAME = """\
name = "frame"
title = "seven partitions of a Power E1080"

[machine]
model = "ibm-power-e1080"
active_cores = 120

[[pool]]
name = "sap"
maximum = 20

[[partition]]
name = "oracle1"
processors = { mode = "dedicated", cores = 16, donating = true }
memory = "2 TiB"
home = "drawer0"
workload = { kind = "transactions", rate = "2000/s", bursts = 20, wait = "2 ms", profile = "oltp" }

[[partition]]
name = "sapdb"
processors = { mode = "shared", entitlement = 12.0, virtual = 24, weight = 200 }
smt = 8
memory = "4 TiB"
home = "drawer1"
workload = { kind = "transactions", rate = "4000/s", bursts = 20, wait = "2 ms", profile = "oltp" }

[[partition]]
name = "sapapp"
count = 2
processors = { mode = "shared", entitlement = 6.0, virtual = 12, pool = "sap" }
smt = 8
memory = "512 GiB"
workload = { kind = "users", count = 2000, think = "1 s", profile = "java" }

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 2.0, virtual = 8, capped = true, weight = 0 }
memory = "128 GiB"
workload = { kind = "transactions", rate = "5000/s", profile = "oltp" }

[[partition]]
name = "batch"
processors = { mode = "shared", entitlement = 4.0, virtual = 20, weight = 32 }
memory = "256 GiB"
workload = { kind = "loops", count = 16, endless = true, profile = "compute" }

[[partition]]
name = "test"
processors = { mode = "shared", entitlement = 0.5, virtual = 2, weight = 16 }
memory = "64 GiB"
workload = { kind = "idle" }

[run]
warmup = "500 ms"
duration = "1 s"
replications = 2
"""

HOST = """\
name = "kvm-host"
title = "twelve virtual machines on a two-socket host"

[machine]
model = "intel-xeon-6240-2s"

[[cgroup]]
name = "gold"
weight = 300

[[partition]]
name = "db"
count = 2
processors = { mode = "shared", virtual = 8, cgroup = "gold", cpuset = "0-35" }
kvm = {}
memory = "64 GiB"
[partition.workload]
kind = "transactions"
rate = "800/s"
profile = { base = "oltp", instructions = 8e6 }

[[partition]]
name = "app"
count = 6
processors = { mode = "shared", virtual = 4 }
kvm = {}
memory = "16 GiB"
[partition.workload]
kind = "users"
count = 40
think = "50 ms"
profile = { base = "oltp", instructions = 4e6 }

[[partition]]
name = "pinned"
processors = { mode = "shared", virtual = 2, pins = ["40", "41"] }
kvm = {}
memory = "8 GiB"
[partition.workload]
kind = "transactions"
rate = "400/s"
profile = { base = "oltp", instructions = 2e6 }

[[partition]]
name = "ci"
count = 3
processors = { mode = "shared", virtual = 8, quota = "400 ms", period = "100 ms" }
kvm = {}
memory = "32 GiB"
workload = { kind = "loops", count = 8, endless = true, profile = "compute" }

[run]
warmup = "500 ms"
duration = "1 s"
replications = 2
"""

MAINFRAME = """\
name = "zvm-databases"
title = "a z15 with z/VM and thirty guests"

[machine]
model = "ibm-z15"
characterized = { cp = 4, ifl = 24 }

[[partition]]
name = "zvm"
processors = { mode = "shared", virtual = 16, weight = 700, polarization = "vertical" }
memory = "512 GiB"
guest = { os = "zvm", unparking = "medium" }
workload = { kind = "web", profile = "web-small", file = "8 KiB", files = 2, think = "1 ms" }

[[partition.switch]]
name = "lan"
layer = 2

[[partition.virtual_machine]]
name = "client"
count = 4
memory = "1 GiB"
role = "client"
switch = "lan"

[[partition.virtual_machine]]
name = "server"
count = 20
memory = "4 GiB"
role = "server"
switch = "lan"

[[partition.virtual_machine]]
name = "idle"
count = 6
memory = "2 GiB"
role = "idle"

[[partition]]
name = "linux"
processors = { mode = "shared", virtual = 6, weight = 300 }
memory = "64 GiB"
guest = { os = "linux" }
workload = { kind = "transactions", rate = "800/s", profile = "oltp" }

[[partition]]
name = "own"
processors = { mode = "dedicated", cores = 4, type = "ifl" }
memory = "32 GiB"
guest = { os = "linux" }
workload = { kind = "users", count = 100, think = "1 s", profile = "java" }

[run]
warmup = "500 ms"
duration = "1 s"
replications = 2
"""

BUSY_HOST = """
name = "%s"

[machine]
model = "intel-xeon-6240-2s"
active_cores = 2

[[partition]]
name = "vm"
processors = { mode = "shared", virtual = 3 }
kvm = {}
memory = "8 GiB"

[partition.workload]
kind = "transactions"
rate = "%d/s"
profile = { base = "oltp", instructions = 4e6 }

[[partition]]
name = "batch"
processors = { mode = "shared", virtual = 3 }
memory = "4 GiB"
workload = { kind = "loops", count = 3, endless = true, profile = "compute" }

[run]
warmup = "500 ms"
duration = "%d s"
replications = 1
"""
"""Name, arrivals [1/s] and seconds are to be filled in; a guest beside processes."""

SHORT = """
[machine]
model = "ibm-power-770"

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "200 ms"
duration = "1 s"
replications = 2
"""
"""So short that its intervals are wide."""
