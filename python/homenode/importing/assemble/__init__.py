"""From what recordings say to a scenario: the machine, the partitions, the recorded demand."""
