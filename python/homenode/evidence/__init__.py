"""What the simulation is held against: published results, other machines, growth, capability.

Entry points: `study.run_study` (a published result beside the simulated one),
`compare.compare_machines` (what another machine would gain), `scaling.run_scaling` (how a scenario
grows), `capability.capability_table` (what a partition is worth by published factors, or by those
predicted). Knows `model`, `simulate`, and `planner` (studies hold advice against guidelines).
"""
