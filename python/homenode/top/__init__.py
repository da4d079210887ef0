"""`homenode top`: a frame as it goes on, on the screen of a terminal.

A source gives frames of time: a kept run (`kept`), a simulation that is under way (`live`), what
was recorded (`recorded`). `clock` decides which of them is shown, `panes` writes it as lines,
`screen` puts the lines on a terminal. Nothing but `screen` knows of one.

Entry points: `screen.TopApp` with a source and a clock. Knows `model`, `simulate`, `records` and
`planner`, whose grid puts recordings of several partitions on one clock.
"""
