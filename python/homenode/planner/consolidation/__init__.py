"""How many cores do recorded partitions need on other machines, and where does each go? Entry
point: `front.consolidate`.

In this order, each knowing only those before it: `demand` (what each used), `grid` (at the same
time), `core_rates` and `speeds` (in cores of the target), `peaks`, `growth`, `targets`, `asked`,
`spread` (onto machines), `what_if` (lost machines, more partitions), `answer`, `front`, `layouts`
(a scenario of each machine, for advice).
"""
