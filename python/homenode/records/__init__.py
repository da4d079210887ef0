"""Recordings of real systems in and out: what they tell, and a run in their words.

Entry points: `importing.import_paths` (recordings to a scenario), `exporting.export` (a kept run to
a form that other programs read), `replay.replay` (recorded cores against simulated ones),
`calibrate.fit_profile` (which profile was recorded). Knows `model`, `simulate`, `tools` and
`hosts`, whose results are calibrated from, too.
"""
