"""Real hosts measured by the yardsticks of the simulated ones: what does this host do, is that
one faster, and by how much at least?

Entry points: `run_suite.run_suite` (a suite of measurements to one JSON file), `reduce.cells_of`
(figures of its repetitions), `comparison.compare` (two hosts, with intervals). Nothing here knows
of scenarios or runs. Knows `model`, of which it takes words, the reading of TOML, where shipped
files lie, one statistic and one curve. What a load is run by stands in `adapters`, what the kernel
tells of it in `live`.
"""
