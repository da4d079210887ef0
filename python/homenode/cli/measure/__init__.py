"""`homenode measure`: a suite of real benchmarks on this host, and what goes with it."""
