"""A warehouse-like class under JMH, the Java Microbenchmark Harness."""

from homenode.hosts.adapters.jmh.adapter import Jmh

__all__ = ["Jmh"]
