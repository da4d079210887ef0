"""Layouts solved instead of simulated: the metrics of a run as far as a steady state tells them.

`solve.solve_scenario` asks the engine and gives a `figures.Solved`; `counters` turns the engine's
answer into the counters that metrics are made of, `beside` holds it against a run.
"""
