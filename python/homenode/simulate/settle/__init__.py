"""Work told by the cores it takes, found by playing it.

A workload of kind `cores` says what it takes on the layout as stated, or on another one; the engine
wants instructions. `work.settled` finds them, once: the reference is simulated with work that is
corrected until the cores come out, and what was found is kept beside the scenario. A scenario that
was changed from another one (a point of a sweep, `Scenario.with_`) keeps that one's work, which
then costs what it costs there. Inside, `probe` simulates a scenario with other demand, `solve`
corrects it, `reference` says on what, `kept` reads and writes what was found; each knows those
named before it.
"""
