"""Scenarios played, and what is kept of them: from a frozen scenario to figures with their
reasons.

Entry points: `scenario.load` and its `Scenario.run` (simulate and keep), `run.Run` (a kept run:
metrics, interval tables), `explain.explanation.explain` (where the cores went, what another
layout would cost), `affinity.frame.affinity` (how near to each other processors and memory lie).
Inside, `kept` reads and writes the folder of a run, `explain` asks the cost model about it,
`affinity` about layouts that nobody has run, `runner` plays the replications; each knows those
named before it. Knows `model` and the compiled engine.
"""
