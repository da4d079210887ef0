"""The host at hand: control groups, processes, accounting, environment."""
