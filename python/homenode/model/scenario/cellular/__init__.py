"""Machines of cells: nPartitions, virtual partitions in them, and what their vPars database says.

Which cells belong together and how their memory is divided into cell-local and interleaved
(`hardware`), which cores a partition gets (`cores`), which memory (`memory`, in whole granules:
`granules`), and all of it together (`seating`). Rules are those of HP-UX vPars A.05; sources stand
at the functions, keyed as in `machines/README.md`.
"""
