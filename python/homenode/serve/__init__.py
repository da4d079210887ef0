"""How is a layout moved about in a browser: a local web app over the solver, runs and advice.

Entry point: `app.application`. Layouts are solved in processes of their own, long work runs in a
child process each; the page's own scripts are in `assets`.

Knows `model`, `simulate`, `records`, `planner`, `evidence`, `report`.
"""
