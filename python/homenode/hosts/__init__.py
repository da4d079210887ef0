"""Real hosts measured by the yardsticks of the simulated ones."""
