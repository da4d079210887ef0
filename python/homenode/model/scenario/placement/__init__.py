"""Where partitions without a stated home are put, and which cores dedicated partitions get.

What is published of PowerVM (P. Heyrman, "How does Affinity affect Server Performance"; SG24-8079,
3.2.3): partitions are taken in order of entitled capacity plus memory, the number of virtual
processors does not matter; the aim is one chip, then one node, then as few nodes as can be. What is
not published is which of several fitting places is taken. Here the fullest, so that what larger
partitions leave stays whole: of chips, and of sets of nodes after those whose nodes are nearest to
each other; the first of equals. PR/SM's partitions are put by the same rule. On a host threads go
where most is free instead.

`board` knows what is left, `pour` how an amount goes over places, `fit` finds a partition's place,
`homes` gives its virtual processors theirs, `place` goes through all partitions.
"""

from homenode.model.scenario.placement.board import Wish
from homenode.model.scenario.placement.place import Seat, place

__all__ = ["Seat", "Wish", "place"]
