"""What may stand in a scenario file: one class a table, one field a key, in a module a subject.

Entry point: `scenario.ScenarioFile`. The classes say what a key may hold; what tables mean together
is decided above, in `cellular`, `mainframe` and `host` and where they meet.
"""
