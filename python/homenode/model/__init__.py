"""What a layout is: units, TOML documents, machines and profiles, scenarios.

It answers what a file means and refuses what cannot be, with the place in the file. Nothing is run
here. Knows no other room but the files of `data`. Entry points: `scenario.load` (a scenario file to
a frozen scenario), `catalog.machine` and `catalog.profile` (what is shipped, or a file).
"""
