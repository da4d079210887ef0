"""How near to each other a frame's processors and memory lie, and what a run of the Dynamic
Platform Optimizer (DPO) would bring: affinity scores as the HMC's `lsmemopt` has them, now and
predicted.

`score` is the formula, which is not IBM's; `layout` has scores and prices of one layout,
`optimised` places all partitions anew on the empty frame; `frame.affinity` is the entry point.
"""
